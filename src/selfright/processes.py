"""Processes that answer JSON with JSON over pipes, for work that would keep one core busy or may end its process.

They are plain ``python`` processes and not ``multiprocessing``'s: those import the caller's main module again, which
runs a script without ``if __name__ == "__main__"`` once more in each of them, and forking would copy held locks.
"""

import importlib
import json
import math
import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

_LENGTH_BYTES = 8
_MOST = 4
# The worker imports from where this process does, and never from the folder it happens to be started in (-P).
_BOOT = (
    "import json, sys; start = json.loads(sys.argv[1]); sys.path[:] = start['path']; "
    "from selfright import processes; processes.run(start['entry'])"
)


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

    ``entry`` is as for ``start``; it hears ``setup``, then a task at a time, and answers each. Setup, tasks and answers
    are JSON values. A task may take ``patience_s`` seconds. Use it as a context manager: leaving it ends the processes
    at once, whatever they do; they also end when this process does.
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
        with self._lock:
            self._closed = True
            alive = list(self._alive)
        for process in alive:
            process.kill()
        self._threads.shutdown(wait=True, cancel_futures=True)
        for process in alive:
            end(process)

    def map(self, tasks: Iterable[Any]) -> Iterator[Any]:
        """The answers in the order of the tasks, of which at most two a worker are taken ahead.

        None stands for a task over which its process ended or went silent. Raises ``OSError`` where no process can be
        started.
        """
        waiting: deque[Future[Any]] = deque()
        try:
            for task in tasks:
                if len(waiting) >= 2 * self.count:
                    yield waiting.popleft().result()
                waiting.append(self._threads.submit(self._do, task))
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()

    def _do(self, task: Any) -> Any:
        known = getattr(self._own, "process", None)
        process = known or self._start()
        try:
            answer = ask(process, self._patience_s, *([] if known else [self._setup]), task)
        except (OSError, ValueError):
            answer = None
        if answer is None:
            self._own.process = None
            with self._lock:
                self._alive.discard(process)
            end(process)
        return answer

    def _start(self) -> "subprocess.Popen[bytes]":
        with self._lock:
            if self._closed:
                raise OSError("the processes were told to end")
            self._own.process = process = start(self._entry)
            self._alive.add(process)
        return process


def end(process: "subprocess.Popen[bytes]") -> None:
    """Ends a process at once and gives back what it held."""
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):  # what was not written yet will not be
            if pipe is not None:
                pipe.close()


def start(entry: str) -> "subprocess.Popen[bytes]":
    """A process that runs ``entry`` (``module:function``) with the pipe for its answers; ``end`` it when done.

    It hears and answers with ``receive`` and ``send``. Raises ``OSError`` where none can be started.
    """
    if not sys.executable or getattr(sys, "frozen", False):
        raise OSError("this is not a plain Python interpreter")
    told = {"path": list(map(str, sys.path)), "entry": entry}
    options = ["-P", *(["-X", "utf8"] if sys.flags.utf8_mode else [])]
    return subprocess.Popen(  # noqa: S603 - this interpreter with our own program
        [sys.executable, *options, "-c", _BOOT, json.dumps(told)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def ask(process: "subprocess.Popen[bytes]", patience_s: float, *said: Any) -> Any:
    """What the process answers to JSON values, None where it ends first; it is killed when it takes longer.

    Raises ``OSError`` when it does not listen any more.
    """
    assert process.stdin is not None
    assert process.stdout is not None
    alarm = threading.Timer(patience_s, process.kill)
    alarm.daemon = True
    alarm.start()
    try:
        for value in said:
            send(process.stdin, value)
        return receive(process.stdout)
    finally:
        alarm.cancel()


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
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints shall not get among the answers
    module, name = entry.split(":")
    getattr(importlib.import_module(module), name)(answers)
