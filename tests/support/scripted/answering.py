"""What is done with a connection: requests read one after the other, checked, and answered."""

import asyncio
import hmac
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tests.support.scripted import http, replies
from tests.support.scripted.faults import Fault, answer
from tests.support.scripted.http import Head, Wire
from tests.support.scripted.replies import Said, said
from tests.support.scripted.requests import CHAT, Log, Request, read_object
from tests.support.scripted.rules import Plain, Script

log = logging.getLogger(__name__)

_IDLE_S = 120.0


class _Refused(Exception):
    """The request is answered with an error of OpenAI's form."""

    def __init__(self, status: int, message: str, *, code: str | None = None, param: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.body = replies.error(status, message, code=code, param=param)


@dataclass
class Answering:
    """Answers connections by ``script``, which may be replaced at any time. The rest is as ``ScriptedServer`` says."""

    script: Script
    log: Log
    latency_s: float | Callable[[Request], float]
    pace_s: float
    key: str | None

    async def converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serves one connection until either side ends it. Raises ``OSError`` when the client breaks it off."""
        keeps_alive = True
        while keeps_alive:
            try:
                async with asyncio.timeout(_IDLE_S):
                    head = await http.read_head(reader)
                    body = await http.read_body(head, reader)
            except (TimeoutError, EOFError):
                return
            request = Request(0, head.method, head.path, started=time.monotonic())
            wire = Wire(reader, writer, request, keeps_alive=head.keeps_alive, pace_s=self.pace_s)
            await self._serve(head, body, wire)
            keeps_alive = wire.keeps_alive
        await writer.drain()

    async def _serve(self, head: Head, body: bytes, wire: Wire) -> None:
        request = wire.request
        request.body = read_object(body) or {}
        self.log.arrive(request)
        try:
            self._admit(head, request)
            await self._say(wire)
        except _Refused as error:
            await wire.respond(error.status, error.body)
        finally:
            self.log.leave(request)

    def _admit(self, head: Head, request: Request) -> None:
        """Checks all that can be told before an answer is thought of."""
        if (head.method, head.path) != ("POST", f"/v1{CHAT}"):
            raise _Refused(404, f"there is nothing here but POST /v1{CHAT}", code="unknown_url")
        given = head.headers.get("authorization", "").removeprefix("Bearer ").strip()
        if self.key is not None and not hmac.compare_digest(given.encode(), self.key.encode()):
            raise _Refused(401, "the key is missing or wrong", code="invalid_api_key")
        if not request.body.get("messages"):
            raise _Refused(400, "the body should be a JSON object with 'messages'", param="messages")

    async def _say(self, wire: Wire) -> None:
        request = wire.request
        try:
            reply = self.script.reply(request)
            wire.said = self._meant(reply, request)
        except Exception as error:
            log.exception("a rule failed")
            raise _Refused(500, f"a rule of the scripted server raised {type(error).__name__}") from error
        await self._wait(wire)
        if isinstance(reply, Fault):
            request.fault = type(reply).__name__
            await reply.play(wire)
        else:
            await answer(wire.said, wire)

    def _meant(self, reply: Plain, request: Request) -> Said:
        """What a sound answer would say, also where a fault will spoil it."""
        if isinstance(reply, Fault):
            return said(request, self.script.default(request))
        if isinstance(reply, Said):
            return reply
        if isinstance(reply, str | Mapping):
            return said(request, reply)
        raise TypeError(f"a reply should be text, an object, Said, a fault or Damaged, not {type(reply).__name__}")

    async def _wait(self, wire: Wire) -> None:
        latency = self.latency_s(wire.request) if callable(self.latency_s) else self.latency_s
        if latency > 0:
            await asyncio.sleep(latency)
