import contextlib
import dataclasses
import random
import subprocess
from collections.abc import Iterator
from enum import Enum
from operator import add
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import ormsgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from selfright.domain.answers import Attempt, Draft
from selfright.domain.judgements import Evaluation, Verdict
from selfright.domain.passages import Hit, Passage, Ranked, Strip
from selfright.flow.state import AgentState
from selfright.memory.serializing import CLASSES, TAG, Packed, TurnSerializer

FLOATS = (0.0, 1.0, 0.25, 1 / 3)
WORDS = ("", "d1", "한국어 문장", "a\nb", "🦉")


def made(hint: Any, chance: random.Random) -> Any:
    """A value of an annotation's type, parts and all."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Literal:
        return chance.choice(parts)
    if origin in (Union, UnionType, Annotated):
        return made(parts[0] if origin is Annotated else chance.choice(parts), chance)
    if origin is not None:
        return origin(made(parts[0], chance) for _ in range(chance.randrange(4)))
    if isinstance(hint, type) and issubclass(hint, Enum):
        return chance.choice(list(hint))
    if dataclasses.is_dataclass(hint) or hasattr(hint, "_fields"):
        return hint(**{name: made(part, chance) for name, part in get_type_hints(hint).items()})
    simple = {str: WORDS, float: FLOATS, int: (0, -1, 2**40), bool: (True, False), type(None): (None,)}
    return chance.choice(simple[hint])


def state_of(chance: random.Random) -> dict[str, Any]:
    hints = get_type_hints(AgentState, include_extras=True)
    return {name: made(hint, chance) for name, hint in hints.items() if chance.random() < 0.9}


STATES = st.integers(0, 2**32).map(lambda seed: state_of(random.Random(seed)))
PLAIN = {str, int, float, bool, type(None)}


def there_and_back(value: Any) -> Any:
    return TurnSerializer().loads_typed(TurnSerializer().dumps_typed(value))


def typed(value: Any) -> Any:
    """The value with the type of every part, for a named tuple equals a tuple and a string enumeration a string."""
    if isinstance(value, dict):
        return {key: typed(part) for key, part in value.items()}
    if dataclasses.is_dataclass(value):
        return type(value), [typed(getattr(value, field.name)) for field in dataclasses.fields(value)]
    if isinstance(value, tuple | list):
        return type(value), [typed(part) for part in value]
    return type(value), value


def mentioned(hint: Any, seen: set[type]) -> Iterator[type]:
    """The classes that an annotation is made of, those of its fields included."""
    if isinstance(hint, type) and hint not in seen and not get_args(hint):
        seen.add(hint)
        yield hint
        if dataclasses.is_dataclass(hint) or hasattr(hint, "_fields"):
            for field in get_type_hints(hint).values():
                yield from mentioned(field, seen)
    for part in get_args(hint):
        if not isinstance(part, str):
            yield from mentioned(part, seen)


def test_every_type_of_the_state_is_on_the_list() -> None:
    found: set[type] = set()
    for hint in get_type_hints(AgentState).values():
        found.update(mentioned(hint, set()))
    missing = {kind for kind in found - PLAIN if CLASSES.get(kind.__name__) is not kind}
    assert missing == set()
    assert {Attempt, Evaluation, Hit, Ranked, Strip, Verdict} <= found


@given(STATES)
def test_a_state_comes_back_as_it_was(state: dict[str, Any]) -> None:
    assert typed(there_and_back(state)) == typed(state)


@given(STATES)
def test_what_comes_back_can_be_added_to(state: dict[str, Any]) -> None:
    seen = state.get("retrieved_docs_history", ())
    assert add(there_and_back(seen), (frozenset({"d"}),)) == (*seen, frozenset({"d"}))


def test_langgraphs_own_serializer_would_not_do() -> None:
    """Why this one exists: should this test fail one day, it can go."""
    theirs = JsonPlusSerializer(allowed_msgpack_modules=True)
    assert theirs.loads_typed(theirs.dumps_typed((1, 2))) == [1, 2]


def passage(size: int = 1_000) -> Passage:
    return Passage("d#0", "d", "D", "가" * size, 0, size)


def test_an_object_held_twice_is_written_once_and_is_one_again() -> None:
    held = passage()
    strips = tuple(Strip(held, n, n + 1, "가", 0.5) for n in range(30))
    written = TurnSerializer().dumps_typed(strips)
    assert len(written[1]) < 2 * len(held.text.encode())
    back = TurnSerializer().loads_typed(written)
    assert back == strips
    assert all(strip.passage is back[0].passage for strip in back)


def test_lone_surrogates_of_a_terminal_do_not_break_a_turn() -> None:
    assert there_and_back(("a\udc80b",)) == ("a?b",)


def test_an_error_is_kept_by_its_name_alone() -> None:
    assert there_and_back(ValueError("words of a document")) == "ValueError"


@dataclasses.dataclass
class Foreign:
    value: int


class Impostor(Enum):
    A = 1


Impostor.__name__ = "Verdict"


@pytest.mark.parametrize(
    ("value", "named"),
    [
        (Foreign(1), "Foreign"),
        (object(), "builtins.object"),
        (Impostor.A, "Impostor"),
        (subprocess.Popen, "type"),
        ((Draft("x"), {"deep": (Foreign(2),)}), "Foreign"),
        (1 << 70, "64 bits"),
    ],
)
def test_a_type_that_is_not_of_the_domain_is_refused_by_name(value: object, named: str) -> None:
    with pytest.raises(TypeError, match=named):
        TurnSerializer().dumps_typed(value)


def crafted(kind: int, content: Any) -> bytes:
    return ormsgpack.packb(ormsgpack.Ext(kind, ormsgpack.packb(content)))


@pytest.mark.parametrize(
    "payload",
    [
        crafted(1, ["Popen", {"args": "touch here"}]),
        crafted(1, ["subprocess.Popen", {"args": "touch here"}]),
        crafted(3, ["Passage", "x"]),
        crafted(1, ["Passage", {"id": "only this"}]),
        crafted(1, ["Evaluation", {"grounding": 7}]),
        crafted(2, 12),
        crafted(99, []),
        crafted(0, ["os", "system", "touch here"]),
        b"",
    ],
)
def test_crafted_bytes_give_an_error_and_run_nothing(payload: bytes) -> None:
    with pytest.raises(ValueError, match="cannot be read"):
        TurnSerializer().loads_typed((TAG, payload))


@given(st.binary(max_size=200))
def test_any_bytes_give_a_value_or_a_value_error(payload: bytes) -> None:
    with contextlib.suppress(ValueError):
        TurnSerializer().loads_typed((TAG, payload))


@pytest.mark.parametrize("tag", ["pickle", "json", "msgpack", "selfright-0"])
def test_what_another_serializer_wrote_is_refused(tag: str) -> None:
    with pytest.raises(ValueError, match=TAG):
        TurnSerializer().loads_typed((tag, b"{}"))


def checkpoint(**values: Any) -> dict[str, Any]:
    return {"v": 4, "id": "1", "channel_values": values, "versions_seen": {}, "updated_channels": None}


@given(STATES, STATES)
def test_what_is_packed_once_is_never_stale(first: dict[str, Any], then: dict[str, Any]) -> None:
    packed = Packed()
    for state in (first, then, {**first, **then}, first):
        written = packed.checkpoint(checkpoint(**state))
        assert typed(TurnSerializer().loads_typed(written)) == typed(checkpoint(**state))


def test_what_has_left_the_state_is_forgotten() -> None:
    packed = Packed()
    packed.checkpoint(checkpoint(strips=(passage(),)))
    packed.checkpoint(checkpoint(strips=None))
    assert packed._known == {}
