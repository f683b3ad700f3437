"""The feature flags of a turn, typed and validated."""

import dataclasses
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from selfright.domain.declared import Declared, between
from selfright.domain.errors import UnknownName, UsageError

Share = Annotated[float, between(0, 1)]


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
    max_retries: Annotated[int, between(0, 20)] = 2
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
    rerank_enabled: bool = True
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
        _DECLARED.check(self)
        lower, upper = self.incorrect_threshold, self.correct_threshold
        if lower > upper > 0:
            raise UsageError(f"flag 'incorrect_threshold' ({lower}) must not lie above 'correct_threshold' ({upper})")

    def with_values(self, values: Mapping[str, object]) -> "Flags":
        """A copy with some flags set; values may be text ("true", "3", "0.4").

        Raises ``UnknownName`` for an unknown flag or choice, and ``UsageError`` for a value of the wrong type.
        """
        changed: dict[str, Any] = {}
        for name, value in values.items():
            if name not in _DECLARED.kinds:
                raise UnknownName("flag", name, _DECLARED.kinds)
            changed[name] = _DECLARED.read(name, value)
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


_DECLARED = Declared(Flags, "flag", UsageError)
