# make demo: near-duplicates of a small corpus. make test: everything that can be checked here.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
BENCH_READY := $(VENV)/.ready-bench
ENGINES_READY := $(VENV)/.ready-engines
CLEANERS := .venv-cleaners
CLEANERS_READY := $(CLEANERS)/.ready
DEMO_OUT := demo_out

.PHONY: demo test quick-test lint hadoop spark engines test-engines faults bench growth clean

$(READY): setup.cfg pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[test]"
	touch $(READY)

demo: $(READY)
	rm -rf $(DEMO_OUT)
	$(BIN)/lookalike pairs data/articles.jsonl --truth data/articles.truth.jsonl --out $(DEMO_OUT)

# Types are those of a numpy that is not to be had for Python 3.9 and 3.10; there mypy is not installed.
lint: $(READY)
	$(BIN)/ruff check .
	! test -x $(BIN)/mypy || $(BIN)/mypy

test: lint
	$(BIN)/python -m pytest --cov=lsh_core --cov-fail-under=95

quick-test: $(READY)
	$(BIN)/python -m pytest -m "not slow" -x -q tests/lsh_core --ignore=tests/lsh_core/test_minhash_theory.py lsh_core tests/jobs/test_mr_pairs.py tests/jobs/test_lean_mrjob.py

$(ENGINES_READY): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[engines]"
	touch $(ENGINES_READY)

# The demo on a real Hadoop or Spark on this machine (with Java 17; Hadoop's jars come by mvn, once).
hadoop spark: $(ENGINES_READY)
	rm -rf $(DEMO_OUT)
	$(BIN)/python -m tests.engines.demo $@ $(DEMO_OUT)

engines: $(ENGINES_READY)
	$(BIN)/python -m tests.engines.hadoop_install

# ENGINES_ARGS="-k hadoop" and the like; ENGINES_MARK=ci_engines is the part that .ci/run runs.
ENGINES_MARK := engines
test-engines: engines
	$(BIN)/python -m pytest -m $(ENGINES_MARK) tests/engines $(ENGINES_ARGS)

# Kills what runs on Hadoop and Spark, piece by piece, and prints how often tasks had to be run again.
faults: engines
	$(BIN)/python -m pytest -m engines tests/engines/test_faults.py $(ENGINES_ARGS)

$(BENCH_READY): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[bench]"
	touch $(BENCH_READY)

# Other cleaners of corpora have an environment of their own: they ask for other versions than the finders.
$(CLEANERS_READY): setup.cfg
	test -x $(CLEANERS)/bin/python || $(PYTHON) -m venv $(CLEANERS)
	$(CLEANERS)/bin/python -m pip install --quiet --disable-pip-version-check --editable ".[cleaners]"
	touch $(CLEANERS_READY)

# BENCH_ARGS="--runs 1 --only lookalike rensa" and the like; --help shows all.
bench: $(BENCH_READY) $(CLEANERS_READY)
	$(BIN)/python -m benchmarks.bench $(BENCH_ARGS)
	$(BIN)/python -m benchmarks.plot

growth: $(READY)
	$(BIN)/python -m benchmarks.growth $(GROWTH_ARGS)

clean:
	rm -rf $(VENV) $(CLEANERS) $(DEMO_OUT) build *.egg-info
