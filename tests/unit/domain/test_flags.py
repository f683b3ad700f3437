"""Flags are typed and bounded; what is not understood is refused with what was meant."""

import dataclasses
import math
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.errors import UnknownName, UsageError
from selfright.domain.flags import Flags

HINTS = get_type_hints(Flags)
NAMES = [field.name for field in dataclasses.fields(Flags)]


def other_value(name: str) -> Any:
    """A valid value that is not the default."""
    default = getattr(Flags(), name)
    if get_origin(HINTS[name]) is Literal:
        return next(choice for choice in get_args(HINTS[name]) if choice != default)
    if isinstance(default, bool):
        return not default
    if isinstance(default, str):
        return "basic_rag"
    return default + 1 if isinstance(default, int) else default / 2


def test_the_defaults_are_the_written_ones() -> None:
    flags = Flags()
    assert flags.self_refine_enabled
    assert flags.quality_check_enabled
    assert flags.refine_strategy == "corrective_rag"
    assert (flags.max_refine_iterations, flags.history_limit) == (2, 10)
    assert (flags.quality_threshold, flags.evaluation_threshold) == (0.5, 0.7)
    assert (flags.duplicate_threshold, flags.min_improvement, flags.rrf_k) == (0.8, 0.05, 60)
    assert flags.fast_path_enabled
    assert flags.dynamic_rag_routing
    assert flags.query_rewrite_enabled
    assert not flags.medcat2_enabled
    assert flags.memory_mode == "structured"


@pytest.mark.parametrize("name", NAMES)
def test_every_flag_can_be_set_from_its_value_and_from_text(name: str) -> None:
    value = other_value(name)
    for given_value in (value, str(value)):
        changed = Flags().with_values({name: given_value})
        assert changed == dataclasses.replace(Flags(), **{name: value})
        assert type(getattr(changed, name)) is type(getattr(Flags(), name))


@pytest.mark.parametrize(
    ("values", "answer"),
    [
        ({"max_refine_iteration": 3}, r"'max_refine_iteration': did you mean 'max_refine_iterations'\?"),
        ({"zzz": 1}, "choose one of: abstention_enabled, .*web_search_enabled"),
        ({"memory_mode": "structurd"}, "'structured'"),
    ],
)
def test_an_unknown_name_or_choice_is_answered_with_the_nearest_or_the_list(
    values: dict[str, object], answer: str
) -> None:
    with pytest.raises(UnknownName, match=answer):
        Flags().with_values(values)


# Any text may name a strategy: the factory knows which exist.
@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, value) for name in NAMES if HINTS[name] is not str for value in (None, [1], "", "much")),
        ("top_k", True),
        ("quality_threshold", True),
    ],
)
def test_a_value_of_the_wrong_kind_is_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(UsageError, match=name):
        Flags().with_values({name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("quality_threshold", 1.01), ("evaluation_threshold", -0.1), ("duplicate_threshold", math.nan),
        ("min_improvement", math.inf), ("max_refine_iterations", -1), ("max_refine_iterations", 21), ("top_k", 0),
        ("rrf_k", 0), ("max_llm_calls", 0), ("deadline_s", math.nan), ("deadline_s", -1.0),
    ],
)  # fmt: skip
def test_limits_have_limits(name: str, value: Any) -> None:
    with pytest.raises(UsageError, match=name):
        Flags(**{name: value})
    with pytest.raises(UsageError, match=name):
        Flags().with_values({name: str(value)})


@given(st.dictionaries(st.sampled_from(NAMES), st.text(max_size=8), max_size=4))
def test_text_is_either_understood_or_refused(values: dict[str, str]) -> None:
    try:
        flags = Flags().with_values(values)
    except UsageError:
        return
    assert flags.with_values({name: getattr(flags, name) for name in NAMES}) == flags


def test_the_given_flags_stay_as_they_were() -> None:
    flags = Flags()
    flags.with_values({"top_k": 3})
    assert flags == Flags()
