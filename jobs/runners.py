"""mrjob's inline and local runners, taught to read whole files, to tell progress and to leave no process behind.

mrjob takes the first part of a compressed file of several parts for the whole, and one that was cut
short too; here all parts are read, and what is missing is an error.

The local runner runs its tasks' processes from threads instead of from forked copies of the
driver, and ends them all when one fails or the run is interrupted. The sort between map and reduce
is one of them: mrjob would sort in memory where the program fails, as on a full disk.
"""

from __future__ import annotations

import bz2
import gzip
import os
import subprocess
import sys
import threading
import zlib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Callable, Optional

from jobs.errors import InputError, OutputError
from jobs.lean_mrjob import StepFailedException, stand_ins
from jobs.own_runner import OwnRunner
from jobs.splits import CHUNK_BYTES, PIECE, line_ranges
from jobs.warm_tasks import WarmTasks

with stand_ins():
    from mrjob.cat import is_compressed
    from mrjob.inline import InlineMRJobRunner
    from mrjob.local import LocalMRJobRunner, _TaskFailedException

TaskListener = Callable[[str, int, int], None]
"""Called with the stage (map, sort or reduce), the tasks done and the tasks in all."""

TASK_BYTES = 1 << 26


def unpacked(file: BinaryIO, path: str) -> Iterator[bytes]:
    """The content of a ``.gz`` or ``.bz2`` file in chunks, all parts of it."""
    opener: Any = gzip.open if path.endswith(".gz") else bz2.open
    try:
        with opener(file) as stream:
            yield from iter(partial(stream.read, CHUNK_BYTES), b"")
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"cannot read {path}: {error}") from error


def _link(path: str, link: str) -> None:
    """Let a file be read by another name, wherever that is."""
    try:
        os.symlink(os.path.realpath(path), link)
    except OSError as error:
        raise OutputError(f"cannot make links in {os.path.dirname(link)}: {error.strerror or error}; --tmp names "
                          "another folder") from error


class _Simulated:
    """What both runners share: input that is cut in large pieces, a ``task_listener``, output in the order of tasks."""

    task_listener: Optional[TaskListener] = None
    _stage = "map"

    def _split_mapper_input(self: Any, input_paths: Iterable[str], step_num: int) -> list[dict[str, Any]]:
        paths = list(input_paths)
        splits: list[dict[str, Any]] = []
        piece_bytes = self._piece_bytes(paths)
        for path in paths:
            with open(path, "rb") as file:
                size = os.path.getsize(path)
                if is_compressed(path):
                    with open(self._new_task_input("mapper", step_num, len(splits)), "wb") as content:
                        content.writelines(unpacked(file, path))
                    splits.append({"file": path, "start": 0, "length": size})
                    continue
                # Without a mapper the sort reads all of a file.
                has_mapper = "mapper" in self._get_step(step_num)
                for start, end in line_ranges(file, piece_bytes) if has_mapper else [(0, size)]:
                    _link(path, self._new_task_input("mapper", step_num, len(splits)))
                    # As Hadoop has it, a piece holds the lines that begin behind its first byte, but for the first.
                    splits.append({"file": path, "start": max(start - 1, 0), "length": end - start,
                                   "piece": (start, end)})
        return splits

    def _split_reducer_input(self: Any, step_num: int) -> int:
        path = self._sorted_reducer_input_path(step_num)
        with open(path, "rb") as file:
            self._reducer_pieces = list(line_ranges(file, self._piece_bytes([path]), by_key=True))
        for number in range(len(self._reducer_pieces)):
            _link(path, self._new_task_input("reducer", step_num, number))
        return len(self._reducer_pieces)

    def _new_task_input(self: Any, task_type: str, step_num: int, task_num: int) -> str:
        path: str = self._task_input_path(task_type, step_num, task_num)
        os.makedirs(os.path.dirname(path))
        return path

    def _simulate_jobconf_for_step(
        self: Any, task_type: str, step_num: int, task_num: int, map_split: Optional[dict[str, Any]] = None
    ) -> dict[str, Any]:
        """With the piece of its input that a task reads, unless it reads all of a file that was made for it."""
        jobconf: dict[str, Any] = super()._simulate_jobconf_for_step(  # type: ignore[misc]
            task_type, step_num, task_num, map_split)
        piece = None
        if task_type == "reducer":
            piece = self._reducer_pieces[task_num]
        elif task_type == "mapper":
            piece = (map_split or {}).get("piece")
        return {**jobconf, PIECE: " ".join(map(str, piece))} if piece else jobconf

    def _piece_bytes(self: Any, paths: Sequence[str]) -> int:
        """What a task gets: a share for each core, but not too much."""
        num_bytes = sum(map(os.path.getsize, paths))
        return int(-(-num_bytes // max(self._num_cores(), num_bytes // TASK_BYTES)))

    def cat_output(self: Any) -> Iterator[bytes]:
        """The output in chunks, task by task; mrjob takes files as they lie in their folder."""
        parts = Path(self.get_output_dir()).glob("part-*")
        for part in sorted(parts, key=lambda path: int(path.name.partition("-")[2])):
            with open(part, "rb") as file:
                yield from iter(partial(file.read, CHUNK_BYTES), b"")

    def _tell(self, done: int, total: int) -> None:
        if self.task_listener:
            self.task_listener(self._stage, done, total)

    def _run_mappers_and_combiners(self, *args: Any) -> None:
        self._stage = "map"
        super()._run_mappers_and_combiners(*args)  # type: ignore[misc]

    def _run_reducers(self, *args: Any) -> None:
        self._stage = "reduce"
        super()._run_reducers(*args)  # type: ignore[misc]


class InlineRunner(OwnRunner, _Simulated, InlineMRJobRunner):  # type: ignore[misc]
    """All tasks in this process, one after another."""

    def _run_multiple(self, funcs: Iterable[Callable[[], None]], num_processes: Optional[int] = None) -> None:
        tasks = list(funcs)
        for done, task in enumerate(tasks):
            self._tell(done, len(tasks))
            task()
        self._tell(len(tasks), len(tasks))


class LocalRunner(OwnRunner, _Simulated, LocalMRJobRunner):  # type: ignore[misc]
    """A process a task, as many at a time as there are cores."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._live_tasks: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._is_stopped = False
        self.failed_task_stderr = ""
        self.warm_tasks: Optional[WarmTasks] = None

    def _run_multiple(self, funcs: Iterable[Callable[[], None]], num_processes: Optional[int] = None) -> None:
        tasks = list(funcs)
        with ThreadPoolExecutor(self._num_cores()) as threads:
            try:
                futures = [threads.submit(task) for task in tasks]
                self._tell(0, len(tasks))
                for done, future in enumerate(as_completed(futures), 1):
                    future.result()
                    self._tell(done, len(tasks))
            except BaseException:
                self._stop_tasks()
                raise

    def _stop_tasks(self) -> None:
        with self._lock:
            self._is_stopped = True
            for process in self._live_tasks:
                process.kill()
            if self.warm_tasks:
                self.warm_tasks.kill()

    def _invoke_task_func(self, task_type: str, step_num: int, task_num: int) -> Callable[..., None]:
        def failure(code: int) -> Exception:
            error: Exception = _TaskFailedException(
                f"task ended with code {code}", step_num, self._num_steps(), task_type=task_type, task_num=task_num)
            return error

        args = self._substep_args(step_num, task_type)
        if self.warm_tasks and args[0] == sys.executable and not self._cmdenv():
            return partial(self._run_warm, self.warm_tasks, args[1:], failure)
        return partial(self._run_process, args, failure)

    def _run_warm(
        self, warm_tasks: WarmTasks, args: list[str], failure: Callable[[int], Exception], *circumstances: Any,
    ) -> None:
        returncode = 0 if self._is_stopped else warm_tasks.run(args, *circumstances)
        if returncode:
            raise failure(returncode)

    def _sort_input_func(self) -> Callable[[Sequence[str], str], None]:
        return self._sort_files

    def _sort_files(self, input_paths: Sequence[str], output_path: str) -> None:
        self._stage, tmp_dir = "sort", self._get_local_tmp_dir()

        def failure(code: int) -> Exception:
            error: Exception = StepFailedException(f"sort ended with code {code}; is there space in {tmp_dir}?")
            return error

        env = {**os.environ, "LC_ALL": "C", "TMPDIR": tmp_dir}
        with open(os.devnull, "rb") as nothing, open(output_path, "wb") as output:
            self._run_multiple([partial(self._run_process, [*self._sort_bin(), *input_paths], failure,
                                        nothing, output, None, os.getcwd(), env)])

    def _run_process(
        self, args: list[str], failure: Callable[[int], Exception],
        stdin: BinaryIO, stdout: BinaryIO, stderr: Optional[BinaryIO], wd: str, env: dict[str, str],
    ) -> None:
        with self._lock:
            if self._is_stopped:
                return
            process = subprocess.Popen(args, stdin=stdin, stdout=stdout, stderr=stderr, cwd=wd, env=env)
            self._live_tasks.add(process)
        returncode = process.wait()
        with self._lock:
            self._live_tasks.discard(process)
        if returncode:
            raise failure(returncode)

    def _log_cause_of_error(self, ex: Exception) -> None:
        if isinstance(ex, _TaskFailedException):
            path = self._task_stderr_path(ex.task_type, ex.step_num, ex.task_num)
            self.failed_task_stderr = Path(path).read_text(errors="replace") or (
                f"{ex.reason} and without a word; is there enough memory, and space in {self._get_local_tmp_dir()}?")
        super()._log_cause_of_error(ex)
