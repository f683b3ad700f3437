"""Work done on a Ray cluster, in the manner of ``processes.Workers``: whatever happens to a node, its tasks get done.

Tasks and results travel by Ray's own serialisation: connect to clusters that you trust. Every node needs the same
version of this package; keys of providers are each node's own and never sent.
"""

import importlib
import json
import logging
import os
import socket
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from importlib import metadata
from typing import Any, TypeVar

from selfright.domain.errors import MissingExtra, StoreError

log = logging.getLogger(__name__)

Task = TypeVar("Task")
Result = TypeVar("Result")

LOCAL = "local"
_RETRIES = 3  # by Ray, where a worker or a node was lost; after that the task is done here
_STRATEGY = "SPREAD"  # with Ray's own, tasks of seconds wait at a busy node for up to 17 s while another one is idle
_PATIENCE_S = 1_800.0
_HELLO_S = 120.0
_KNOCK_S = 10.0
_PER_CORE = 2  # tasks in flight for each core of the cluster
_LEAST, _MOST = 16, 1_024
_AHEAD = 64  # files read ahead: their documents wait in memory
_LOOK_EVERY_S = 5.0
_KEPT = 4
_PLAIN = {"RAY_worker_niceness": "0"}  # workers of one's own get what this process would get, and not what is left
_QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}  # it does not call home


class RayCluster:
    """A connection to the cluster at ``address``, used as a context manager.

    ``local`` starts one on this machine's cores and ends it afterwards, ``auto`` finds the one that this machine
    belongs to, ``host:port`` is a head node's. Raises ``MissingExtra`` without Ray, ``StoreError`` when nothing answers
    there or the nodes have another version of this package.
    """

    def __init__(self, address: str = LOCAL) -> None:
        self._address = address
        self._ray = _ray()
        self._ours = False
        self._task: Any = None
        self._limit, self._looked = _LEAST, 0.0

    def __enter__(self) -> "RayCluster":
        if not self._ray.is_initialized():
            self._connect()
        self._task = self._ray.remote(max_retries=_RETRIES, num_cpus=1, scheduling_strategy=_STRATEGY)(do)
        try:
            self._greet()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of the cluster; one that was started here ends."""
        if self._ours:
            self._ours = False
            self._ray.shutdown()

    def workers(self, entry: str, setup: Any) -> "RayWorkers":
        """What does tasks with ``entry`` (``module:function``), which gets ``setup`` once in each process."""
        return RayWorkers(self, entry, json.dumps(setup))

    @property
    def limit(self) -> int:
        """How many tasks may be in flight: a few for each core that the cluster has now."""
        if time.monotonic() - self._looked > _LOOK_EVERY_S:
            cores = int(self._ray.cluster_resources().get("CPU", 1))
            self._limit, self._looked = max(_LEAST, min(_PER_CORE * cores, _MOST)), time.monotonic()
        return self._limit

    def submit(self, entry: str, setup: str, task: Any) -> Any:
        """Sends a task; what comes back stands for its result."""
        return self._task.remote(_search_path(), entry, setup, task)

    def result(
        self, reference: Any, task: Task, here: Callable[[Task], Result], lost: Callable[[Task], Result]
    ) -> Result:
        """The result; ``here`` does a task that raised an error, ``lost`` answers for one that ended its workers."""
        try:
            found: Result = self._ray.get(reference, timeout=_PATIENCE_S)
        except self._ray.exceptions.RayTaskError as error:
            log.warning("a task failed on the cluster (%s); it is done in this process", type(error.cause).__name__)
            return here(task)
        except self._ray.exceptions.RayError as error:
            log.warning("the cluster lost a task %d times (%s)", _RETRIES + 1, type(error).__name__)
            self.cancel(reference)
            return lost(task)
        return found

    def cancel(self, reference: Any) -> None:
        """Gives up a task."""
        self._ray.cancel(reference, force=True)

    def _connect(self) -> None:
        for name, value in (_QUIET | _PLAIN if self._address == LOCAL else _QUIET).items():
            os.environ.setdefault(name, value)
        options = {"include_dashboard": False} if self._address == LOCAL else {}
        try:
            _knock(self._address)
            self._ray.init(self._address, log_to_driver=False, logging_level=logging.ERROR, **options)
        except (OSError, RuntimeError, ValueError) as error:
            raise StoreError(
                f"no Ray cluster answers at '{self._address}' ({' '.join(str(error).split())[:200]}); start one with "
                "'ray start --head', or use this machine's cores with --ray local"
            ) from error
        self._ours = True

    def _greet(self) -> None:
        """Asks one node for its version, so that nothing is prepared by another one's rules."""
        try:
            theirs = self._ray.get(self.submit(f"{__name__}:greeting", "null", None), timeout=_HELLO_S)
        except self._ray.exceptions.GetTimeoutError as error:
            raise StoreError(
                f"the Ray cluster at '{self._address}' did not begin within {_HELLO_S:.0f} s; it has no free core"
            ) from error
        except self._ray.exceptions.RayError as error:
            raise StoreError(
                f"the nodes of the Ray cluster at '{self._address}' cannot run selfright; install version "
                f"{_version()} with what the index needs on each of them"
            ) from error
        if theirs != _version():
            raise StoreError(
                f"the nodes of the Ray cluster have selfright {theirs}, this machine has {_version()}; "
                "install the same version on all of them"
            )


class RayWorkers:
    """Does tasks by one entry; a context manager, as ``processes.Workers`` is."""

    def __init__(self, cluster: RayCluster, entry: str, setup: str) -> None:
        self._cluster, self._entry, self._setup = cluster, entry, setup

    def __enter__(self) -> "RayWorkers":
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is held: processes belong to the cluster."""

    @property
    def limit(self) -> int:
        """How many tasks may be in flight."""
        return self._cluster.limit

    def submit(self, task: Any) -> Any:
        """Sends a task."""
        return self._cluster.submit(self._entry, self._setup, task)

    def result(
        self, reference: Any, task: Task, here: Callable[[Task], Result], lost: Callable[[Task], Result] | None = None
    ) -> Result:
        """Waits for its result."""
        return self._cluster.result(reference, task, here, lost or here)

    def cancel(self, references: Iterable[Any]) -> None:
        """Gives up tasks."""
        for reference in references:
            self._cluster.cancel(reference)

    def map(
        self, tasks: Iterable[Task], here: Callable[[Task], Result], lost: Callable[[Task], Result] | None = None
    ) -> Iterator[Result]:
        """The results in the order of the tasks; see ``processes.Workers.map``."""
        waiting: deque[tuple[Any, Task]] = deque()
        try:
            for task in tasks:
                if len(waiting) >= min(self.limit, _AHEAD):
                    reference, oldest = waiting.popleft()
                    yield self.result(reference, oldest, here, lost)
                waiting.append((self.submit(task), task))
            while waiting:
                reference, oldest = waiting.popleft()
                yield self.result(reference, oldest, here, lost)
        finally:
            self.cancel(reference for reference, _ in waiting)


# On a node

_made: dict[tuple[str, str], Callable[[Any], Any]] = {}


def do(path: list[str], entry: str, setup: str, task: Any) -> Any:
    """Does a task in a worker's process, which keeps what the entry made for the next one."""
    sys.path += [place for place in path if place not in sys.path and os.path.isdir(place)]
    work = _made.get((entry, setup))
    if work is None:
        module, name = entry.split(":")
        work = getattr(importlib.import_module(module), name)(json.loads(setup))
        while len(_made) >= _KEPT:
            _made.pop(next(iter(_made)))
        _made[entry, setup] = work
    return work(task)


def greeting(_setup: None) -> Callable[[None], str]:
    """Says which version a node has."""
    return lambda _task: _version()


def _knock(address: str) -> None:
    """Raises ``OSError`` when nothing listens at ``host:port``: Ray itself would try for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if colon and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), _KNOCK_S).close()


def _version() -> str:
    return metadata.version("selfright")


def _search_path() -> list[str]:
    return [os.path.abspath(place) for place in sys.path]


def _ray() -> Any:
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    try:
        return importlib.import_module("ray")
    except ModuleNotFoundError as error:
        raise MissingExtra("Ray, which spreads the work over machines,", 'pip install "selfright[ray]"') from error
