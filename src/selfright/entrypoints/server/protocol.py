"""Uvicorn's HTTP/1.1, with bounds on how long a request's head may take to come, and a reply to be taken."""

import asyncio
from typing import Any

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState


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
