"""The demo on a real engine: install it, start it, find the pairs of a small corpus, stop it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.engines import hadoop
from tests.engines.all_engines import ENGINES
from tests.helpers import DATA


def main() -> int:
    """Run the demo; the exit code of ``lookalike``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("engine", choices=ENGINES)
    parser.add_argument("out", type=Path, help="folder for the results")
    options = parser.parse_args()
    if options.engine == "hadoop":
        print(f"Hadoop is in {hadoop.install()}", flush=True)
    entry = ENGINES[options.engine]
    if reason := entry.missing():
        print(reason, file=sys.stderr)
        return 1
    with entry.engine_class() as engine:
        print(f"{options.engine} is running; processes: {len(engine.daemons)}", flush=True)
        corpus, truth, out = DATA / "articles.jsonl", DATA / "articles.truth.jsonl", options.out.resolve()
        exit_code: int = engine.call(*engine.pairs_command(corpus, "--truth", truth, "--out", out))
    return exit_code


if __name__ == "__main__":
    sys.exit(main())
