"""The service run by uvicorn, in one process or several: where it may listen, and how it ends."""

import gc
import multiprocessing
import os
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import uvicorn
from fastapi import FastAPI
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess

from selfright.domain.errors import IndexNotFound, SelfrightError, ServiceError, UsageError
from selfright.server import logging
from selfright.server.admission import Limits, limits_of, shared
from selfright.server.app import create_app
from selfright.server.authentication import is_here
from selfright.server.keys import Keys, open_keys
from selfright.server.metrics import METRICS_FOLDER

if TYPE_CHECKING:
    from selfright.api.selfright import Selfright

_BACKLOG = 1_024
_MOST_HEAD_BYTES = 32_768
_COLLECT_AFTER = 5_000  # new objects; Python's own 700 costs 3 % of a core with 20 turns at once
_WORKER_ANSWERS_S = 30  # a worker that says nothing for so long is replaced


def serve(selfright: "Selfright", host: str, port: int, tell: Callable[[str], None]) -> None:
    """Serves until SIGTERM or SIGINT, then until the running turns are finished; closes the Selfright.

    ``tell`` hears the URL once it listens. Raises ``UsageError`` for an address that others can reach while there is
    no key, ``ServiceError`` for one that cannot be had, ``InputError`` when the keys are gone, and what opening the
    index raises.
    """
    keys = open_keys(selfright.settings)
    try:
        keyed = check_keys(keys, host)
        with suppress(IndexNotFound):
            selfright.prepare()
        listening = listen(host, port)
    except BaseException:
        keys.close()
        selfright.close()
        raise

    def ready() -> None:
        settle_memory()
        tell(url_of(host, listening))

    logging.begin()
    limits = limits_of(selfright.settings)
    app = create_app(selfright, limits, keys, keyed=keyed, ready=ready)
    with listening, _signals_end_well():
        uvicorn.Server(server_config(app, limits)).run([listening])


def serve_by_workers(
    values: Mapping[str, Any], workers: int, host: str, port: int, tell: Callable[[str], None]
) -> None:
    """As ``serve``, by several processes that accept connections of one socket; ``values`` open each one's Selfright.

    A worker that dies is replaced. Raises ``ServiceError`` where a worker cannot start.
    """
    from selfright.api.selfright import Selfright

    with Selfright.open(**values) as selfright, closing(open_keys(selfright.settings)) as keys:
        keyed, limits = check_keys(keys, host), limits_of(selfright.settings)
    with listen(host, port) as listening, tempfile.TemporaryDirectory(prefix="selfright-metrics-") as folder:
        os.environ[METRICS_FOLDER] = folder
        make = partial(_worker, dict(values), workers, keyed)
        config = server_config(make, shared(limits, workers), factory=True, workers=workers)
        supervisor = Multiprocess(config, [listening])
        tell(url_of(host, listening))
        supervisor.run()
    if any(each.exitcode == STARTUP_FAILURE for each in supervisor.processes):
        raise ServiceError("a worker could not start, for the reason above")


def _worker(values: Mapping[str, Any], workers: int, keyed: bool) -> FastAPI:
    """What one of several processes serves; it ends when the process that started it is gone."""
    from selfright.api.selfright import Selfright

    def ready() -> None:
        settle_memory()
        logging.note("worker ready", pid=os.getpid())

    logging.begin()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        selfright = Selfright.open(**values)
        with suppress(IndexNotFound):
            selfright.prepare()
        return create_app(selfright, shared(limits_of(selfright.settings), workers), keyed=keyed, ready=ready)
    except SelfrightError as error:
        sys.stderr.write(f"selfright: {error}\n")
        raise SystemExit(STARTUP_FAILURE) from None


def _end_with_parent() -> None:
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


@contextmanager
def _signals_end_well() -> Iterator[None]:
    """Uvicorn raises the signal that ended it once more when all is finished: that is no failure here."""
    before = {each: signal.signal(each, lambda *_: None) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def settle_memory() -> None:
    """What is loaded now stays and is not looked through again, so garbage can be looked for more often.

    The command line waits for 50,000 new objects, which a service makes in an hour: every closed connection leaves a
    cycle of objects (asyncio's), and they would lie about until then.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_COLLECT_AFTER)


def url_of(host: str, listening: socket.socket) -> str:
    """Where it can be reached."""
    return f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"


def server_config(
    app: FastAPI | Callable[[], FastAPI], limits: Limits, *, factory: bool = False, workers: int = 1
) -> uvicorn.Config:
    """How uvicorn serves an app, or with ``factory`` what makes one in each worker."""
    return uvicorn.Config(
        app,
        factory=factory,
        workers=workers,
        http="h11",
        ws="none",
        loop="asyncio",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=limits.connections,
        backlog=_BACKLOG,
        timeout_keep_alive=limits.idle_s,
        timeout_graceful_shutdown=limits.grace_s,
        timeout_worker_healthcheck=_WORKER_ANSWERS_S,
        h11_max_incomplete_event_size=_MOST_HEAD_BYTES,
    )


def check_keys(keys: Keys, host: str) -> bool:
    """Whether keys are asked for. Raises ``UsageError`` where the service would be open to others."""
    keys.check_there()
    keyed = keys.any()
    if not keyed and not is_here(f"[{host}]" if ":" in host else host):
        raise UsageError(
            f"without a key the service listens for this machine only, not on '{host}'; make one with "
            "'selfright keys add --user NAME --admin', or serve on 127.0.0.1"
        )
    return keyed


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there. Raises ``ServiceError`` when it cannot be had."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        why = (error.strerror or str(error)).partition(" (while")[0]
        raise ServiceError(f"cannot listen on {host}, port {port} ({why}); choose another --port") from None
    # asyncio sets this on sockets that it opens itself only. Connections inherit it here: without it the body of a
    # reply waits for the caller to acknowledge its head, which takes 40 ms.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening
