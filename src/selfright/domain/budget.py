"""What a turn may spend, and what it has spent so far."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from selfright.domain.answers import Cost

ASIDE_SHARE = 1 / 3
"""Of the turn's seconds, for calls beside the answer: grading, judging, rewriting."""
_MOST_KINDS = 50


@dataclass(slots=True)
class Meter:
    """Counts one turn's calls, tokens and seconds. One per turn; roles add to it, guards read it.

    ``degraded``: a model was out of reach and an offline role did its job. ``troubles``: what went wrong, by kind.
    ``left_out``: characters of prompts that a model was not shown, because it reads no more, by job.
    """

    max_llm_calls: int
    max_tokens: int
    deadline_s: float
    clock: Callable[[], float] = time.monotonic
    llm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    web_requests: int = 0
    degraded: bool = False
    troubles: dict[str, int] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)
    started: float = field(init=False)
    _aside_s: float = field(init=False, default=0.0)
    _aside_open: int = field(init=False, default=0)
    _aside_since: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        self.started = self.clock()

    @property
    def seconds(self) -> float:
        """Wall time since the turn began."""
        return self.clock() - self.started

    @property
    def deadline_passed(self) -> bool:
        """Whether the turn's time is over."""
        return self.seconds >= self.deadline_s

    @property
    def calls_spent(self) -> bool:
        """Whether only the call that is held back for the final answer is left, or the tokens are used up."""
        tokens = self.prompt_tokens + self.completion_tokens
        return self.llm_calls >= self.max_llm_calls - 1 or tokens >= self.max_tokens

    @property
    def aside_s(self) -> float:
        """Wall time in which calls beside the answer were under way: what judging by a model has taken of the turn."""
        return self._aside_s + (self.clock() - self._aside_since if self._aside_open else 0.0)

    @property
    def aside_left_s(self) -> float:
        """What is left for such calls: a slow model that judges must leave the time to answer."""
        return self.deadline_s * ASIDE_SHARE - self.aside_s

    @contextmanager
    def aside(self) -> Iterator[None]:
        """While a call beside the answer is under way; those side by side count once."""
        if not self._aside_open:
            self._aside_since = self.clock()
        self._aside_open += 1
        try:
            yield
        finally:
            self._aside_open -= 1
            if not self._aside_open:
                self._aside_s += self.clock() - self._aside_since

    def trouble(self, kind: str) -> None:
        """Counts something that went wrong with a model: ``timeout``, ``status 503``, ``unusable evaluate``, …"""
        if kind in self.troubles or len(self.troubles) < _MOST_KINDS:
            self.troubles[kind] = self.troubles.get(kind, 0) + 1

    def cost(self) -> Cost:
        """The bill so far."""
        return Cost(self.llm_calls, self.prompt_tokens, self.completion_tokens, self.web_requests, self.seconds)
