"""A turn's calls, recorded: what was asked (as a digest) and what came, line by line as JSON; and played again.

A ``Player`` answers calls from a recording; what was not recorded is asked anew, or missing.
"""

import asyncio
import json
import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

from selfright.domain.errors import ModelRejected, ModelUnavailable, UsageError, WebUnavailable
from selfright.telemetry.taps import (
    MODEL,
    WEB,
    PortCall,
    digest,
    dump_reply,
    dump_start,
    error_form,
    error_of,
    read_reply,
    read_start,
)

MOST_CALLS = 5_000
_CUT = '{"cut":true}'
_UNFIT = (ValueError, TypeError, KeyError, AttributeError, RecursionError)  # what a form raises that is another one

log = logging.getLogger(__name__)


class Recorder:
    """The tap that writes down. At most 5,000 calls and ``most_bytes`` bytes; what comes after is not recorded.

    ``start`` is what the turn was begun with. A value that cannot be written costs its call's recording, no more.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._lines: list[str] = []
        self._bytes = 0
        self._full = False

    @property
    def lines(self) -> tuple[str, ...]:
        """The recording so far; its last line tells where not everything found room."""
        return (*self._lines, _CUT) if self._full else tuple(self._lines)

    def begin(self, start: Mapping[str, Any]) -> None:
        """Notes what the turn starts from."""
        self._add("start", lambda: {"start": dump_start(start)})

    @contextmanager
    def around(self, call: PortCall) -> Iterator[list[Any]]:
        """See ``Tap``. A call that took too long is cancelled from outside; in a replay it must fail again."""
        replied: list[Any] = []
        try:
            yield replied
        except (Exception, asyncio.CancelledError) as error:
            failure = error if isinstance(error, Exception) else ModelUnavailable("the call was given up")
            self._note(call, lambda: {"error": error_form(failure)})
            raise
        self._note(call, lambda: {"result": dump_reply(call.name, replied[0])})

    def _note(self, call: PortCall, came: Callable[[], Mapping[str, Any]]) -> None:
        said = {"call": call.name, "digest": digest(call.arguments)}
        self._add(call.name, lambda: {**said, **came()})

    def _add(self, name: str, form: Callable[[], Mapping[str, Any]]) -> None:
        if self._full:
            return
        try:
            line = json.dumps(form(), ensure_ascii=False, separators=(",", ":"))
        except _UNFIT as error:
            log.warning("a call of %s was not recorded (%s)", name, type(error).__name__)
            return
        self._bytes += len(line.encode("utf-8", "surrogatepass")) + 1
        self._full = self._bytes > self._most_bytes or len(self._lines) >= MOST_CALLS
        if not self._full:
            self._lines.append(line)


class NotRecordedError(ModelRejected):
    """A model would have to be called for what the recording does not hold."""


Reply = tuple[Any, Exception | None]
"""What came of a call: a result, or an error."""


class Recording:
    """The calls of a turn, read back. Lines that cannot be read are left out, as if they had not been recorded.

    ``damaged`` counts them; ``cut``: the turn made more calls than found room. ``replies`` are what came each time, in
    order, by the call's name and the digest of its arguments.
    """

    def __init__(self, lines: Iterable[Mapping[str, Any]]) -> None:
        self.start: Mapping[str, Any] | None = None
        self.damaged = 0
        self.cut = False
        self.replies: defaultdict[tuple[str, str], list[Reply]] = defaultdict(list)
        for line in lines:
            try:
                self._take(line)
            except _UNFIT:
                self.damaged += 1

    def _take(self, line: Mapping[str, Any]) -> None:
        if "cut" in line:
            self.cut = True
        elif "start" in line:
            self.start = read_start(line["start"])
        else:
            name, failed = str(line["call"]), "error" in line
            reply = (None, error_of(line["error"])) if failed else (read_reply(name, line["result"]), None)
            self.replies[name, str(line["digest"])].append(reply)


class Player:
    """The tap that answers from a recording.

    ``may_ask`` says of a port whether it may be asked for what was not recorded; what may not be asked is ``missing``,
    by job or port. Where the same was asked several times, replies come in turn, and the last one again
    and again. ``reused`` counts the calls of each port that the recording answered, ``asked`` those made anew.
    """

    def __init__(self, recording: Recording, may_ask: Callable[[str], bool]) -> None:
        self._recording = recording
        self._may_ask = may_ask
        self._turns: Counter[tuple[str, str]] = Counter()
        self.reused: Counter[str] = Counter()
        self.asked: Counter[str] = Counter()
        self.missing: list[str] = []

    def mark(self) -> Callable[[], None]:
        """A way back to here: what it gives forgets all that was played since."""
        kept = deepcopy((self._turns, self.reused, self.asked, self.missing))

        def back() -> None:
            self._turns, self.reused, self.asked, self.missing = deepcopy(kept)

        return back

    @contextmanager
    def around(self, call: PortCall) -> Iterator[list[Any]]:
        """See ``Tap``; raises what was raised."""
        yield self._find_reply(call)

    def _find_reply(self, call: PortCall) -> list[Any]:
        key = (call.name, digest(call.arguments))
        replies, turn = self._recording.replies.get(key), self._turns[key]
        if not replies:
            self._require(call)
            self.asked[call.port] += 1
            return []
        self._turns[key] += 1
        self.reused[call.port] += 1
        result, error = replies[min(turn, len(replies) - 1)]
        if error is not None:
            raise error
        return [result]

    def _require(self, call: PortCall) -> None:
        if self._may_ask(call.port):
            return
        job = str(getattr(call.arguments[1], "job", "")) if call.port == MODEL else call.name
        self.missing.append(job)
        message = f"the recording has no reply for '{job}'; replay with --live to ask for it"
        if call.port == MODEL:
            raise NotRecordedError(message)
        raise WebUnavailable(message) if call.port == WEB else UsageError(message)
