"""Resilience against services that fail: how long to wait before another try, and circuit breakers.

A provider that failed often enough just before is left alone for a while, then tried by one call. Its breaker goes
closed → open after some failures in a row → half open after the pause, when one call may try → closed again, or open
for twice as long.
"""

import math
import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


class Breaker:
    """One provider's breaker. Who may call holds a ticket and must give it back in one of four ways.

    A ticket from before the breaker last opened or closed tells nothing new and is ignored, so that fifty calls that
    fail together open it once. Threads and event loops may share one; nothing here waits.
    """

    def __init__(
        self,
        failures: int = 3,
        cooldown_s: float = 20.0,
        longest_s: float = 300.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._failures, self._cooldown, self._longest, self._clock = failures, cooldown_s, longest_s, clock
        self._lock = threading.Lock()
        self._in_a_row = 0
        self._pause = cooldown_s
        self._until: float | None = None  # None: closed
        self._period = 0

    def admit(self) -> int | None:
        """A ticket for one call, None while the provider is left alone."""
        with self._lock:
            if self._until is None:
                return self._period
            now = self._clock()
            if now < self._until:
                return None
            self._period += 1
            self._until = now + self._longest  # a trial whose ticket never comes back does not block for good
            return self._period

    @property
    def blocked_for(self) -> float:
        """Seconds until a call may try again; 0 when it may now."""
        with self._lock:
            return 0.0 if self._until is None else max(0.0, self._until - self._clock())

    def note_success(self, ticket: int) -> None:
        """The provider answered, whatever it said."""
        with self._lock:
            if ticket == self._period:
                self._in_a_row = 0
                self._pause = self._cooldown
                self._period += self._until is not None
                self._until = None

    def note_failure(self, ticket: int, asked_s: float | None = None) -> None:
        """The provider could not be reached or could not answer; one that asked for ``asked_s`` is left alone."""
        with self._lock:
            if ticket == self._period:
                self._in_a_row += 1
                if self._until is not None or self._in_a_row >= self._failures or asked_s is not None:
                    self._open(asked_s)

    def note_rejection(self, ticket: int) -> None:
        """The provider does not accept the key (401, 403): a wrong key stays wrong, so no more calls for now."""
        with self._lock:
            if ticket == self._period:
                self._open()

    def release(self, ticket: int) -> None:
        """The call ended without telling anything: it was cancelled, or there was too little time for it."""
        with self._lock:
            if ticket == self._period and self._until is not None:
                self._until = self._clock()

    def _open(self, asked_s: float | None = None) -> None:
        if self._until is not None:  # the trial failed
            self._pause = min(2 * self._pause, self._longest)
        self._period += 1
        self._in_a_row = 0
        self._until = self._clock() + min(asked_s or self._pause, self._longest)


def pause(attempt: int, first_s: float, longest_s: float, random: Callable[[], float]) -> float:
    """Seconds before the next try after ``attempt`` failures: from 0 to ``first_s · 2^(attempt-1)`` (full jitter)."""
    drawn: float = random() * min(longest_s, first_s * 2 ** (attempt - 1))
    return drawn


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that a reply asks to wait, by its headers in small letters; None where they say nothing usable."""
    if (milliseconds := seconds_in(headers.get("retry-after-ms", ""))) is not None:
        return milliseconds / 1_000
    text = headers.get("retry-after", "").strip()
    seconds = seconds_in(text)
    return _until(text) if seconds is None else seconds


def seconds_in(text: str) -> float | None:
    """The seconds that a text names, 0 or more; None for what is no finite number."""
    try:
        value = float(text)
    except ValueError:
        return None
    return max(value, 0.0) if math.isfinite(value) else None


def _until(text: str) -> float | None:
    """Seconds from now to an HTTP date."""
    try:
        moment = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    return max((moment.replace(tzinfo=moment.tzinfo or UTC) - datetime.now(UTC)).total_seconds(), 0.0)
