"""Work done on a Ray cluster: whatever happens to a node, its tasks get done.

Tasks and results travel by Ray's own serialisation: connect to clusters that you trust. Every node needs the same
version of this package; keys of providers are each node's own and never sent.
"""

import importlib
import json
import logging
import os
import socket
import sys
from collections.abc import Callable, Iterable
from functools import lru_cache
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
_IN_FLIGHT = 256  # tasks; enough for a hundred cores, and some 100 MB
# It does not call home, and workers of one's own get what this process would get, not what is left.
_OPTIONS = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0", "RAY_worker_niceness": "0"}


class RayCluster:
    """A connection to the cluster at ``address``, used as a context manager.

    ``local`` starts one on this machine's cores and ends it afterwards, ``auto`` finds the one that this machine
    belongs to, ``host:port`` is a head node's. Raises ``MissingExtra`` without Ray, ``StoreError`` when nothing answers
    there or the nodes have another version of this package.
    """

    def __init__(self, address: str = LOCAL) -> None:
        self._address, self._ray, self._is_ours = address, _ray(), False

    def __enter__(self) -> "RayCluster":
        if not self._ray.is_initialized():
            self._connect()
        try:
            self._greet()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Lets go of the cluster; one that was started here ends."""
        if self._is_ours:
            self._is_ours = False
            self._ray.shutdown()

    def workers(self, entry: str, setup: Any) -> "RayWorkers":
        """What does tasks with ``entry`` (``module:function``), which gets ``setup`` once in each process."""
        return RayWorkers(self._ray, entry, setup)

    def _connect(self) -> None:
        options = {"include_dashboard": False} if self._address == LOCAL else {}
        try:
            host, colon, port = self._address.removeprefix("ray://").rpartition(":")
            if colon and port.isdecimal():  # Ray itself would try for minutes
                socket.create_connection((host.strip("[]"), int(port)), _KNOCK_S).close()
            self._ray.init(self._address, log_to_driver=False, logging_level=logging.ERROR, **options)
        except (OSError, RuntimeError, ValueError) as error:
            raise StoreError(
                f"no Ray cluster answers at '{self._address}' ({' '.join(str(error).split())[:200]}); start one with "
                "'ray start --head', or use this machine's cores with --ray local"
            ) from error
        self._is_ours = True

    def _greet(self) -> None:
        """Asks one node for its version, so that nothing is prepared by another one's rules."""
        ours = metadata.version("selfright")
        try:
            theirs = self._ray.get(self.workers(f"{__name__}:greeting", None).submit(None), timeout=_HELLO_S)
        except self._ray.exceptions.RayError as error:
            theirs = f"{type(error).__name__} instead"
        if theirs != ours:
            raise StoreError(
                f"the nodes of the Ray cluster at '{self._address}' should have selfright {ours}, as this machine, but "
                f"have {theirs}; install it on all of them with what the index needs, and leave a core free"
            )


class RayWorkers:
    """Does tasks by one entry."""

    limit = _IN_FLIGHT
    """How many tasks may be in flight."""

    def __init__(self, ray: Any, entry: str, setup: Any) -> None:
        self._ray, self._entry, self._setup = ray, entry, json.dumps(setup)
        self._task = ray.remote(max_retries=_RETRIES, num_cpus=1, scheduling_strategy=_STRATEGY)(do)

    def submit(self, task: Any) -> Any:
        """Sends a task; what comes back stands for its result."""
        return self._task.remote([os.path.abspath(place) for place in sys.path], self._entry, self._setup, task)

    def result(self, reference: Any, task: Task, here: Callable[[Task], Result]) -> Result:
        """Waits for it; ``here`` does a task that raised an error, or ended the workers that tried it."""
        try:
            found: Result = self._ray.get(reference, timeout=_PATIENCE_S)
        except self._ray.exceptions.RayTaskError as error:
            log.warning("a task failed on the cluster (%s); it is done in this process", type(error.cause).__name__)
            return here(task)
        except self._ray.exceptions.RayError as error:
            log.warning("the cluster lost a task %d times (%s)", _RETRIES + 1, type(error).__name__)
            self.cancel([reference])
            return here(task)
        return found

    def cancel(self, references: Iterable[Any]) -> None:
        """Gives up tasks."""
        for reference in references:
            self._ray.cancel(reference, force=True)


# On a node


def do(path: list[str], entry: str, setup: str, task: Any) -> Any:
    """Does a task in a worker's process, which keeps what the entry made for the next one."""
    sys.path += [place for place in path if place not in sys.path and os.path.isdir(place)]
    return _make_worker(entry, setup)(task)


@lru_cache(maxsize=4)
def _make_worker(entry: str, setup: str) -> Callable[[Any], Any]:
    module, name = entry.split(":")
    make: Callable[[Any], Callable[[Any], Any]] = getattr(importlib.import_module(module), name)
    return make(json.loads(setup))


def greeting(_setup: None) -> Callable[[None], str]:
    """Says which version a node has."""
    return lambda _task: metadata.version("selfright")


def _ray() -> Any:
    for name, value in _OPTIONS.items():
        os.environ.setdefault(name, value)
    try:
        return importlib.import_module("ray")
    except ModuleNotFoundError as error:
        raise MissingExtra("Ray, which spreads the work over machines,", 'pip install "selfright[ray]"') from error
