"""The feature flags of a turn, typed and validated."""

import dataclasses
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin, get_type_hints

from selfright.domain.errors import UnknownName, UsageError


@dataclass(frozen=True, slots=True)
class Flags:
    """What a turn may do, and its limits. Thresholds and shares are between 0 and 1; counts and seconds not negative.

    A retrieval is ``correct`` if its sufficiency is at least ``correct_threshold``, and ``incorrect`` if it is below
    ``incorrect_threshold``; 0 uses the grader's own threshold.
    """

    self_refine_enabled: bool = True
    quality_check_enabled: bool = True
    refine_strategy: str = "corrective_rag"
    max_refine_iterations: int = 2
    max_retries: int = 2
    quality_threshold: float = 0.5
    evaluation_threshold: float = 0.7
    correct_threshold: float = 0.0
    incorrect_threshold: float = 0.0
    fast_path_enabled: bool = True
    fast_path: Literal["conversation", "always"] = "conversation"
    history_limit: int = 10
    dynamic_rag_routing: bool = True
    query_rewrite_enabled: bool = True
    medcat2_enabled: bool = False
    llm_slots_enabled: bool = False
    memory_mode: Literal["structured", "none"] = "structured"
    web_search_enabled: bool = True
    duplicate_threshold: float = 0.8
    min_improvement: float = 0.05
    fusion: Literal["adaptive", "rrf"] = "adaptive"
    top_k: int = 8
    rerank_enabled: bool = True
    rrf_k: int = 60
    max_llm_calls: int = 12
    max_tokens: int = 60_000
    deadline_s: float = 120.0
    evaluator: Literal["judge", "heuristic"] = "judge"
    llm_judging: Literal["auto", "cascade", "always", "never"] = "auto"
    safety_guards_enabled: bool = True
    claim_repair_enabled: bool = True
    abstention_enabled: bool = True
    citation_style: Literal["numbers", "source"] = "numbers"

    def __post_init__(self) -> None:
        for name in _SHARES:
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise UsageError(f"flag '{name}' must lie between 0 and 1, but is {getattr(self, name)}")
        lower, upper = self.incorrect_threshold, self.correct_threshold
        if lower > upper > 0:
            raise UsageError(f"flag 'incorrect_threshold' ({lower}) must not lie above 'correct_threshold' ({upper})")
        for name, (low, high) in _BOUNDS.items():
            if not low <= getattr(self, name) <= high:
                raise UsageError(f"flag '{name}' must lie between {low} and {high}, but is {getattr(self, name)}")

    def with_values(self, values: Mapping[str, object]) -> "Flags":
        """A copy with some flags set; values may be text ("true", "3", "0.4").

        Raises ``UnknownName`` for an unknown flag or choice, and ``UsageError`` for a value of the wrong type.
        """
        hints = get_type_hints(Flags)
        changed: dict[str, Any] = {}
        for name, value in values.items():
            if name not in hints:
                raise UnknownName("flag", name, hints)
            changed[name] = _read(name, hints[name], value)
        return dataclasses.replace(self, **changed)

    def with_one_limit(self, said: Collection[str]) -> "Flags":
        """A copy in which a set limit of passes or retries raises the other one if that was not set.

        ``said``: the flags that the user set. Both limits count the passes after the first one.
        """
        match [name for name in ("max_refine_iterations", "max_retries") if name in said]:
            case ["max_refine_iterations"]:
                return dataclasses.replace(self, max_retries=max(self.max_retries, self.max_refine_iterations))
            case ["max_retries"]:
                most = max(self.max_retries, self.max_refine_iterations)
                return dataclasses.replace(self, max_refine_iterations=most)
            case _:
                return self


_SHARES = (
    "quality_threshold",
    "evaluation_threshold",
    "correct_threshold",
    "incorrect_threshold",
    "duplicate_threshold",
    "min_improvement",
)
_BOUNDS: dict[str, tuple[float, float]] = {
    "max_refine_iterations": (0, 20),
    "max_retries": (0, 20),
    "history_limit": (0, 1_000),
    "top_k": (1, 200),
    "rrf_k": (1, 10_000),
    "max_llm_calls": (1, 1_000),
    "max_tokens": (1, 100_000_000),
    "deadline_s": (0.0, 86_400.0),
}
_TRUTH = {"true": True, "on": True, "yes": True, "1": True, "false": False, "off": False, "no": False, "0": False}


def _read(name: str, kind: Any, value: object) -> object:
    if get_origin(kind) is Literal:
        if value not in get_args(kind):
            raise UnknownName(f"value of flag '{name}':", str(value), get_args(kind))
        return value
    if kind is bool:
        return _read_truth(name, value)
    accepted = (str,) if kind is str else (str, int) if kind is int else (str, int, float)
    if isinstance(value, bool) or not isinstance(value, accepted):
        raise UsageError(f"flag '{name}' takes {_NOUNS[kind]}, but got {value!r}")
    try:
        return kind(value)
    except (ValueError, OverflowError):
        raise UsageError(f"flag '{name}' takes {_NOUNS[kind]}, but got {value!r}") from None


_NOUNS = {int: "a whole number", float: "a number", str: "a name"}


def _read_truth(name: str, value: object) -> bool:
    truth = value if isinstance(value, bool) else _TRUTH.get(str(value).lower())
    if truth is None:
        raise UsageError(f"flag '{name}' takes true or false, but got {value!r}")
    return truth
