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

from selfright.domain.answers import Attempt, Draft
from selfright.domain.judgements import Verdict
from selfright.domain.passages import Document, Hit, Passage, Ranked, Retrieval
from selfright.domain.records import FIELDS, RECORDS
from selfright.flow.state import AgentState
from selfright.telemetry.coding import Packer, Unpacker, digest

FLOATS = (0.0, 1.0, 0.25, 1 / 3, 1e-300)
WORDS = ("", "d1", "한국어 문장", "a\nb\u2028", "🦉", "\ud800 alone", '{"record": 1}')


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
    simple = {str: WORDS, float: FLOATS, int: (0, -1, 2**70), bool: (True, False), type(None): (None,)}
    return chance.choice(simple[hint])


def state_of(chance: random.Random) -> dict[str, Any]:
    hints = get_type_hints(AgentState, include_extras=True)
    return {name: made(hint, chance) for name, hint in hints.items() if chance.random() < 0.9}


STATES = st.integers(0, 2**32).map(lambda seed: state_of(random.Random(seed)))


def there_and_back(value: Any) -> Any:
    return Unpacker().unpack(json.loads(json.dumps(Packer().pack(value))))


def typed(value: Any) -> Any:
    """The value with the type of every part: a named tuple equals a tuple, and a string enumeration a string."""
    if isinstance(value, dict):
        return {key: typed(part) for key, part in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return type(value), [typed(getattr(value, name)) for name in FIELDS[type(value)]]
    if isinstance(value, tuple | list):
        return type(value), [typed(part) for part in value]
    return type(value), value


@given(STATES)
def test_all_that_a_turn_can_hold_comes_back_as_it_was(state: dict[str, Any]) -> None:
    assert typed(there_and_back(state)) == typed(state)


@given(STATES)
def test_a_digest_is_the_same_for_what_is_equal(state: dict[str, Any]) -> None:
    assert digest(state) == digest(there_and_back(state))


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
    code = (
        "from selfright.telemetry.coding import digest\n"
        "print(digest((frozenset({'a', 'b', 'c'}), {'x': 1.5}, ('한국어', None))))"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert seen == {digest((frozenset({"a", "b", "c"}), {"x": 1.5}, ("한국어", None))) + "\n"}


def test_a_passage_is_written_once() -> None:
    long = "word " * 500
    hits = tuple(Hit(passage(long), score, Ranked(1, 2.0)) for score in (0.1, 0.2, 0.3))
    packer = Packer()
    first = json.dumps(packer.pack(Retrieval(hits)))
    again = json.dumps(packer.pack(Retrieval(hits)))
    assert first.count("word word") > 0
    assert "word" not in again
    unpacker = Unpacker()
    assert unpacker.unpack(json.loads(first)) == unpacker.unpack(json.loads(again)) == Retrieval(hits)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_numbers_that_are_none_survive(value: float) -> None:
    assert repr(there_and_back(value)) == repr(value)


@pytest.mark.parametrize(
    "value", [object(), b"bytes", 1j, Exception("x"), Document, lambda: 0], ids=lambda value: type(value).__name__
)
def test_what_is_not_on_the_list_is_refused_by_name(value: object) -> None:
    with pytest.raises(TypeError, match="records of the domain"):
        Packer().pack((1, value))


@pytest.mark.parametrize(
    "packed",
    [
        {"record": ["Popen", {"args": "true"}]},
        {"record": ["os.system", {}]},
        {"record": ["Draft", {"text": "a", "__class__": "b"}]},
        {"record": ["Verdict", {}]},
        {"enum": ["Draft", "x"]},
        {"enum": ["Verdict", "certain"]},
        {"same": 3},
        {"float": "1e3"},
        {"module": "os"},
        {"tuple": [], "list": []},
        {},
    ],
    ids=str,
)
def test_nothing_else_comes_back(packed: Any) -> None:
    with pytest.raises(ValueError, match=r".+"):
        Unpacker().unpack(packed)


def test_depth_is_bounded() -> None:
    packed: Any = 1
    for _ in range(100):
        packed = {"tuple": [packed]}
    with pytest.raises(ValueError, match="too deeply"):
        Unpacker().unpack(packed)


def test_every_record_has_a_name_of_its_own() -> None:
    assert RECORDS["Attempt"] is Attempt
    assert FIELDS[Draft][:2] == ("text", "sentences")
    assert all(FIELDS[kind] or issubclass(kind, Enum) for kind in RECORDS.values())
