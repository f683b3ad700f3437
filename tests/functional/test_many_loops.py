"""One ``Selfright`` for threads that ask and event loops that ask, at once and one after the other."""

import asyncio
import faulthandler
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from selfright import Selfright
from tests.support.scripted.server import ScriptedServer

QUESTION = "Who is the harbour master?"
_TURNS = 3
_LONGEST_S = 60.0


def ask(selfright: Selfright, name: str) -> list[str]:
    """Turns one after the other, with a session and without."""
    kept = [selfright.ask(QUESTION, session=name).answer for _ in range(_TURNS)]
    return [*kept, *(selfright.ask(QUESTION).answer for _ in range(_TURNS)), *listened(selfright, f"{name}-heard")]


def listened(selfright: Selfright, name: str) -> list[str]:
    *_, last = selfright.stream(QUESTION, session=name)
    return [last.answer.answer]  # the last event is the turn's end


def gather(selfright: Selfright, name: str) -> list[str]:
    """Turns at once on an event loop that ends with them, and again on another."""

    async def turns(part: int) -> list[Any]:
        kept = (selfright.aask(QUESTION, session=f"{name}-{part}-{n}") for n in range(_TURNS))
        answers = await asyncio.gather(*kept, *(selfright.aask(QUESTION) for _ in range(_TURNS)))
        assert len(await selfright.aturns(f"{name}-{part}-0")) == 1
        return [answer.answer for answer in answers]

    return [*asyncio.run(turns(0)), *asyncio.run(turns(1))]


def at_once(*jobs: Callable[[], list[str]]) -> list[str]:
    """What they give, each on a thread of its own, begun together; fails when one of them hangs."""
    barrier, ends = threading.Barrier(len(jobs)), [Future[list[str]]() for _ in jobs]

    def work(job: Callable[[], list[str]], end: "Future[list[str]]") -> None:
        try:
            barrier.wait()
            end.set_result(job())
        except BaseException as error:
            end.set_exception(error)

    for job, end in zip(jobs, ends, strict=True):
        threading.Thread(target=work, args=(job, end), daemon=True).start()
    try:
        return [answer for end in ends for answer in end.result(_LONGEST_S)]
    except TimeoutError:
        faulthandler.dump_traceback()
        raise


def asked_from_everywhere(selfright: Selfright) -> None:
    loops = [lambda name=name: gather(selfright, f"loop-{name}") for name in range(3)]
    threads = [lambda name=name: ask(selfright, f"thread-{name}") for name in range(3)]
    answers = at_once(*loops, *threads)
    assert len(answers) == 3 * 4 * _TURNS + 3 * (2 * _TURNS + 1)
    assert [answer for answer in answers if "Orla Keane" not in answer] == []
    names = {session.session for session in selfright.sessions()}
    assert len(names) == 3 * 2 * _TURNS + 3 * 2
    assert len(selfright.turns("thread-1")) == _TURNS


@pytest.mark.parametrize("round_", range(3))
def test_threads_and_loops_ask_at_once(indexed: Path, tmp_path: Path, round_: int) -> None:
    with Selfright.open(indexed, home=tmp_path) as selfright:
        asked_from_everywhere(selfright)


def test_with_a_model(indexed: Path, tmp_path: Path) -> None:
    model = {"llm": "openai:scripted", "preset": "self_refine"}
    with ScriptedServer() as server, Selfright.open(indexed, home=tmp_path, base_url=server.url, **model) as selfright:
        asked_from_everywhere(selfright)
        assert server.count >= 3 * 4 * _TURNS
        assert not selfright.ask(QUESTION).degraded


def test_with_a_database(indexed: Path, database: str) -> None:
    with Selfright.open(indexed, database=database) as selfright:
        asked_from_everywhere(selfright)
