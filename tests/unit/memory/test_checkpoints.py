"""The state of a turn goes through LangGraph's own serializer and comes back as it was."""

import dataclasses
import random
import subprocess
from collections.abc import Iterator
from typing import Any, get_args, get_type_hints

import ormsgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.answers import Attempt
from selfright.domain.judgements import Evaluation, Verdict
from selfright.domain.passages import Hit, Ranked, Strip
from selfright.flow.state import AgentState
from selfright.memory.checkpoints import RECORDS, restore, serializer
from tests.support.random_values import typed, value_of


def state_of(chance: random.Random) -> dict[str, Any]:
    hints = get_type_hints(AgentState, include_extras=True)
    return {name: value_of(hint, chance) for name, hint in hints.items() if chance.random() < 0.9}


STATES = st.integers(0, 2**32).map(lambda seed: state_of(random.Random(seed)))
PLAIN = {str, int, float, bool, type(None)}


def there_and_back(value: Any) -> Any:
    return restore(serializer().loads_typed(serializer().dumps_typed(value)))


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
    assert found - PLAIN - set(RECORDS) == set()
    assert {Attempt, Evaluation, Hit, Ranked, Strip, Verdict} <= found


@given(STATES)
def test_a_state_comes_back_as_it_was(state: dict[str, Any]) -> None:
    assert typed(there_and_back(state)) == typed(state)


def test_lone_surrogates_of_a_terminal_do_not_break_a_turn() -> None:
    assert there_and_back(("a\udc80b",)) == ("a?b",)


def test_crafted_bytes_run_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def started(*_: object, **__: object) -> None:
        raise AssertionError("it was run")

    monkeypatch.setattr(subprocess, "Popen", started)
    for kind, content in ((0, ["subprocess", "Popen", "touch"]), (2, ["subprocess", "Popen", {"args": "touch"}])):
        payload = ormsgpack.packb(ormsgpack.Ext(kind, ormsgpack.packb(content)))
        assert "touch" in str(serializer().loads_typed(("msgpack", payload)))
