"""The command line: each command's body is one call."""

from __future__ import annotations

import dataclasses
import errno
import json
import shlex
import signal
import sys
from pathlib import Path
from typing import Any, Callable, Optional, Union

import click
from rich.console import Console

from jobs.base import option_type, settings_from
from jobs.display import Display, sample_table, summary_table, truth_table
from jobs.errors import InputError
from jobs.input_files import is_uri, shown
from jobs.job_runner import RUNNERS, Run
from jobs.pipeline import find_pairs
from jobs.truth import compare, read_truth
from lsh_core.errors import LookalikeError, SettingsError
from lsh_core.settings import CHOICES, Settings
from lsh_core.stop_words import ENGLISH_STOP_WORDS

INTERRUPTED = 130
DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
FILE = click.Path(path_type=Path)


def folder_or_address(name: str) -> Union[Path, str]:
    """A local path, or an address as it is: as a path it would lose a slash."""
    return name.rstrip("/") if is_uri(name) else Path(name)


def setting_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """An option for every setting, with the help text and the default that the setting has."""
    for setting in reversed(dataclasses.fields(Settings)):
        if setting.name == "stop_words":
            option = click.option("--stop-words", metavar="none|english|FILE",
                                  help="Words to leave out: a word a line in FILE.  [default: none]")
        else:
            choices = CHOICES.get(setting.name)
            text = setting.metadata["help"]
            default = "" if setting.default is None else f"  [default: {setting.default}]"
            option = click.option(
                "--" + setting.name.replace("_", "-"), help=text[0].upper() + text[1:] + "." + default,
                type=click.Choice([str(choice) for choice in choices]) if choices
                else option_type(str(setting.type)))
        command = option(command)
    return click.option("--no-id", is_flag=True, help="Lines have no id: it is made from the text.")(command)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="lookalike", message="lookalike %(version)s")
def cli() -> None:
    """Find near-duplicate documents, every pair confirmed by exact Jaccard similarity."""


@cli.command()
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option("--out", type=folder_or_address, metavar="PATH", default="lookalike_out", show_default=True,
              help="Folder for the results, or its hdfs:// or s3:// address on a cluster.")
@click.option("-r", "--runner", type=click.Choice(RUNNERS),
              help="Where to run.  [default: inline for a small input, else local]")
@click.option("--settings", "settings_file", type=FILE, metavar="FILE",
              help="JSON file of settings, or a former run.json; options win over it.")
@click.option("--truth", type=FILE, help="Known pairs to compare the result with.")
@click.option("--strict", is_flag=True, help="Stop if any line is not a document.")
@click.option("--links", is_flag=True, help="Write the spanning forest of the pairs instead of all of them.")
@click.option("--duplicate-ids", type=click.Choice(["refuse", "number"]), default="refuse", show_default=True,
              help="An id of several texts stops the run, or becomes id~<hash of the text>.")
@click.option("--conf", type=FILE, help="mrjob configuration instead of the one that is installed.")
@click.option("--tmp", type=FILE, help="Folder for temporary files.")
@click.option("--cores", type=click.IntRange(min=1), help="Processes at a time with -r local.  [default: all cores]")
@click.option("-v", "--verbose", is_flag=True, help="Show mrjob's own log.")
@click.option("-q", "--quiet", is_flag=True, help="Show errors only.")
@setting_options
def pairs(
    inputs: tuple[str, ...], out: Union[Path, str], runner: Optional[str], settings_file: Optional[Path],
    truth: Optional[Path], links: bool, strict: bool, duplicate_ids: str, conf: Optional[Path], tmp: Optional[Path],
    cores: Optional[int], verbose: bool, quiet: bool, **values: Any,
) -> None:
    """Find all pairs of documents at or above a similarity.

    INPUT is a file of lines (plain, .gz, .bz2 or .zst), a CSV or Parquet file, a folder of text
    files, a glob pattern, an hdfs:// or s3:// address, or - for standard input.
    """
    settings = read_settings(values, settings_file)
    if truth and links:
        raise SettingsError("--truth compares pairs, and --links does not write all of them: leave out one")
    if truth and not isinstance(out, Path):
        raise SettingsError(f"--truth compares pairs in a local folder, and --out is {out}: leave out one")
    known = read_truth(truth) if truth else {}
    run = Run(inputs, out, runner, conf, tmp, cores, strict, links, duplicate_ids, verbose,
              shown(shlex.join(["lookalike", *sys.argv[1:]])))
    report = find_pairs(run, settings, Display(quiet))
    if not quiet:
        if truth and isinstance(out, Path):
            show(truth_table(compare(known, out / "pairs.jsonl"), settings.threshold))
        show(summary_table(report), f"The results are in {out}")


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
    with Display(quiet).count("documents", docs) as on_progress:
        report = write_sample(spec, out, truth, on_progress)
    if not quiet:
        show(sample_table(report), f"The corpus is {out}, its planted pairs are {truth}")


def show(*items: Any) -> None:
    """Print results, as wide as they are."""
    console = Console(highlight=False, soft_wrap=True)
    for item in items:
        console.print(item, markup=False)


def read_settings(values: dict[str, Any], settings_file: Optional[Path]) -> Settings:
    """Settings of a file, overruled by the options that were given."""
    if values["recall"] is not None and (values["bands"] is not None or values["rows"] is not None):
        raise SettingsError("--recall chooses bands and rows: give either --recall, or --bands and --rows")
    no_id, stop_words = values.pop("no_id"), values.pop("stop_words")
    if values["shingle_bits"] is not None:
        values["shingle_bits"] = int(values["shingle_bits"])
    if stop_words is not None:
        values["stop_words"] = read_stop_words(stop_words)
    settings = settings_from(values, read_json(settings_file) if settings_file else None)
    return dataclasses.replace(settings, id_field=None) if no_id else settings


def read_stop_words(name: str) -> tuple[str, ...]:
    """No words, the English list, or the words of a file."""
    if name in ("none", "english"):
        return ENGLISH_STOP_WORDS if name == "english" else ()
    try:
        return tuple(Path(name).read_text(encoding="utf-8").split())
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"stop words: {error}") from error


def read_json(path: Path) -> Any:
    """The JSON value of a file."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: {error}") from error


def main() -> None:
    """Run a command; errors that are the user's to mend become one line."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    try:
        cli(standalone_mode=False)
    except LookalikeError as error:
        fail(str(error), error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        fail("interrupted; nothing was written", INTERRUPTED)
    except OSError as error:
        if error.errno not in DISK_FULL:
            raise
        fail(f"{error.strerror}: nothing was written; --tmp and --out name folders with more space", 1)


def fail(message: str, exit_code: int) -> None:
    click.echo(f"lookalike: {message}", err=True)
    sys.exit(exit_code)


if __name__ == "__main__":
    main()
