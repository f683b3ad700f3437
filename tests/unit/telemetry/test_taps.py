import json
import math
import random
import subprocess
import sys
from typing import Any, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.answers import Message
from selfright.domain.judgements import Verdict
from selfright.domain.passages import Hit, Passage, Retrieval
from selfright.domain.routing import RoutingReason
from selfright.domain.slots import Profile
from selfright.telemetry.taps import TAPPED, ModelReply, digest, dump_reply, dump_start, read_reply, read_start
from tests.support.random_values import typed, value_of

REPLIES = {"model.attempt": ModelReply} | {
    f"{port}.{method}": get_type_hints(getattr(protocol, method))["return"]
    for port, (protocol, methods) in TAPPED.items()
    if port in ("retriever", "router", "web", "profiles")
    for method in methods
}
SEEDS = st.integers(0, 2**32)


@pytest.mark.parametrize("call", REPLIES)
@given(SEEDS)
def test_what_a_port_replies_comes_back_as_it_was(call: str, seed: int) -> None:
    reply = value_of(REPLIES[call], random.Random(seed), 2**70)
    again = read_reply(call, json.loads(json.dumps(dump_reply(call, reply))))
    # A router's own words stand where a code may: the code equals its word.
    assert typed(again, (RoutingReason,)) == typed(reply, (RoutingReason,))
    if call == "retriever.search":  # its hits are asked about in turn
        assert digest(again) == digest(reply)


@given(SEEDS)
def test_what_a_turn_starts_from_comes_back_as_it_was(seed: int) -> None:
    chance = random.Random(seed)
    start = {"user_text": "왜?", "turn": 2, "remembers": True, "given_profile": value_of(Profile, chance, 2**70)}
    start["messages"] = value_of(tuple[Message, ...], chance, 2**70)
    assert typed(read_start(json.loads(json.dumps(dump_start(start))))) == typed(start)


def passage(text: str = "text") -> Passage:
    return Passage("p", "d", "T", text, 0, len(text))


def test_a_digest_tells_apart_what_differs_in_type_or_place() -> None:
    values: list[Any] = [
        1,
        1.5,
        "1",
        True,
        None,
        (1,),
        [1],
        {1: 1},
        Verdict.CORRECT,
        "correct",
        passage(),
        passage("t"),
    ]
    assert len({digest(value) for value in values}) == len(values)


def test_a_digest_does_not_depend_on_the_process() -> None:
    code = "from selfright.telemetry.taps import digest\nprint(digest(({'x': 1.5}, ('한국어', None))))"
    seen = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert seen == {digest(({"x": 1.5}, ("한국어", None))) + "\n"}


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_numbers_that_are_none_survive(score: float) -> None:
    written = json.dumps(dump_reply("retriever.search", Retrieval((Hit(passage(), score),))))
    assert repr(read_reply("retriever.search", json.loads(written)).hits[0].rrf_score) == repr(score)


@pytest.mark.parametrize("value", [object(), b"bytes", Exception("x"), lambda: 0], ids=lambda one: type(one).__name__)
def test_what_a_port_cannot_reply_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r".+"):
        dump_reply("retriever.search", value)


@pytest.mark.parametrize(
    "form",
    [{"record": ["Popen", {"args": "true"}]}, {"hits": 3}, {"hits": [{"passage": {"id": "p"}}]}, [], None],
    ids=str,
)
def test_nothing_else_comes_back(form: Any) -> None:
    with pytest.raises(ValueError, match=r".+"):
        read_reply("retriever.search", form)
