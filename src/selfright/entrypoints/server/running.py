"""The service run by uvicorn: where it may listen, and how it ends."""

import contextlib
import ipaddress
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TYPE_CHECKING

import uvicorn
from fastapi import FastAPI

from selfright.domain.errors import IndexNotFound, UsageError
from selfright.entrypoints.server import logging
from selfright.entrypoints.server.app import create_app, limits_of
from selfright.entrypoints.server.authentication import is_here
from selfright.entrypoints.server.keys import Keys
from selfright.entrypoints.server.keys_in_database import open_keys
from selfright.entrypoints.server.limits import Limits
from selfright.entrypoints.server.protocol import patient_protocol
from selfright.entrypoints.server.service import Service

if TYPE_CHECKING:
    from selfright.api import Selfright

_BACKLOG = 1_024
_MOST_HEAD_BYTES = 32_768


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
    and what opening the index raises.
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
    url = url_of(host, listening)
    logging.begin()
    with listening:
        app = create_app(selfright, limits, keys, keyed=keyed, close=True)
        server_of(app, limits, lambda: tell(url)).run(sockets=[listening])


def url_of(host: str, listening: socket.socket) -> str:
    """Where it can be reached."""
    return f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"


def server_of(app: FastAPI, limits: Limits, ready: Callable[[], None]) -> Server:
    """The server for a service; ``ready`` is called once it listens."""
    return Server(_config(app, limits), app.state.service, ready)


def _checked(keys: Keys, host: str) -> bool:
    """Whether keys are asked for; refuses to be open to others."""
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
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        raise UsageError(
            f"cannot listen on {host}, port {port} ({error.strerror or error}); choose another --port"
        ) from None


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return is_here(host)
