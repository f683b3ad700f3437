"""Worker processes that answer JSON with JSON over pipes, for work that would keep one core busy.

They are plain ``python`` processes and not ``multiprocessing``'s: those import the caller's main module again, which
runs a script without ``if __name__ == "__main__"`` once more in each of them, and forking would copy held locks.
Whatever happens to a worker, its task gets done: by a new worker, or in this process.
"""

import importlib
import json
import logging
import math
import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, TypeVar

log = logging.getLogger(__name__)

Task = TypeVar("Task")
Result = TypeVar("Result")
Work = Callable[[Any], Any]

_LENGTH_BYTES = 8
_START_S = 60.0
_MOST = 4
# The worker imports from where this process does, and never from the folder it happens to be started in (-P).
_BOOT = (
    "import json, sys; start = json.loads(sys.argv[1]); sys.path[:] = start['path']; "
    "from selfright import processes; getattr(processes, start['door'])(start['entry'])"
)


class _Lost(Exception):
    """A worker ended or went silent over a task."""


class _NotDone(Exception):
    """No worker can be started, all were told to end, or the work raised an error, as it will here."""


_CGROUPS = (("cpu.max",), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us"))
"""Where a container is told its quota and the period that this is of: of version 2, and of version 1."""


def usable_cpus(cgroup: Path = Path("/sys/fs/cgroup")) -> int:
    """The cores this process may use, within what a container allows."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    for files in _CGROUPS:
        with suppress(OSError, ValueError):  # no container, or one without a quota ("max", -1)
            quota, period = " ".join((cgroup / file).read_text(encoding="ascii") for file in files).split()
            if int(quota) > 0 and int(period) > 0:
                cores = min(cores, math.ceil(int(quota) / int(period)))
    return cores


class Workers:
    """At most ``count`` processes (and never more than four) that run ``entry``, started as tasks come.

    ``entry`` is ``module:function``; the function gets ``setup`` and returns what does the work. Tasks and results are
    JSON values. A task may take ``patience_s`` seconds. Use it as a context manager: leaving it ends the processes at
    once, whatever they do; they also end when this process does.
    """

    def __init__(self, entry: str, setup: Any, count: int, patience_s: float = 300.0) -> None:
        self.count = max(1, min(count, _MOST))
        self._entry, self._setup, self._patience_s = entry, setup, patience_s
        self._threads = ThreadPoolExecutor(self.count, thread_name_prefix="selfright-worker")
        self._own = threading.local()  # each thread has a process of its own
        self._lock = threading.Lock()
        self._alive: set[subprocess.Popen[bytes]] = set()
        self._closed = False

    def __enter__(self) -> "Workers":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def map(
        self, tasks: Iterable[Task], here: Callable[[Task], Result], lost: Callable[[Task], Result] | None = None
    ) -> Iterator[Result]:
        """The results in the order of the tasks, of which at most two a worker are taken ahead.

        ``here`` does a task in this process when there is no worker for it or the work raised an error; ``lost`` (or
        else ``here``) answers for a task over which two workers ended.
        """
        waiting: deque[tuple[Task, Future[Any]]] = deque()
        try:
            for task in tasks:
                if len(waiting) >= 2 * self.count:
                    yield _result(*waiting.popleft(), here, lost or here)
                waiting.append((task, self._threads.submit(self._do, task)))
            while waiting:
                yield _result(*waiting.popleft(), here, lost or here)
        finally:
            for _, future in waiting:
                future.cancel()

    def close(self) -> None:
        """Ends the processes; tasks in flight are given up."""
        with self._lock:
            self._closed = True
            alive = list(self._alive)
        for process in alive:
            process.kill()
        self._threads.shutdown(wait=True, cancel_futures=True)
        for process in alive:
            end(process)

    def _do(self, task: Any) -> Any:
        for _ in range(2):
            process = getattr(self._own, "process", None) or self._start()
            try:
                return _ask(process, task, self._patience_s)
            except _Lost:
                self._own.process = None
                self._forget(process)
        raise _Lost

    def _start(self) -> "subprocess.Popen[bytes]":
        with self._lock:
            if self._closed:
                raise _NotDone
            try:
                process = start(self._entry, "serve")
            except OSError as error:
                raise self._give_up(error) from error
            self._alive.add(process)
        try:
            _ask(process, self._setup, _START_S)
        except (_Lost, _NotDone) as error:
            self._forget(process)
            with self._lock:
                raise self._give_up(error) from error
        self._own.process = process
        return process

    def _give_up(self, error: Exception) -> _NotDone:
        if not self._closed:
            log.warning("worker processes cannot be used (%r); the work is done in this process", error)
        self._closed = True
        return _NotDone()

    def _forget(self, process: "subprocess.Popen[bytes]") -> None:
        with self._lock:
            self._alive.discard(process)
        end(process)


def _result(
    task: Task, future: "Future[Result]", here: Callable[[Task], Result], lost: Callable[[Task], Result]
) -> Result:
    try:
        return future.result()
    except _NotDone:
        return here(task)
    except _Lost:
        log.warning("two worker processes ended over the same task")
        return lost(task)


def _ask(process: "subprocess.Popen[bytes]", task: Any, patience_s: float) -> Any:
    """What the work made of a task. Raises ``_Lost`` and ``_NotDone``."""
    assert process.stdin is not None
    assert process.stdout is not None
    alarm = threading.Timer(patience_s, process.kill)
    alarm.daemon = True
    alarm.start()
    try:
        send(process.stdin, [task])  # in a list, for None is how an input ends
        answer = receive(process.stdout)
    except (OSError, ValueError) as error:
        raise _Lost from error
    finally:
        alarm.cancel()
    if answer is None:
        raise _Lost
    if "failed" in answer:
        raise _NotDone(answer["failed"])
    return answer["done"]


def end(process: "subprocess.Popen[bytes]") -> None:
    """Ends a process at once and gives back what it held."""
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):  # what was not written yet will not be
            if pipe is not None:
                pipe.close()


def start(entry: str, door: str = "run") -> "subprocess.Popen[bytes]":
    """A process that runs ``entry`` (``module:function``) with the pipe for its answers; ``end`` it when done.

    It hears and answers with ``receive`` and ``send``. Raises ``OSError`` where none can be started. ``door`` is the
    function of this module that it comes in by.
    """
    if not sys.executable or getattr(sys, "frozen", False):
        raise OSError("this is not a plain Python interpreter")
    told = {"path": list(map(str, sys.path)), "door": door, "entry": entry}
    options = ["-P", *(["-X", "utf8"] if sys.flags.utf8_mode else [])]
    return subprocess.Popen(  # noqa: S603 - this interpreter with our own program
        [sys.executable, *options, "-c", _BOOT, json.dumps(told)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def send(pipe: IO[bytes], value: Any) -> None:
    """Writes a JSON value. Raises ``OSError`` when nobody reads it."""
    data = json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
    pipe.write(len(data).to_bytes(_LENGTH_BYTES, "big") + data)
    pipe.flush()


def receive(pipe: IO[bytes]) -> Any:
    """The next JSON value, None at the end."""
    head = pipe.read(_LENGTH_BYTES)
    if len(head) < _LENGTH_BYTES:
        return None
    size = int.from_bytes(head, "big")
    data = pipe.read(size)
    return json.loads(data.decode("utf-8", "surrogatepass")) if len(data) == size else None


def run(entry: str) -> None:
    """The side of a process that was started by ``start``."""
    _load(entry)(_answers())


def serve(entry: str) -> None:
    """The worker's side: answers until its input ends, that is, until its parent closes or ends."""
    answers = _answers()
    work: Work = _load(entry)
    made = False
    while (sent := receive(sys.stdin.buffer)) is not None:
        try:
            result = work(*sent)
            if not made:  # the first message was the setup
                work, result, made = result, None, True
            answer = {"done": result}
        except Exception as error:
            answer = {"failed": repr(error)}
        with suppress(BrokenPipeError):
            send(answers, answer)


def _answers() -> IO[bytes]:
    """The pipe to who started this process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints shall not get among the answers
    return answers


def _load(entry: str) -> Callable[[Any], Any]:
    module, name = entry.split(":")
    found: Callable[[Any], Any] = getattr(importlib.import_module(module), name)
    return found
