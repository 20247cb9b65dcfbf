"""Options that commands share, and what they become: a run, and settings."""

from __future__ import annotations

import dataclasses
import json
import shlex
import sys
from pathlib import Path
from typing import Any, Callable, Union

import click

from jobs.base import option_type, settings_from
from jobs.errors import InputError
from jobs.input_files import is_uri, shown
from jobs.job_runner import RUNNERS, Run
from lsh_core.errors import SettingsError
from lsh_core.settings import CHOICES, Settings
from lsh_core.stop_words import ENGLISH_STOP_WORDS

Command = Callable[..., Any]
FILE = click.Path(path_type=Path)


def folder_or_address(name: str) -> Union[Path, str]:
    """A local path, or an address as it is: as a path it would lose a slash."""
    return name.rstrip("/") if is_uri(name) else Path(name)


RUN_OPTIONS = (
    click.argument("inputs", nargs=-1, required=True, metavar="INPUT..."),
    click.option("--out", type=folder_or_address, metavar="PATH", default="lookalike_out", show_default=True,
                 help="Folder for the results, or its hdfs:// or s3:// address on a cluster."),
    click.option("-r", "--runner", type=click.Choice(RUNNERS),
                 help="Where to run.  [default: inline for a small input, else local]"),
    click.option("--settings", "settings_file", type=FILE, metavar="FILE",
                 help="JSON file of settings, or a former run.json; options win over it."),
    click.option("--strict", is_flag=True, help="Stop if any line is not a document."),
    click.option("--duplicate-ids", type=click.Choice(["refuse", "number"]), default="refuse", show_default=True,
                 help="An id of several texts stops the run, or becomes id~<hash of the text>."),
    click.option("--conf", type=FILE,
                 help="Configuration of the engine: a copy of conf/RUNNER.conf, changed.  [default: that file]"),
    click.option("--tmp", type=FILE, help="Folder for temporary files."),
    click.option("--cores", type=click.IntRange(min=1),
                 help="Processes at a time with -r local.  [default: all cores]"),
    click.option("-v", "--verbose", is_flag=True, help="Show mrjob's own log."),
    click.option("-q", "--quiet", is_flag=True, help="Show errors only."),
)


def run_options(command: Command) -> Command:
    """Inputs, the output, and how to run; ``read_run`` and ``read_settings`` take them."""
    for option in reversed(RUN_OPTIONS):
        command = option(command)
    return command


def setting_options(command: Command) -> Command:
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


def against_option(text: str) -> Callable[[Command], Command]:
    """Another corpus, which the inputs are held against."""
    return click.option("--against", multiple=True, metavar="INPUT", help=f"{text} May be given several times.")


def read_run(values: dict[str, Any], **choices: Any) -> Run:
    """The run of a command line; what it takes goes out of the values."""
    names = ("inputs", "out", "runner", "conf", "tmp", "cores", "strict", "duplicate_ids", "against", "verbose")
    command = shown(shlex.join(["lookalike", *sys.argv[1:]]))
    return Run(**{name: values.pop(name) for name in names if name in values}, **choices, command=command)


def read_settings(values: dict[str, Any]) -> Settings:
    """Settings of a file, overruled by the options that were given."""
    if values["recall"] is not None and (values["bands"] is not None or values["rows"] is not None):
        raise SettingsError("--recall chooses bands and rows: give either --recall, or --bands and --rows")
    no_id, stop_words, settings_file = (values.pop(name) for name in ("no_id", "stop_words", "settings_file"))
    if values["shingle_bits"] is not None:
        values["shingle_bits"] = int(values["shingle_bits"])
    if stop_words is not None:
        values["stop_words"] = read_stop_words(stop_words)
    settings = settings_from(values, read_json(settings_file) if settings_file else None)
    return dataclasses.replace(settings, id_field=None) if no_id else settings


def read_exact_settings(values: dict[str, Any]) -> Settings:
    """The same, but that only equal texts are found, by no signature and at no other threshold."""
    given = [name for name in ("threshold", "recall", "bands", "rows", "minhash") if values[name] is not None]
    if given:
        raise SettingsError(f"--exact-only finds equal texts, whatever --{given[0]} says: leave out one of them")
    return read_settings(values).only_equal_texts()


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
