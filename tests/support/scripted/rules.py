"""Rules: which request gets which reply."""

import re
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tests.support.scripted.damage import damaged
from tests.support.scripted.faults import Fault
from tests.support.scripted.replies import Said
from tests.support.scripted.requests import Request


@dataclass(frozen=True)
class Damaged:
    """A reply: ``of``, or else what the fake model says, spoilt in the way ``kind`` names (see ``damage.DAMAGES``).

    An object that has nothing that this kind can spoil is sent whole.
    """

    kind: str
    of: Mapping[str, Any] | None = None


Plain = str | Mapping[str, Any] | Said | Fault | Damaged
Reply = Plain | Callable[[Request], Plain | None]
"""Text, an object (sent as JSON), exactly what is said, a fault, damage, or a function of the request.

A function that gives None leaves the request to the fake model.
"""


@dataclass(frozen=True)
class When:
    """Which requests: all that is given must hold. ``user`` and ``system`` are searched for as regular expressions.

    ``job`` is the schema's title. ``nth`` counts, from 1, the calls for which the rest holds.
    """

    job: str | None = None
    user: str | None = None
    system: str | None = None
    model: str | None = None
    form: str | None = None
    stream: bool | None = None
    nth: int | Collection[int] | None = None

    def matches(self, request: Request) -> bool:
        """Whether ``request`` is one of them, ``nth`` aside."""
        exact = ((self.job, request.job), (self.model, request.model), (self.form, request.form))
        searched = ((self._user, request.user), (self._system, request.system))
        return (
            all(wanted in (None, found) for wanted, found in exact)
            and self.stream in (None, request.stream)
            and all(pattern is None or pattern.search(text) for pattern, text in searched)
        )

    def counts(self, call: int) -> bool:
        """Whether the ``call``-th matching request is meant."""
        if self.nth is None:
            return True
        return call == self.nth if isinstance(self.nth, int) else call in self.nth

    @cached_property
    def _user(self) -> re.Pattern[str] | None:
        return None if self.user is None else re.compile(self.user)

    @cached_property
    def _system(self) -> re.Pattern[str] | None:
        return None if self.system is None else re.compile(self.system)


@dataclass(frozen=True)
class Rule:
    """``reply`` to requests that ``when`` describes, at most ``times`` times.

    A list of replies is played in order, and its last one repeats. ``when`` may be any predicate.
    """

    when: When | Callable[[Request], bool]
    reply: Reply | Sequence[Reply]
    times: int | None = None


class Script:
    """The rules with how often each has matched and replied. The first rule that holds replies, else ``default``."""

    def __init__(self, rules: Sequence[Rule], default: Callable[[Request], str | Mapping[str, Any]]) -> None:
        self._rules = [(rule, _Count()) for rule in rules]
        self.default = default

    def reply(self, request: Request) -> Plain:
        """What to say; a function among the replies may raise anything."""
        for rule, count in self._rules:
            if count.takes(rule, request):
                reply = _resolved(_in_turn(rule.reply, count.replied), request)
                return self.default(request) if reply is None else self._whole(reply, request)
        return self.default(request)

    def _whole(self, reply: Plain, request: Request) -> Plain:
        """Damage needs an object to damage: its own, or the default reply if that is one."""
        if not isinstance(reply, Damaged):
            return reply
        data = self.default(request) if reply.of is None else reply.of
        if isinstance(data, str):
            return data
        try:
            return damaged(reply.kind, data)
        except ValueError:
            return data


@dataclass
class _Count:
    matched: int = 0
    replied: int = 0

    def takes(self, rule: Rule, request: Request) -> bool:
        """Counts a request that matches, and says whether the rule replies to it."""
        if rule.times is not None and self.replied >= rule.times:
            return False
        when = rule.when
        if not (when.matches(request) if isinstance(when, When) else when(request)):
            return False
        self.matched += 1
        if isinstance(when, When) and not when.counts(self.matched):
            return False
        self.replied += 1
        return True


def share_of_calls(share: float, seed: int = 0) -> Callable[[Request], bool]:
    """A predicate that holds for about this share (0…1) of all requests, the same ones for the same seed."""
    return lambda request: zlib.crc32(f"{seed}:{request.number}".encode()) < share * 2**32


def _in_turn(reply: Reply | Sequence[Reply], turn: int) -> Reply:
    if isinstance(reply, list | tuple):
        if not reply:
            raise ValueError("a rule's list of replies is empty; give at least one")
        chosen: Reply = reply[min(turn, len(reply)) - 1]
        return chosen
    return reply  # a str is a Sequence too, but stands for itself


def _resolved(reply: Reply, request: Request) -> Plain | None:
    return reply(request) if callable(reply) else reply
