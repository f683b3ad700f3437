import dataclasses
import json
import math
import random
import subprocess
import sys
from enum import Enum
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.answers import Message
from selfright.domain.judgements import Verdict
from selfright.domain.passages import Hit, Passage, Retrieval
from selfright.domain.routing import RoutingReason
from selfright.domain.slots import Profile
from selfright.telemetry.taps import (
    TAPPED,
    ModelReply,
    digest,
    dump_reply,
    dump_start,
    read_reply,
    read_start,
)

FLOATS = (0.0, 1.0, 0.25, 1 / 3, 1e-300)
WORDS = ("", "d1", "한국어 문장", "a\nb\u2028", "🦉", '{"record": 1}')


def made(hint: Any, chance: random.Random) -> Any:  # noqa: PLR0911 - one for each kind of annotation
    """A value of an annotation's type, parts and all."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Literal:
        return chance.choice(parts)
    if origin in (Union, UnionType, Annotated):
        return made(parts[0] if origin is Annotated else chance.choice(parts), chance)
    if origin is tuple and parts[-1] is not Ellipsis:
        return tuple(made(part, chance) for part in parts)
    if origin is not None and origin not in (tuple, frozenset):
        return {chance.choice(WORDS): made(parts[1], chance) for _ in range(chance.randrange(3))}
    if origin is not None:
        return origin(made(parts[0], chance) for _ in range(chance.randrange(4)))
    if isinstance(hint, type) and issubclass(hint, Enum):
        return chance.choice(list(hint))
    if dataclasses.is_dataclass(hint) or hasattr(hint, "_fields"):
        return hint(**{name: made(part, chance) for name, part in get_type_hints(hint).items()})
    simple = {str: WORDS, float: FLOATS, int: (0, -1, 2**70), Any: WORDS, bool: (True, False), type(None): (None,)}
    return chance.choice(simple[hint])


REPLIES = {"model.attempt": ModelReply} | {
    f"{port}.{method}": get_type_hints(getattr(protocol, method))["return"]
    for port, (protocol, methods) in TAPPED.items()
    if port in ("retriever", "router", "web", "profiles")
    for method in methods
}
SEEDS = st.integers(0, 2**32)


def typed(value: Any) -> Any:
    """The value with the type of every part: a named tuple equals a tuple, and a string enumeration a string."""
    if isinstance(value, dict):
        return {key: typed(part) for key, part in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return type(value), [typed(getattr(value, field.name)) for field in dataclasses.fields(value)]
    if isinstance(value, tuple | list):
        return type(value), [typed(part) for part in value]
    # A router's own words stand where a code may: the code equals its word.
    return (str, str(value)) if isinstance(value, RoutingReason) else (type(value), value)


@pytest.mark.parametrize("call", REPLIES)
@given(SEEDS)
def test_what_a_port_replies_comes_back_as_it_was(call: str, seed: int) -> None:
    reply = made(REPLIES[call], random.Random(seed))
    again = read_reply(call, json.loads(json.dumps(dump_reply(call, reply))))
    assert typed(again) == typed(reply)
    if call == "retriever.search":  # its hits are asked about in turn
        assert digest(again) == digest(reply)


@given(SEEDS)
def test_what_a_turn_starts_from_comes_back_as_it_was(seed: int) -> None:
    chance = random.Random(seed)
    start = {"user_text": "왜?", "turn": 2, "remembers": True, "given_profile": made(Profile, chance)}
    start["messages"] = made(tuple[Message, ...], chance)
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
