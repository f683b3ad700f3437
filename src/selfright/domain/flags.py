"""The feature flags of a turn, typed and validated.

Values that people set by name, settings too, are declared once, as a field of a dataclass with its type and bounds.

>>> top_k: Annotated[int, between(1, 200)] = 8  # doctest: +SKIP
"""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from selfright.domain.errors import SelfrightError, UnknownName, UsageError

_TRUTH = {"true": True, "on": True, "yes": True, "1": True, "false": False, "off": False, "no": False, "0": False}
_NOUNS = {int: "a whole number", float: "a number", str: "a name", bool: "true or false"}


@dataclass(frozen=True, slots=True)
class Bound:
    """What holds for a number, and the words for it, with which an error goes on after the number's name."""

    words: str
    holds: Callable[[float], bool]


def between(low: float, high: float) -> Bound:
    """``low`` and ``high`` included."""
    return Bound(f"must lie between {low} and {high}", lambda number: low <= number <= high)


def amount(noun: str) -> Bound:
    """Zero or more of ``noun``."""
    return Bound(f"is a number of {noun}, 0 for none", lambda number: number >= 0)


ABOVE_ZERO = Bound("must be more than 0", lambda number: number > 0)


@dataclass(frozen=True, slots=True)
class OptionSchema:
    """The values of one class. ``noun`` is what they are called, ``refused`` the error for what cannot be one."""

    of: type
    noun: str
    refused: type[SelfrightError]

    @property
    def kinds(self) -> Mapping[str, Any]:
        """The type of each value by name, without bounds."""
        return _hints(self.of)[0]

    def check(self, values: object) -> None:
        """Raises for a number out of its bounds."""
        for name, bound in _hints(self.of)[1]:
            if not bound.holds(getattr(values, name)):
                raise self.refused(f"{self.noun} '{name}' {bound.words}, but is {getattr(values, name)}")

    def read(self, name: str, value: object) -> Any:
        """A choice, truth, number or text as it is declared, from itself or from text.

        Raises ``UnknownName`` for a choice that there is not, and ``refused`` for a value of another kind.
        """
        kind = self.kinds[name]
        if get_origin(kind) is Literal:
            if value not in get_args(kind):
                raise UnknownName(f"value of {self.noun} '{name}':", str(value), get_args(kind))
            return value
        read = _truth(value) if kind is bool else _plain(kind, value)
        if read is None:
            raise self.refused(f"{self.noun} '{name}' takes {_NOUNS[kind]}, but got {value!r}")
        return read


@cache
def _hints(of: type) -> tuple[dict[str, Any], tuple[tuple[str, Bound], ...]]:
    hints = get_type_hints(of, include_extras=True)
    annotated = {name: get_args(hint) for name, hint in hints.items() if get_origin(hint) is Annotated}
    kinds = {name: annotated[name][0] if name in annotated else hint for name, hint in hints.items()}
    return kinds, tuple((name, bound) for name, (_, *bounds) in annotated.items() for bound in bounds)


def _truth(value: object) -> bool | None:
    return value if isinstance(value, bool) else _TRUTH.get(str(value).strip().lower())


def _plain(kind: Any, value: object) -> object:
    accepted = {str: (str,), int: (str, int), float: (str, int, float)}[kind]
    if isinstance(value, bool) or not isinstance(value, accepted):
        return None
    try:
        return kind(value)
    except (ValueError, OverflowError):
        return None


Share = Annotated[float, between(0, 1)]

Value = TypeVar("Value")
OTHER_NAMES = {"max_retries": "max_refine_iterations"}
"""Passes after the first, by the name that retries by label have: both count the same."""


def by_their_names(flags: Mapping[str, Value]) -> dict[str, Value]:
    """Flags by the one name that each has; where two names of one are there, the last one wins."""
    return {OTHER_NAMES.get(name, name): value for name, value in flags.items()}


@dataclass(frozen=True, slots=True)
class Flags:
    """What a turn may do, and its limits. Thresholds and shares are between 0 and 1; counts and seconds not negative.

    A retrieval is ``correct`` if its sufficiency is at least ``correct_threshold``, and ``incorrect`` if it is below
    ``incorrect_threshold``; 0 uses the grader's own threshold.
    """

    self_refine_enabled: bool = True
    quality_check_enabled: bool = True
    refine_strategy: str = "corrective_rag"
    max_refine_iterations: Annotated[int, between(0, 20)] = 2
    quality_threshold: Share = 0.5
    evaluation_threshold: Share = 0.7
    correct_threshold: Share = 0.0
    incorrect_threshold: Share = 0.0
    fast_path_enabled: bool = True
    fast_path: Literal["conversation", "always"] = "conversation"
    history_limit: Annotated[int, between(0, 1_000)] = 10
    dynamic_rag_routing: bool = True
    query_rewrite_enabled: bool = True
    medcat2_enabled: bool = False
    llm_slots_enabled: bool = False
    memory_mode: Literal["structured", "none"] = "structured"
    web_search_enabled: bool = True
    duplicate_threshold: Share = 0.8
    min_improvement: Share = 0.05
    fusion: Literal["adaptive", "rrf"] = "adaptive"
    top_k: Annotated[int, between(1, 200)] = 8
    rrf_k: Annotated[int, between(1, 10_000)] = 60
    max_llm_calls: Annotated[int, between(1, 1_000)] = 12
    max_tokens: Annotated[int, between(1, 100_000_000)] = 60_000
    deadline_s: Annotated[float, between(0.0, 86_400.0)] = 120.0
    evaluator: Literal["judge", "heuristic"] = "judge"
    llm_judging: Literal["auto", "cascade", "always", "never"] = "auto"
    safety_guards_enabled: bool = True
    claim_repair_enabled: bool = True
    abstention_enabled: bool = True
    citation_style: Literal["numbers", "source"] = "numbers"

    def __post_init__(self) -> None:
        _SCHEMA.check(self)
        lower, upper = self.incorrect_threshold, self.correct_threshold
        if lower > upper > 0:
            raise UsageError(f"flag 'incorrect_threshold' ({lower}) must not lie above 'correct_threshold' ({upper})")

    def with_values(self, values: Mapping[str, object]) -> "Flags":
        """A copy with some flags set; values may be text ("true", "3", "0.4").

        Raises ``UnknownName`` for an unknown flag or choice, and ``UsageError`` for a value of the wrong type.
        """
        changed: dict[str, Any] = {}
        for name, value in by_their_names(values).items():
            if name not in _SCHEMA.kinds:
                raise UnknownName("flag", name, _SCHEMA.kinds)
            changed[name] = _SCHEMA.read(name, value)
        return dataclasses.replace(self, **changed)


_SCHEMA = OptionSchema(Flags, "flag", UsageError)
