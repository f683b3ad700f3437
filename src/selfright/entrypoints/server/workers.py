"""Several service processes behind one address (``serve --workers N``).

A supervisor opens the socket and serves nothing itself; each worker accepts connections from that socket. A worker that
dies is replaced. A worker ends when the supervisor tells it to (SIGTERM) or is gone: then the pipe that it watches
closes.
"""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import FrameType

from selfright.domain.errors import ServiceError, UsageError
from selfright.entrypoints.server import logging

METRICS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # the name is prometheus_client's
_SOCKET, _LIFELINE, _READY = "_WORKER_SOCKET", "_WORKER_LIFELINE", "_WORKER_READY"
_LOOK_EVERY_S = 0.1
_MOST_DEATHS, _WITHIN_S = 5, 60.0


class Supervisor:
    """Runs ``count`` processes of ``command`` on ``listening``; ``ready`` is called once the first one accepts."""

    def __init__(self, command: Sequence[str], count: int, listening: socket.socket, ready: Callable[[], None]) -> None:
        self._command, self._count, self._listening, self._ready = command, count, listening, ready
        self._workers: list[subprocess.Popen[bytes]] = []
        self._deaths: deque[float] = deque(maxlen=_MOST_DEATHS)
        self._told = 0

    def run(self) -> int:
        """Serves until SIGTERM or SIGINT, and then until the workers' turns are finished; gives back an exit code.

        It is a worker's own where that cannot start. Raises ``ServiceError`` where workers keep dying.
        """
        with ExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="selfright-metrics-"))
            alive, lifeline = os.pipe()
            ready_read, ready_write = os.pipe()
            for end in (alive, lifeline, ready_read, ready_write):
                stack.callback(os.close, end)
            os.set_blocking(ready_read, False)
            before = {each: signal.signal(each, self._end) for each in (signal.SIGINT, signal.SIGTERM)}
            for each, handler in before.items():
                stack.callback(signal.signal, each, handler)
            environment = {
                **os.environ,
                METRICS_FOLDER: folder,
                _SOCKET: str(self._listening.fileno()),
                _LIFELINE: str(alive),
                _READY: str(ready_write),
            }
            try:
                return self._watch(environment, (self._listening.fileno(), alive, ready_write), ready_read)
            finally:
                self._stop()

    def _watch(self, environment: Mapping[str, str], passed: tuple[int, ...], ready: int) -> int:
        self._workers = [self._started(environment, passed) for _ in range(self._count)]
        is_ready = False
        while not self._told:
            if not is_ready and _said_something(ready):
                is_ready = True
                self._ready()
            for place, worker in enumerate(self._workers):
                if worker.poll() is None or self._told:
                    continue
                _forget(worker.pid, Path(environment[METRICS_FOLDER]))
                if not is_ready:
                    return worker.returncode or 1  # it has said why it cannot start, and so would the next one
                if self._dies_too_often():
                    raise ServiceError(
                        f"{_MOST_DEATHS} workers died within {_WITHIN_S:.0f} seconds; see what they logged, or serve "
                        "without --workers to find the reason"
                    )
                self._workers[place] = self._started(environment, passed)
            time.sleep(_LOOK_EVERY_S)
        self._stop()
        return max((abs(worker.wait()) for worker in self._workers), default=0)

    def _started(self, environment: Mapping[str, str], passed: tuple[int, ...]) -> subprocess.Popen[bytes]:
        # In a session of its own: Ctrl-C in a terminal is for the supervisor alone, which passes it on once.
        return subprocess.Popen(  # noqa: S603  # the command is this program's own
            self._command, env=environment, pass_fds=passed, start_new_session=True
        )

    def _dies_too_often(self) -> bool:
        now = time.monotonic()
        self._deaths.append(now)
        return len(self._deaths) == _MOST_DEATHS and now - self._deaths[0] < _WITHIN_S

    def _end(self, sig: int, frame: FrameType | None) -> None:
        """The first signal lets turns finish; a second one is passed on too, and breaks them off."""
        del sig, frame
        self._told += 1
        if self._told > 1:
            self._stop()

    def _stop(self) -> None:
        for worker in self._workers:
            if worker.poll() is None:
                worker.terminate()


def given_socket() -> socket.socket | None:
    """The socket that a supervisor passed to this process; None in a process of its own.

    Ends this process by SIGTERM when the supervisor is gone.
    """
    if _SOCKET not in os.environ:
        return None
    threading.Thread(target=_end_without_supervisor, args=(int(os.environ[_LIFELINE]),), daemon=True).start()
    return socket.socket(fileno=int(os.environ[_SOCKET]))


def tell_ready() -> None:
    """Tells the supervisor that this worker accepts connections."""
    logging.worker_ready(os.getpid())
    os.write(int(os.environ[_READY]), b".")


def check_possible() -> None:
    """Raises ``UsageError`` where processes cannot share a socket."""
    if sys.platform == "win32":
        raise UsageError("--workers needs a system that passes sockets on to processes; start one service on Windows")


def _end_without_supervisor(lifeline: int) -> None:
    os.read(lifeline, 1)  # nobody writes: it returns when the other end is closed
    os.kill(os.getpid(), signal.SIGTERM)


def _said_something(end: int) -> bool:
    try:
        return bool(os.read(end, 64))
    except BlockingIOError:
        return False


def _forget(pid: int, folder: Path) -> None:
    """What a dead worker was doing is no longer being done; what it counted stays."""
    for path in folder.glob(f"gauge_live*_{pid}.db"):
        path.unlink(missing_ok=True)
