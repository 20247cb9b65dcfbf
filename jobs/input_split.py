"""What a mapper reads, as its engine tells: which file, from where, and which of the run's inputs that is."""

from __future__ import annotations

import os
import re
from collections.abc import Container, Iterable
from typing import Callable, NamedTuple

from jobs.lean_mrjob import jobconf_from_env


class InputSplit(NamedTuple):
    """The piece of an input file that a mapper reads: the lines that begin behind the byte ``start``, or at 0."""

    file: str
    start: int


def input_split() -> InputSplit:
    """What the mapper that runs in this process reads; the file is named as the engine does, "" where it says nothing.

    A local file may have been uploaded: the driver knows which one a URI stands for (``JobRunner.uris``).
    """
    return InputSplit(jobconf_from_env("mapreduce.map.input.file", ""),
                      int(jobconf_from_env("mapreduce.map.input.start", 0)))


def numbers_of_files(names: Iterable[Iterable[str]]) -> Callable[[str], int]:
    """A function from an engine's name of a file to its number among these; one beyond all for others.

    Each is given by all its names: its address or path, and, where an engine may have uploaded it, its base name.
    """
    numbered = [(name, number) for number, names_of_file in enumerate(names) for name in names_of_file]
    number_of, beyond = dict(numbered), numbered[-1][1] + 1 if numbered else 0
    return lambda file: next((number_of[name] for name in names_of(file) if name in number_of), beyond)


def names_of(uri: str) -> tuple[str, ...]:
    """What an engine may have been given as the name of a file: all of a URI, a URI without its host, a path, or less.

    The last is the base name, for files that were uploaded.

    >>> names_of("hdfs://host:8020/a.jsonl")[1:], names_of("file:/a.jsonl")[2:]
    (('hdfs:///a.jsonl', 'hdfs:///a.jsonl', 'a.jsonl'), ('/a.jsonl', 'a.jsonl'))
    """
    anywhere = without_host(uri)
    return uri, anywhere, anywhere.removeprefix("file://"), os.path.basename(uri)


def without_host(uri: str) -> str:
    """An address as it may be given where a file system has a host of its own: engines put that in.

    >>> without_host("viewfs://table/a//b"), without_host("viewfs:/a//b"), without_host("/a//b")
    ('viewfs:///a//b', 'viewfs:///a//b', '/a//b')
    """
    return re.sub(r"^([\w+.-]+:)(//[^/]*)?/", r"\1///", uri, flags=re.ASCII)


def reads_one_of(files: Container[str]) -> bool:
    """Whether the mapper that runs in this process reads one of these files.

    They are given by their addresses, or, where an engine may have uploaded them, by base names that no other file has.
    """
    return any(name in files for name in names_of(input_split().file))
