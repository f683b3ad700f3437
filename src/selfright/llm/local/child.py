"""The process that holds one model: it loads the file, says where it listens, and ends when its parent does."""

import contextlib
import importlib
import importlib.util
import os
import sys
from typing import IO, Any

from selfright.processes import receive, send

_CACHE_MIB = 256  # prompts that are kept worked out, so that the next one with the same beginning is read faster
_SEED = 1


def serve(answers: IO[bytes]) -> None:
    """Loads what the first message asks for, answers with the address or with what went wrong, and waits for the end.

    The server listens on 127.0.0.1 and wants the key of the message, which only the parent has.
    """
    asked = receive(sys.stdin.buffer)
    if asked is None:
        return
    try:
        _bound_memory(asked["memory"])
        server = _load(asked)
        send(answers, {"address": server.listening_address})
    except (RuntimeError, MemoryError, OSError, AttributeError, ImportError) as error:
        send(answers, {"failed": f"{type(error).__name__}: {error}"})
        return
    while receive(sys.stdin.buffer) is not None:
        pass
    # What the server holds belongs to this process alone: the system takes it back faster than its own shutdown,
    # which waits for replies that nobody reads any more.
    os._exit(0)


def _load(asked: dict[str, Any]) -> Any:
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
