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
import threading
import zlib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Callable, Optional

from jobs.errors import InputError
from jobs.lean_mrjob import StepFailedException, stand_ins

with stand_ins():
    import mrjob.sim
    from mrjob.inline import InlineMRJobRunner
    from mrjob.local import LocalMRJobRunner, _TaskFailedException

TaskListener = Callable[[str, int, int], None]
"""Called with the stage (map, sort or reduce), the tasks done and the tasks in all."""

CHUNK_BYTES = 1 << 20
TASK_BYTES = 1 << 26


def unpacked(file: BinaryIO, path: str) -> Iterator[bytes]:
    """The content of a ``.gz`` or ``.bz2`` file in chunks, all parts of it."""
    opener: Any = gzip.open if path.endswith(".gz") else bz2.open
    try:
        with opener(file) as stream:
            yield from iter(partial(stream.read, CHUNK_BYTES), b"")
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"cannot read {path}: {error}") from error


mrjob.sim.decompress = unpacked


class _TellsProgress:
    """Runner mixin that calls ``task_listener``, if there is one, after each task."""

    task_listener: Optional[TaskListener] = None
    _stage = "map"

    def _tell(self, done: int, total: int) -> None:
        if self.task_listener:
            self.task_listener(self._stage, done, total)

    def _run_mappers_and_combiners(self, *args: Any) -> None:
        self._stage = "map"
        super()._run_mappers_and_combiners(*args)  # type: ignore[misc]

    def _run_reducers(self, *args: Any) -> None:
        self._stage = "reduce"
        super()._run_reducers(*args)  # type: ignore[misc]


class InlineRunner(_TellsProgress, InlineMRJobRunner):  # type: ignore[misc]
    """All tasks in this process, one after another."""

    def _run_multiple(self, funcs: Iterable[Callable[[], None]], num_processes: Optional[int] = None) -> None:
        tasks = list(funcs)
        for done, task in enumerate(tasks):
            self._tell(done, len(tasks))
            task()
        self._tell(len(tasks), len(tasks))


def _num_tasks(num_bytes: int, num_cores: int) -> int:
    """One a core, since each takes time to start; more where each would have much to do."""
    return max(num_cores, num_bytes // TASK_BYTES)


class LocalRunner(_TellsProgress, LocalMRJobRunner):  # type: ignore[misc]
    """A process a task, as many at a time as there are cores."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._live_tasks: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._is_stopped = False
        self.failed_task_stderr = ""

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

    # mrjob asks for a number of tasks and makes twice as many.

    def _num_mappers(self, step_num: int) -> float:
        return _num_tasks(sum(map(os.path.getsize, self._input_paths_for_step(step_num))), self._num_cores()) / 2

    def _num_reducers(self, step_num: int) -> float:
        return _num_tasks(os.path.getsize(self._sorted_reducer_input_path(step_num)), self._num_cores()) / 2

    def _stop_tasks(self) -> None:
        with self._lock:
            self._is_stopped = True
            for process in self._live_tasks:
                process.kill()

    def _invoke_task_func(self, task_type: str, step_num: int, task_num: int) -> Callable[..., None]:
        def failure(code: int) -> Exception:
            error: Exception = _TaskFailedException(
                f"task ended with code {code}", step_num, self._num_steps(), task_type=task_type, task_num=task_num)
            return error

        return partial(self._run_process, self._substep_args(step_num, task_type), failure)

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
