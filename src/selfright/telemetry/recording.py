"""A turn's calls, recorded: what was asked (as a digest) and what came, line by line as JSON."""

import asyncio
import json
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from selfright.domain.errors import ModelUnavailable
from selfright.telemetry.coding import Packer, digest, error_form
from selfright.telemetry.taps import PortCall

T = TypeVar("T")

MOST_CALLS = 5_000
_CUT = '{"cut":true}'

log = logging.getLogger(__name__)

_visit: ContextVar[tuple[str, int]] = ContextVar("selfright_visit", default=("", 0))


class Visits:
    """Which node runs, and for which time, told to whatever is called from inside it."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    @contextmanager
    def visiting(self, node: str) -> Iterator[None]:
        """Around a node's run."""
        self._counts[node] += 1
        token = _visit.set((node, self._counts[node]))
        try:
            yield
        finally:
            _visit.reset(token)


def visit() -> tuple[str, int]:
    """The node that runs here, and how often it has by now; an empty name outside of nodes."""
    return _visit.get()


class Recorder:
    """The tap that writes down. At most 5,000 calls and ``most_bytes`` bytes; what comes after is not recorded.

    ``start`` is what the turn was begun with. A value that cannot be written costs its call's recording, no more.
    """

    def __init__(self, most_bytes: int) -> None:
        self._packer = Packer()
        self._most_bytes = most_bytes
        self._lines: list[str] = []
        self._bytes = 0
        self._full = False

    @property
    def observer(self) -> None:
        """Nobody: what a role makes of a model's replies follows from them."""

    @property
    def lines(self) -> tuple[str, ...]:
        """The recording so far; its last line tells where not everything found room."""
        return (*self._lines, _CUT) if self._full else tuple(self._lines)

    def begin(self, start: Mapping[str, Any]) -> None:
        """Notes what the turn starts from."""
        self._add("start", lambda: {"start": self._packer.packed(dict(start))})

    async def call(self, call: PortCall, ask: Callable[[], Awaitable[T]]) -> T:
        """The port's own reply, written down."""
        try:
            result = await ask()
        except asyncio.CancelledError:
            # A call that took too long is cancelled from outside; in a replay it must fail again.
            self._failed(call, ModelUnavailable("the call was given up"))
            raise
        except Exception as error:
            self._failed(call, error)
            raise
        self._replied(call, result)
        return result

    def call_now(self, call: PortCall, ask: Callable[[], T]) -> T:
        """As ``call``."""
        try:
            result = ask()
        except Exception as error:
            self._failed(call, error)
            raise
        self._replied(call, result)
        return result

    def _replied(self, call: PortCall, result: object) -> None:
        self._add(call.name, lambda: {**_asked(call), "result": self._packer.packed(result)})

    def _failed(self, call: PortCall, error: Exception) -> None:
        self._add(call.name, lambda: {**_asked(call), "error": error_form(error)})

    def _add(self, name: str, form: Callable[[], Mapping[str, Any]]) -> None:
        if self._full:
            return
        try:
            line = json.dumps(form(), ensure_ascii=False, separators=(",", ":"))
        except (TypeError, RecursionError) as error:
            log.warning("a call of %s was not recorded: %s", name, error)
            return
        self._bytes += len(line.encode("utf-8", "surrogatepass")) + 1
        self._full = self._bytes > self._most_bytes or len(self._lines) >= MOST_CALLS
        if not self._full:
            self._lines.append(line)


def _asked(call: PortCall) -> dict[str, Any]:
    node, time = visit()
    return {"call": call.name, "digest": digest(call.arguments), "node": node, "visit": time}
