"""Twenty conversations with follow-ups, ten Korean and ten English, by default settings: offline, and with a model.

``follow_ups/conversations.jsonl`` has what is expected of each turn: whether it ``searches``, what the answer ``says``
(part of its text), and for the scripted model what the question is ``alone`` and what the ``model`` writes.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from selfright import Answer, Selfright
from selfright.domain.chat import Job
from tests.support.llm import EVALUATION, is_job
from tests.support.scripted.requests import Request
from tests.support.scripted.rules import Rule
from tests.support.scripted.server import ScriptedServer

FOLDER = Path(__file__).with_name("follow_ups")
LEAST = 0.9

Conversation = dict[str, Any]


def conversations() -> list[Conversation]:
    lines = (FOLDER / "conversations.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("follow-ups")
    with Selfright.open(place / "index", home=place / "home") as selfright:
        selfright.add([FOLDER / "documents"])
    return place


def wrong(turn: dict[str, Any], answer: Answer) -> str:
    """What is not as expected of a turn; empty where all is."""
    searched = any(step.node == "retrieve" for step in answer.trace)
    if searched != turn["searches"]:
        return f"{turn['say']}: {'searched' if searched else 'did not search'}"
    if turn["says"] not in answer.answer or (turn["says"] and answer.abstained):
        return f"{turn['say']}: said {answer.answer!r}"
    return ""


def failures(selfright: Selfright) -> Iterator[str]:
    """What goes wrong first in each conversation where anything does."""
    for conversation in conversations():
        for turn in conversation["turns"]:
            if found := wrong(turn, selfright.ask(turn["say"], session=conversation["id"])):
                yield f"{conversation['id']} {found}"
                break


def check(found: list[str]) -> None:
    """Fails where fewer conversations than wanted go as expected."""
    all_of_them = conversations()
    assert len(all_of_them) == 20
    share = 1 - len(found) / len(all_of_them)
    assert share >= LEAST, "\n".join([f"{share:.0%} as expected:", *found])


def test_conversations_go_as_expected_offline(index: Path) -> None:
    with Selfright.open(index / "index", home=index / "offline") as selfright:
        check(list(failures(selfright)))


def test_conversations_go_as_expected_with_a_model(index: Path) -> None:
    with ScriptedServer(list(rules())) as server:
        model = {"llm": "openai:scripted", "base_url": server.url}
        with Selfright.open(index / "index", home=index / "model", **model) as selfright:
            check(list(failures(selfright)))


def rules() -> Iterator[Rule]:
    """A model that knows the question of each turn, also as it stands alone, and writes what the turn has for it."""
    turns = [turn for conversation in conversations() for turn in conversation["turns"]]

    def asked(request: Request) -> dict[str, Any]:
        return max(turns, key=lambda turn: max(request.user.rfind(turn["say"]), request.user.rfind(turn["alone"])))

    yield Rule(lambda request: is_job(Job.STANDALONE, request), lambda request: asked(request)["alone"])
    yield Rule(lambda request: is_job(Job.ANSWER, request), lambda request: asked(request)["model"])
    yield Rule(lambda request: is_job(Job.EVALUATE, request), EVALUATION)
    yield Rule(lambda request: is_job(Job.CLASSIFY, request), {"query_class": "question"})
