"""What the seeds expected, to stand beside what is measured. These are expectations, not goals and not results.

From "BasicRAG against CorrectiveRAG" (seed 000, section 7) and "static against rewritten query" (seed 003, section 10).
The corrective column of the first is its full loop with rewriting and both guards; the second compares second passes.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Expected:
    """The seed's ``value`` for a metric of ours under a profile of ours, and where it stands."""

    profile: str
    metric: str
    value: float
    source: str


_S0 = "S0 section 7"
_S3 = "S3 section 10"
_STATIC, _REWRITTEN, _GUARDED = "self_refine_llm_quality", "self_refine_dynamic_query", "self_refine_full_safety"

EXPECTED: Sequence[Expected] = (
    Expected("baseline", "quality", 0.52, _S0),
    Expected("baseline", "grounding", 0.40, _S0),
    Expected("baseline", "iterations", 1.0, _S0),
    Expected("baseline", "llm_calls", 1.5, _S0),
    Expected(_GUARDED, "quality", 0.78, _S0),
    Expected(_GUARDED, "grounding", 0.85, _S0),
    Expected(_GUARDED, "iterations", 1.9, _S0),
    Expected(_GUARDED, "llm_calls", 2.6, _S0),
    Expected(_GUARDED, "infinite_loop_rate", 0.0, _S0),
    Expected(_STATIC, "second_pass_precision", 0.45, _S3),
    Expected(_STATIC, "second_pass_recall", 0.50, _S3),
    Expected(_STATIC, "second_pass_quality", 0.58, _S3),
    Expected(_REWRITTEN, "second_pass_precision", 0.72, _S3),
    Expected(_REWRITTEN, "second_pass_recall", 0.68, _S3),
    Expected(_REWRITTEN, "second_pass_quality", 0.78, _S3),
)

TARGETED_GAIN = 2.0
"""S3 expects the targeted retrieval rate to rise by this share (+200 %) from the static to the rewritten query."""
