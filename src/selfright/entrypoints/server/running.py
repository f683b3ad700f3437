"""The service run by uvicorn: where it may listen, how long a request may take to come, and how it ends."""

import asyncio
import contextlib
import gc
import ipaddress
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from selfright.domain.errors import IndexNotFound, UsageError
from selfright.entrypoints.server import logging
from selfright.entrypoints.server.admission import Limits
from selfright.entrypoints.server.app import create_app, limits_of
from selfright.entrypoints.server.authentication import is_here
from selfright.entrypoints.server.keys import Keys, open_keys
from selfright.entrypoints.server.service import Service

if TYPE_CHECKING:
    from selfright.api import Selfright


class _PatientProtocol(H11Protocol):
    """Hangs up on who does not send the head of a request in ``head_s`` seconds, or read its reply in ``send_s``.

    Uvicorn itself waits for ever for one that says nothing, or a byte a minute, and for one that takes nothing.
    """

    head_s: float
    send_s: float

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._patience: asyncio.TimerHandle | None = None
        self._stuck: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]:
            self._wait()
        else:
            self._waited()

    def connection_lost(self, exc: Exception | None) -> None:
        self._waited()
        self._moved()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stuck = self._stuck or self.loop.call_later(self.send_s, self.transport.abort)

    def resume_writing(self) -> None:
        self._moved()
        super().resume_writing()

    def _wait(self) -> None:
        self._patience = self._patience or self.loop.call_later(self.head_s, self._hang_up)

    def _waited(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _moved(self) -> None:
        if self._stuck is not None:
            self._stuck.cancel()
            self._stuck = None

    def _hang_up(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()


def patient_protocol(head_s: float, send_s: float) -> type[asyncio.Protocol]:
    """The protocol with these bounds, in seconds: Uvicorn takes a class and makes the objects itself."""
    return type("PatientProtocol", (_PatientProtocol,), {"head_s": head_s, "send_s": send_s})


_BACKLOG = 1_024
_MOST_HEAD_BYTES = 32_768
_COLLECT_AFTER = 5_000  # new objects; Python's own 700 costs 3 % of a core with 20 turns at once


class Server(uvicorn.Server):
    """Uvicorn, ending with exit code 0 on SIGTERM and SIGINT once the turns that run are finished.

    A second SIGINT, or SIGTERM, breaks them off.
    """

    def __init__(self, config: uvicorn.Config, service: Service, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._service, self._ready = service, ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Uvicorn's; then says where it listens."""
        await super().startup(sockets)
        self._ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Finishes what runs; told a second time, breaks it off."""
        del sig, frame
        self.force_exit = self.should_exit
        self._service.draining = self.should_exit = True

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Listens for the signals that end the service; uvicorn's own would end the process with the signal again."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {each: signal.signal(each, self.handle_exit) for each in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)


def serve(
    selfright: "Selfright",
    host: str,
    port: int,
    tell: Callable[[str], None],
    limits: Limits | None = None,
    given: socket.socket | None = None,
) -> None:
    """Serves until a signal ends it; closes the Selfright. ``tell`` hears the URL once it listens.

    ``given`` is a socket that listens already.

    Raises ``UsageError`` for an address that others can reach while there is no key, and for one that cannot be had,
    ``InputError`` when the keys are gone, and what opening the index raises.
    """
    limits = limits or limits_of(selfright.settings)
    keys = open_keys(selfright.settings)
    try:
        keyed = _checked(keys, host)
        with contextlib.suppress(IndexNotFound):
            selfright.prepare()
        listening = given or listen(host, port)
    except BaseException:
        keys.close()
        selfright.close()
        raise

    def ready() -> None:
        settle_memory()
        tell(url_of(host, listening))

    logging.begin()
    with listening:
        app = create_app(selfright, limits, keys, keyed=keyed)
        server_of(app, limits, ready).run(sockets=[listening])


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


def server_of(app: FastAPI, limits: Limits, ready: Callable[[], None]) -> Server:
    """The server for a service; ``ready`` is called once it listens."""
    return Server(_config(app, limits), app.state.service, ready)


def _checked(keys: Keys, host: str) -> bool:
    """Whether keys are asked for; refuses to be open to others."""
    keys.check_there()
    keyed = keys.any()
    if not keyed and not _is_loopback(host):
        raise UsageError(
            f"without a key the service listens for this machine only, not on '{host}'; make one with "
            "'selfright keys add --user NAME --admin', or serve on 127.0.0.1"
        )
    return keyed


def _config(app: FastAPI, limits: Limits) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=patient_protocol(limits.head_s, limits.send_s),
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
        h11_max_incomplete_event_size=_MOST_HEAD_BYTES,
    )


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there. Raises ``UsageError`` when it cannot be had."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family, backlog=_BACKLOG)
        # asyncio sets this on sockets that it opens itself only. Connections inherit it here: without it the body of a
        # reply waits for the caller to acknowledge its head, which takes 40 ms.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listening
    except OSError as error:
        raise UsageError(
            f"cannot listen on {host}, port {port} ({error.strerror or error}); choose another --port"
        ) from None


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return is_here(host)
