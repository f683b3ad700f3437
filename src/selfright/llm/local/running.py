"""Models that run in children of this process: each file is loaded once for all callers, and ended after the last.

A child (``serve``) holds one model: it loads the file, says where it listens, and ends when its parent does.
"""

import atexit
import contextlib
import importlib
import importlib.util
import logging
import os
import secrets
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from selfright.domain.errors import ModelUnavailable, NotEnoughMemory
from selfright.llm.local.gguf import ModelFile
from selfright.processes import ask, end, receive, send, start, usable_cpus

if TYPE_CHECKING:
    import subprocess

_CGROUPS = (
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"), Path("/sys/fs/cgroup/memory/memory.usage_in_bytes")),
)
_MEMINFO = Path("/proc/meminfo")
_MOST_READ = 10_000


def free_memory() -> int | None:
    """Bytes that can be had now, within what a container allows; None where the system does not tell."""
    known = []
    with contextlib.suppress(OSError, ValueError, IndexError):
        lines = (line.split() for line in _read(_MEMINFO).splitlines())
        known += [int(words[1]) * 1_024 for words in lines if words and words[0] == "MemAvailable:"]
    with contextlib.suppress(AttributeError, OSError, ValueError):  # all that is built in: an upper bound
        known.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for limit, used in _CGROUPS:
        with contextlib.suppress(OSError, ValueError):
            known.append(max(0, int(_read(limit)) - int(_read(used))))
    return min(known, default=None)


def _read(path: Path) -> str:
    with path.open(encoding="ascii") as file:
        return file.read(_MOST_READ)


MOST_CONTEXT = 16_384
"""Tokens that a model reads at most: no prompt of ours is longer, and each costs memory."""
LEAST_CONTEXT = 2_048
"""Tokens that it must be able to read for the judges' rules and some evidence."""

_MOST_THREADS = 8
_LOADING_S = 300.0
_MOST_STARTS = 4  # of one model in this process: what dies again and again is left alone
_TIMEOUT_S = 600
_OVERHEAD_BYTES = 400_000_000  # the library, what it computes in, and the prompts that it keeps
_ENTRY = "selfright.llm.local.running:serve"
_CACHE_MIB = 256  # prompts that are kept worked out, so that the next one with the same beginning is read faster
_SEED = 1

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Plan:
    """How a model is run: tokens of context, threads, and bytes that it may allocate beside the file."""

    file: ModelFile
    context: int
    threads: int
    memory: int

    @property
    def key(self) -> tuple[Path, int]:
        """What a running model is shared by."""
        return self.file.path.resolve(), self.context


def plan_memory(file: ModelFile, free: Callable[[], int | None] = free_memory) -> Plan:
    """How ``file`` is run here.

    The context is as long as the file says, at most 16,384 tokens, and shorter where memory is short. Raises
    ``NotEnoughMemory`` when not even 2,048 tokens fit.
    """
    context = min(file.context, MOST_CONTEXT)
    there = free()
    if there is not None:
        least = file.size + _OVERHEAD_BYTES + min(context, LEAST_CONTEXT) * file.cache_bytes
        if least > there:
            raise NotEnoughMemory(
                f"{file.path.name} needs about {_gigabytes(least)} of memory, but {_gigabytes(there)} are free; close "
                "other programs, or use a smaller model or one with fewer bits for each weight (Q4 instead of Q8)"
            )
        while file.size + _OVERHEAD_BYTES + context * file.cache_bytes > there:
            context = max(context // 2, min(context, LEAST_CONTEXT))
    # The file is mapped, but some systems and formats copy it; twice the rest leaves room for what is not foreseen.
    memory = file.size + 2 * (_OVERHEAD_BYTES + context * file.cache_bytes) + 1_000_000_000
    return Plan(file, context, max(1, min(usable_cpus(), _MOST_THREADS)), memory)


def _gigabytes(count: int) -> str:
    return f"{count / 1e9:.1f} GB"


def serve(answers: IO[bytes]) -> None:
    """Loads what the first message asks for, answers with the address or with what went wrong, and waits for the end.

    The server listens on 127.0.0.1 and wants the key of the message, which only the parent has.
    """
    asked = receive(sys.stdin.buffer)
    if asked is None:
        return
    try:
        _bound_memory(asked["memory"])
        server = _load_server(asked)
        send(answers, {"address": server.listening_address})
    except (RuntimeError, MemoryError, OSError, AttributeError, ImportError) as error:
        send(answers, {"failed": f"{type(error).__name__}: {error}"})
        return
    while receive(sys.stdin.buffer) is not None:
        pass
    # What the server holds belongs to this process alone: the system takes it back faster than its own shutdown,
    # which waits for replies that nobody reads any more.
    os._exit(0)


def _load_server(asked: dict[str, Any]) -> Any:
    # Threads of the engine wait for one another many times a token. Those that spin until then wait for one that is not
    # running where something else wants the cores, those that sleep wake too late: a short spin, then sleep. Tokens
    # written a second on two idle cores / on two that something else uses: asleep 25 / 11, spinning 56 / 7 or less,
    # so 54 / 20. Read when the engine loads.
    os.environ["GOMP_SPINCOUNT"] = "2000"
    xllamacpp: Any = importlib.import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = asked["path"]
    params.n_ctx, params.n_parallel = asked["context"], 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = asked["threads"]
    params.n_threads_http = 4
    params.api_keys = [asked["key"]]
    params.cache_ram_mib = _CACHE_MIB
    params.sampling.seed = _SEED  # the same prompt gets the same reply
    params.timeout_read = params.timeout_write = asked["timeout"]
    params.endpoint_slots = params.endpoint_metrics = params.ui = False
    params.offline = True
    params.verbosity = 0
    return xllamacpp.Server(params)


def _bound_memory(most: int) -> None:
    """Nothing that is allocated here may grow beyond ``most`` bytes, where the system can see to it."""
    if importlib.util.find_spec("resource") is None:  # on Windows
        return
    import resource

    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


class RunningModel:
    """One model in a child process, started when it is first needed and again when it died.

    Threads may share one. ``started`` counts how often it was loaded, ``users`` those who borrowed it.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.started = self.users = 0
        self.key = secrets.token_urlsafe(24)
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._address = ""
        self._closed = False

    @property
    def is_alive(self) -> bool:
        """Whether the child runs."""
        return self.pid is not None

    @property
    def pid(self) -> int | None:
        """The child's number while it runs."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    def address(self) -> str:
        """Where the model listens, loaded now if need be: seconds for small ones.

        Raises ``ModelUnavailable`` when it does not load, or died too often.
        """
        with self._lock:
            if not self.is_alive:
                self._end()
                self._start()
            return self._address

    def close(self) -> None:
        """Ends the child; replies in flight are given up."""
        with self._lock:
            self._closed = True
            self._end()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            end(process)

    def _start(self) -> None:
        name = self.plan.file.path.name
        if self._closed:
            raise ModelUnavailable(f"{name} was closed; open Selfright anew to ask it", called=False)
        if self.started >= _MOST_STARTS:
            raise ModelUnavailable(
                f"{name} ended {self.started} times, usually because memory ran out; use a smaller model", called=False
            )
        self.started += 1
        try:
            self._process = start(_ENTRY)
            said = self._load(self._process)
        except OSError as error:
            self._end()
            raise ModelUnavailable(f"{name} could not be started ({type(error).__name__}); try again") from error
        if "address" not in said:
            self._end()
            raise ModelUnavailable(
                f"{name} could not be loaded: a model of kind '{self.plan.file.architecture}' was expected to load "
                f"within {_LOADING_S:.0f} s and {_gigabytes(self.plan.memory)}; get a newer xllamacpp, another file or "
                "a smaller model"
            )
        self._address = said["address"]

    def _load(self, process: "subprocess.Popen[bytes]") -> dict[str, Any]:
        plan = self.plan
        asked = {
            "path": str(plan.file.path),
            "context": plan.context,
            "threads": plan.threads,
            "memory": plan.memory,
            "key": self.key,
            "timeout": _TIMEOUT_S,
        }
        said = ask(process, _LOADING_S, asked)
        if isinstance(said, dict) and "failed" in said:
            log.warning("%s was not loaded: %s", self.plan.file.path.name, said["failed"])
        return said if isinstance(said, dict) else {}


_SHARED: dict[tuple[Path, int], RunningModel] = {}
_SHARING = threading.RLock()  # a backend may be given back by the collector at any moment


def borrow(plan: Plan) -> RunningModel:
    """The running model of this file and context, shared with all who asked before; ``give_back`` it when done."""
    with _SHARING:
        model = _SHARED.setdefault(plan.key, RunningModel(plan))
        model.users += 1
        return model


def give_back(model: RunningModel) -> None:
    """Ends the model when nobody else uses it."""
    with _SHARING:
        model.users -= 1
        if model.users:
            return
        _SHARED.pop(model.plan.key, None)
    model.close()


@atexit.register
def _close_all() -> None:
    for model in list(_SHARED.values()):
        model.close()
