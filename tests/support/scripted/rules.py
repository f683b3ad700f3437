"""Rules: which request gets which reply."""

import re
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
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

    ``job`` is the schema's title.
    """

    job: str | None = None
    user: str = ""
    system: str = ""

    def __call__(self, request: Request) -> bool:
        """Whether ``request`` is one of them."""
        searched = ((self.user, request.user), (self.system, request.system))
        return self.job in (None, request.job) and all(re.search(pattern, text) for pattern, text in searched)


@dataclass(frozen=True)
class Rule:
    """``reply`` to requests that ``when`` describes, at most ``times`` times.

    A list of replies is played in order, and its last one repeats. ``when`` may be any predicate.
    """

    when: Callable[[Request], bool]
    reply: Reply | Sequence[Reply]
    times: int | None = None


class Script:
    """The rules with how often each has replied. The first rule that holds replies, else ``default``."""

    def __init__(self, rules: Sequence[Rule], default: Callable[[Request], str | Mapping[str, Any]]) -> None:
        self._rules = rules
        self._replied = Counter[int]()
        self.default = default

    def reply(self, request: Request) -> Plain:
        """What to say; a function among the replies may raise anything."""
        for place, rule in enumerate(self._rules):
            if (rule.times is None or self._replied[place] < rule.times) and rule.when(request):
                self._replied[place] += 1
                reply = _resolved(_in_turn(rule.reply, self._replied[place]), request)
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
