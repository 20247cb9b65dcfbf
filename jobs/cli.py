"""The command line: each command's body is one call."""

from __future__ import annotations

import jobs.lean_mrjob  # noqa: F401  before numpy, which it makes ready

# isort: split
import errno
import signal
import sys
from io import TextIOWrapper
from pathlib import Path
from typing import Any, Optional, Union

import click

from jobs import __version__
from jobs.cli_options import (
    FILE,
    against_option,
    folder_or_address,
    read_exact_settings,
    read_run,
    read_settings,
    run_options,
    setting_options,
)
from jobs.errors import OutputError
from jobs.input_files import shown
from jobs.keep_policy import CLUSTERS, KeepPolicy
from jobs.pipeline import find_pairs
from jobs.silence import display_for
from jobs.truth import compare, read_truth
from lsh_core.errors import LookalikeError, SettingsError

INTERRUPTED = 130
DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, message="lookalike %(version)s")
def cli() -> None:
    """Find near-duplicate documents, every pair confirmed by exact Jaccard similarity."""


@cli.command()
@run_options
@click.option("--truth", type=FILE, help="Known pairs to compare the result with.")
@click.option("--links", is_flag=True, help="Write the spanning forest of the pairs instead of all of them.")
@against_option("Find pairs of a document of the input and one of this corpus, and no others.")
@setting_options
def pairs(truth: Optional[Path], links: bool, quiet: bool, **values: Any) -> None:
    """Find all pairs of documents at or above a similarity.

    INPUT is a file of lines (plain, .gz, .bz2 or .zst), a CSV or Parquet file, a folder of text
    files, a glob pattern, an hdfs:// or s3:// address, or - for standard input.
    """
    run = read_run(values, links=links, only_across=True)
    settings = read_settings(values)
    if truth and links:
        raise SettingsError("--truth compares pairs, and --links does not write all of them: leave out one")
    if truth and run.against:
        raise SettingsError("--truth names pairs of one corpus, and --against brings another: leave out one")
    if truth and not isinstance(run.out, Path):
        raise SettingsError(f"--truth compares pairs in a local folder, and --out is {shown(run.out)}: leave out one")
    known = read_truth(truth, settings.text_field) if truth else {}
    display = display_for(quiet)
    report = find_pairs(run, settings, display)
    if truth and isinstance(run.out, Path):
        display.truth(compare(known, run.out / "pairs.jsonl"), settings.threshold)
    display.summary(report, run.out)


@cli.command()
@run_options
@click.option("--cluster", type=click.Choice(CLUSTERS), default="chain", show_default=True,
              help="What is a cluster: all that pairs connect, or a keeper and what is similar to it.")
@click.option("--keep", default="id", show_default=True, metavar="POLICY",
              help="Which document of a cluster stays: id (the smallest), longest, shortest, max:FIELD or min:FIELD.")
@click.option("--exact-only", is_flag=True, help="Remove only what has the same text after normalization.")
@against_option("Remove also what is like a document of this corpus, of which nothing is removed or written.")
@click.option("--resume", is_flag=True, help="Take up an interrupted run, whose stages are in PATH.partial.")
@setting_options
def dedup(cluster: str, keep: str, exact_only: bool, resume: bool, quiet: bool, **values: Any) -> None:
    """Remove near-duplicates from a corpus, and tell what was removed and why.

    Documents at or above the threshold to each other are put in clusters, and one of each stays, its keeper.

    With --cluster chain all that pairs connect is one cluster: where a is like b, and b like c, c may be less
    similar to a than the threshold. The summary tells how many such documents are removed. With --cluster
    keeper there are none: the first document, in the order of POLICY, takes all that are similar to it, then the
    first of those left does, and so on. More is kept, and all pairs have to fit into memory: more than 2 million
    are refused.

    POLICY is id (the smallest as text: 10 comes before 9), longest, shortest (by the characters of the text as it
    stands in the line), max:FIELD or min:FIELD, of JSON Lines or a column. Of equals the smallest id stays. Documents
    whose FIELD is missing or no number come after all others.

    Writes kept.jsonl (.tsv or .txt, as the lines of the input are) with these lines as they were; removed.jsonl
    with the keeper, the similarity and the reason of each other line; clusters.jsonl; links.jsonl, or pairs.jsonl
    with --cluster keeper; rejected.jsonl; run.json. INPUT is as for pairs.
    """
    # No other command needs it, and they start sooner without.
    from jobs.cleaning import Cleaning, clean_corpus

    run = read_run(values, resume=resume)
    settings = read_exact_settings(values) if exact_only else read_settings(values)
    display = display_for(quiet)
    display.summary(clean_corpus(run, settings, Cleaning(cluster, KeepPolicy.parse(keep)), display), run.out)


@cli.command()
@run_options
@click.option("--add", type=folder_or_address, metavar="INDEX",
              help="Add the documents to this index instead of making one.")
@setting_options
def index(add: Optional[Union[Path, str]], quiet: bool, **values: Any) -> None:
    """Make an index of a corpus, or add new documents to one.

    An index is a folder that later runs of pairs and dedup take as --against, under the same settings, without
    sketching the corpus again: it has the documents, which each run reads, their band keys, and the links between
    them. A folder that --add extends is as it was before, or has all new documents. INPUT is as for pairs.
    """
    # No other command needs it, and they start sooner without.
    from jobs.indexing import extend_index, make_index

    run, settings, display = read_run(values), read_settings(values), display_for(quiet)
    if add is None:
        display.summary(make_index(run, settings, display), run.out)
        return
    if not isinstance(add, Path):
        raise SettingsError(f"an index is a local folder, and --add is {shown(add)}")
    if click.get_current_context().get_parameter_source("out") is click.core.ParameterSource.COMMANDLINE:
        raise SettingsError(f"--add extends {add} where it is, and --out names another folder: leave out one")
    display.summary(extend_index(add, run, settings, display), add)


@cli.command()
@click.option("--docs", type=click.IntRange(min=0), required=True, help="Number of documents.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Other seeds, other corpora.")
@click.option("--out", type=FILE, required=True, help="File for the documents; the truth goes beside it.")
@click.option("--chars", type=int, default=400, show_default=True, help="Mean length of a text.")
@click.option("--near", type=float, default=0.25, show_default=True,
              help="Share of the documents that lie in near-duplicate groups.")
@click.option("--template", type=int, default=0, show_default=True, help="So many documents share one template.")
@click.option("--equal", type=int, default=0, show_default=True, help="So many documents have the same text.")
@click.option("-q", "--quiet", is_flag=True, help="Show errors only.")
def sample(docs: int, seed: int, out: Path, chars: int, near: float, template: int, equal: int, quiet: bool) -> None:
    """Make a corpus with planted near-duplicates, and its truth.

    Writes JSON Lines to --out and the planted pairs with their exact similarities to the same
    name ending in .truth.jsonl; prints how similar unrelated documents are.
    """
    # The language model is large, and no other command needs it.
    from jobs.sample import write_sample
    from jobs.sample_plan import SampleSpec

    spec = SampleSpec(docs, seed, chars, near, template, equal)
    truth = out.with_name(out.name.partition(".")[0] + ".truth.jsonl")
    for path in (out, truth):
        if path.is_file():
            raise OutputError(f"{path} is there already; name another file with --out, or remove it")
    display = display_for(quiet)
    with display.count("documents", docs) as on_progress:
        report = write_sample(spec, out, truth, on_progress)
    display.sample(report, out, truth)


def main() -> None:
    """Run a command; errors that are the user's to mend become one line."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    for stream in (sys.stdout, sys.stderr):
        # What a terminal has no character for is shown by its number; so are bytes of paths that are no text.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        cli(standalone_mode=False)
    except LookalikeError as error:
        fail(str(error), error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        fail("interrupted; no results were written", INTERRUPTED)
    except OSError as error:
        if error.errno not in DISK_FULL:
            raise
        fail(f"{error.strerror}: no results were written; --tmp and --out name folders with more space", 1)


def fail(message: str, exit_code: int) -> None:
    click.echo(f"lookalike: {message}", err=True)
    sys.exit(exit_code)


if __name__ == "__main__":
    main()
