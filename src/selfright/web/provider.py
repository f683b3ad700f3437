"""What a provider of results gives, and how it is asked: at its own pace, again when that may help."""

import asyncio
import json
import random
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar, Protocol
from urllib.parse import urlencode

from selfright.domain.errors import (
    PageRefused,
    PageUnusable,
    SettingsError,
    WebError,
    WebRejected,
    WebReplyUnusable,
    WebUnavailable,
)
from selfright.resilience import Breaker, pause, retry_after
from selfright.web.addresses import target_of
from selfright.web.page_index import clean_title, plain
from selfright.web.politeness import HostThrottle
from selfright.web.types import Reply, Request, RequestCounter

if TYPE_CHECKING:
    from selfright.web.guard import Guard

MOST = 20
"""Results that are asked of a provider at most."""


@dataclass(frozen=True, slots=True)
class Result:
    """One line of a page of results: ``url`` is safe to show, ``title`` and ``snippet`` are plain text."""

    url: str
    title: str
    snippet: str = ""


class Provider(Protocol):
    """A search engine behind its own interface."""

    @property
    def name(self) -> str:
        """What traces and messages call it."""

    async def results(self, query: str, count: int, tally: RequestCounter) -> tuple[Result, ...]:
        """At most ``count`` results, best first; empty when there are none.

        Raises ``WebUnavailable``, ``WebRejected`` or ``WebReplyUnusable``, nothing else.
        """


Row = tuple[Any, Any, Any]
"""URL, title and snippet as a provider gave them, whatever they are."""


def clean_rows(rows: Iterable[Row], count: int) -> tuple[Result, ...]:
    """At most ``count`` results. What has no http(s) address goes, and so does the second one of an address."""
    found: dict[str, Result] = {}
    for url, title, snippet in rows:
        if not isinstance(url, str) or len(found) >= count:
            continue
        try:
            target = target_of(url.strip())
        except PageRefused:
            continue
        name = clean_title(plain(title)) if isinstance(title, str) else ""
        text = plain(snippet) if isinstance(snippet, str) else ""
        found.setdefault(target.url, Result(target.url, name or target.host, text))
    return tuple(found.values())


_PATIENCE_S = 20.0
_REST_S = 30.0
_LONGEST_REST_S = 600.0
_NO_KEY = (401, 402, 403, 432, 433)
_PASSING = (408, 425, 429)  # of the 4xx, those that may be otherwise later


_ATTEMPTS, _SECONDS = 3, 15.0  # for one search
_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.5, 5.0


class Service(ABC):
    """A service that searches the web, a ``Provider``; asked at ``base_url`` through ``transport``.

    Three times at most: the n-th pause is drawn from 0 to 0.5 · 2^(n-1) seconds (full jitter), or is what
    ``Retry-After`` asks for; when that is more than 5 s, the service is left alone for so long. Thread-safe; holds
    nothing of an event loop. Raises ``SettingsError`` for a ``base_url`` that cannot be used.
    """

    name: ClassVar[str]
    base_url: ClassVar[str] = ""
    """Where it listens unless told otherwise; empty for one without a place of its own."""
    key_variable: ClassVar[str] = ""
    """What its key stands in; empty without one."""
    advice: ClassVar[str]
    """What to do when it turns a search down."""
    apart_s: ClassVar[float] = 0.2
    """Seconds between two searches."""

    def __init__(
        self,
        base_url: str,
        transport: "Guard",
        key: str = "",
        *,
        apart_s: float | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        try:
            target_of(base_url)
        except PageRefused as error:
            raise SettingsError(f"the base URL of {self.name} cannot be used: {error}") from None
        self._base, self._transport, self._key = base_url.rstrip("/"), transport, key
        self._sleep, self._clock = sleep, clock
        self._breaker = Breaker(cooldown_s=_REST_S, longest_s=_LONGEST_REST_S, clock=clock)
        apart_s = self.apart_s if apart_s is None else apart_s
        self._throttle = HostThrottle(at_once=4, in_all=4, apart_s=apart_s, patience_s=_PATIENCE_S)

    async def results(self, query: str, count: int, tally: RequestCounter) -> tuple[Result, ...]:
        """See ``Provider``; an error says how many requests were made."""
        try:
            return clean_rows(await self._search(query, min(count, MOST), tally), count)
        except WebError as error:
            error.requests = tally.requests
            raise

    @abstractmethod
    async def _search(self, query: str, count: int, tally: RequestCounter, /) -> Iterable[Row]: ...

    async def _json(
        self, method: str, path: str, said: Mapping[str, Any], headers: Mapping[str, str], tally: RequestCounter
    ) -> Any:
        """The JSON that ``path`` answers to a query (GET), or to a body of JSON."""
        body = None
        if method == "GET":
            path = f"{path}?{urlencode(said)}"
        else:
            body = json.dumps(said, ensure_ascii=False).encode("utf-8", "replace")
            headers = {"Content-Type": "application/json", **headers}
        reply = await self._ask(method, path, headers, body, tally)
        try:
            return json.loads(reply.body)
        except (ValueError, RecursionError):
            raise WebReplyUnusable(f"{self.name} answered with something that is no JSON; check its base URL") from None

    def _rows(self, data: Any, *path: str, snippet: str, optional: bool = False) -> list[Row]:
        """The results in the list of objects at ``path``; where ``optional``, a missing list is empty.

        Raises ``WebReplyUnusable`` when something else is there.
        """
        value = data
        for step in path:
            value = value.get(step) if isinstance(value, dict) else ()
            if optional and value is None:
                return []
        if not isinstance(value, list):
            raise WebReplyUnusable(f"{self.name} answered without the list '{'.'.join(path)}' of results")
        return [(row.get("url"), row.get("title"), row.get(snippet)) for row in value if isinstance(row, dict)]

    async def _ask(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | None, tally: RequestCounter
    ) -> Reply:
        """The reply with status 200. Raises ``WebUnavailable`` or ``WebRejected``."""
        target = target_of(self._base + path)
        request = Request(target, method, {"Accept": "application/json", **headers}, body)
        ticket = self._breaker.admit()
        if ticket is None:
            left = self._breaker.blocked_for
            raise WebUnavailable(
                f"{self.name} was not asked: it failed just before and is left alone for another {left:.0f} s",
                retry_after=left,
            )
        report: Callable[[int], None] = self._breaker.release  # of a search that was cancelled
        try:
            reply = await self._request(request, tally)
            report = self._breaker.note_success
        except WebRejected as error:
            report = self._breaker.note_rejection if error.status in _NO_KEY else self._breaker.note_failure
            raise
        except WebUnavailable as error:
            report = partial(self._breaker.note_failure, asked_s=error.retry_after)
            raise
        finally:
            report(ticket)
        return reply

    async def _request(self, request: Request, tally: RequestCounter) -> Reply:
        last = self._clock() + _SECONDS
        for attempt in count(1):
            try:
                return await self._attempt(request, tally)
            except WebUnavailable as error:
                wait = pause(attempt, _FIRST_WAIT_S, _LONGEST_WAIT_S, random.random)
                wait = max(wait, error.retry_after or 0.0)
                if attempt == _ATTEMPTS or wait > _LONGEST_WAIT_S or self._clock() + wait > last:
                    raise
            await self._sleep(wait)
        raise AssertionError("unreachable")

    async def _attempt(self, request: Request, tally: RequestCounter) -> Reply:
        try:
            async with self._throttle.place(self.name):
                reply = await self._transport.exchange(request, tally)
        except PageRefused as error:
            raise WebRejected(f"{self.name} was not asked: {error}") from None
        except PageUnusable as error:
            raise WebUnavailable(f"{self.name} cannot be asked: {error}") from None
        if reply.status == 200:
            return reply
        if reply.status >= 500 or reply.status in _PASSING or reply.status == 202:
            raise WebUnavailable(
                f"{self.name} answered with status {reply.status}; try again later",
                status=reply.status,
                retry_after=retry_after(reply.headers),
            )
        why = f"{self.name} turned the search down with status {reply.status}; {self.advice}"
        raise WebRejected(why, status=reply.status)


def key_from(environment: Mapping[str, str], variable: str, provider: str) -> str:
    """A provider's key. Raises ``SettingsError`` when it is missing or cannot stand in a header."""
    key = environment.get(variable, "").strip()
    if not key:
        raise SettingsError(f"web_provider '{provider}' needs its key in the environment variable {variable}")
    if not key.isascii() or not key.isprintable() or " " in key:
        raise SettingsError(f"{variable} holds characters that no key has; copy the key again")
    return key
