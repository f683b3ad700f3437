"""The state of a turn is packed and comes back as it was."""

import random
from typing import Any, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.routing import RoutingReason
from selfright.domain.turns import TurnCheckpoint
from selfright.flow.packing import pack, unpack
from selfright.flow.state import AgentState
from tests.support.random_values import typed, value_of


def state_of(chance: random.Random) -> dict[str, Any]:
    hints = get_type_hints(AgentState, include_extras=True)
    return {name: value_of(hint, chance) for name, hint in hints.items() if chance.random() < 0.9}


STATES = st.integers(0, 2**32).map(lambda seed: state_of(random.Random(seed)))


def there_and_back(state: dict[str, Any]) -> Any:
    return unpack(pack(TurnCheckpoint(state, ("grade",), {"retrieve": state})))


@given(STATES)
def test_a_state_comes_back_as_it_was(state: dict[str, Any]) -> None:
    back = there_and_back(state)
    words = (RoutingReason,)  # a reason may be the name of an error, too
    assert typed(back.state, words) == typed(state, words)
    assert (back.names, typed(back.ended, words)) == (("grade",), {"retrieve": typed(state, words)})


def test_lone_surrogates_of_a_terminal_do_not_break_a_turn() -> None:
    assert there_and_back({"user_text": "a\udc80b"}).state == {"user_text": "a?b"}


@pytest.mark.parametrize("values", [{"verdict": b'"unheard of"'}, {"verdict": b"{"}, {"nothing": b"1"}])
def test_what_nobody_of_this_version_packed_is_refused(values: dict[str, bytes]) -> None:
    with pytest.raises(ValueError, match=r"nothing|validation error"):
        unpack(TurnCheckpoint(values, ("grade",)))
