"""The scripted model in a process of its own, so that it takes no time from what is measured."""

import multiprocessing
import re
from collections import Counter
from dataclasses import dataclass
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any

from benchmarks.turn_peer import GRADES_ALL
from tests.support.scripted.fake_model import FakeModel
from tests.support.scripted.judging import read
from tests.support.scripted.requests import Request
from tests.support.scripted.rules import Rule, When
from tests.support.scripted.server import ScriptedServer

UNFOUNDED = "The moon is 384,400 km away, and it is made of basalt and anorthosite, as the Apollo missions found."
_EVIDENCE = re.compile(r"<passages-")
_FENCE = re.compile(r"-[0-9a-f]{6,64}\b")  # drawn anew for each prompt
_JUDGES = re.compile(r"<answer-")


@dataclass(frozen=True)
class Counted:
    """What the server saw since the last ``forget``; ``bodies`` are the requests, round by round."""

    calls: int
    rounds: int
    jobs: tuple[str, ...]
    bodies: tuple[tuple[dict[str, Any], ...], ...]


def writes_an_answer(request: Request) -> bool:
    """Whether an answer from passages is asked for, as plain text."""
    return request.form == "text" and bool(_EVIDENCE.search(request.user)) and not _JUDGES.search(request.user)


def _rules(twice: bool) -> list[Rule]:
    """The tutorial's grader says "correct". With ``twice`` every other answer is about something else."""
    rules = [Rule(When(system=GRADES_ALL), "correct")]
    if twice:
        rules.append(Rule(writes_an_answer, _EveryOther()))
    return [*rules, Rule(lambda _request: True, _Remembered())]


class _Remembered:
    """What the fake model said to the same prompt before: thinking is the caller's time where cores are few."""

    def __init__(self) -> None:
        self._said: dict[tuple[str, str], str | dict[str, Any]] = {}

    def __call__(self, request: Request) -> str | dict[str, Any]:
        prompt = request.form + request.job, _FENCE.sub("", request.system + request.user)
        if prompt not in self._said:
            self._said[prompt] = FakeModel().reply(request)
        return self._said[prompt]


class _EveryOther:
    """To each question an unfounded answer first, then what the fake model says, and again from the beginning."""

    def __init__(self) -> None:
        self._asked: Counter[str] = Counter()

    def __call__(self, request: Request) -> str | None:
        question = read(request.user).question
        self._asked[question] += 1
        return UNFOUNDED if self._asked[question] % 2 else None


class ModelProcess:
    """A ``ScriptedServer`` in another process, ``pid``; ``url`` is where it listens."""

    def __init__(self, latency_s: float = 0.0, *, twice: bool = False) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, latency_s, twice), daemon=True)
        self._process.start()
        self.url = str(self._pipe.recv())
        self.pid = int(self._process.pid or 0)

    def forget(self) -> None:
        """Sets the counts to zero."""
        self._ask("forget")

    def counted(self) -> Counted:
        """What came since."""
        found = self._ask("counted")
        assert isinstance(found, Counted)
        return found

    def __enter__(self) -> "ModelProcess":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pipe.send("stop")
        self._process.join(10)

    def _ask(self, what: str) -> object:
        self._pipe.send(what)
        return self._pipe.recv()


def _serve(pipe: Connection, latency_s: float, twice: bool) -> None:
    with ScriptedServer(_rules(twice), latency_s=latency_s) as server:
        pipe.send(server.url)
        while (asked := pipe.recv()) != "stop":
            if asked == "forget":
                server.forget()
                pipe.send(None)
            else:
                pipe.send(_counted(server))


def _counted(server: ScriptedServer) -> Counted:
    calls = server.calls()
    jobs = tuple(call.job or "text" for call in calls)
    return Counted(server.count, server.rounds(), jobs, _by_round(calls))


def _by_round(calls: list[Request]) -> tuple[tuple[dict[str, Any], ...], ...]:
    """Calls that were under way together stand together; each group began after the one before had ended."""
    groups: list[list[Request]] = []
    for call in sorted(calls, key=lambda call: call.started):
        if groups and call.started < max(other.ended or call.started for other in groups[-1]):
            groups[-1].append(call)
        else:
            groups.append([call])
    return tuple(tuple(dict(call.body) for call in group) for group in groups)
