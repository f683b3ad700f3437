"""What ends the loop: the two guards of self-refinement [S0], the limits, and the order of these checks."""

import hashlib
from collections.abc import Iterable, Sequence

from selfright.domain.budget import Meter
from selfright.domain.flags import Flags
from selfright.domain.judgements import StopReason
from selfright.flow.state import AgentState


def text_hashes(texts: Iterable[str]) -> frozenset[str]:
    """MD5 of each text, to tell whether a pass found anything new; not used for security."""
    return frozenset(hashlib.md5(t.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest() for t in texts)


def duplicate_share(history: Sequence[frozenset[str]]) -> float | None:
    """Jaccard similarity ``|A ∩ B| / |A ∪ B|`` of the last two passes; None before the second, 1 if both are empty."""
    if len(history) < 2:
        return None
    previous, current = history[-2:]
    union = previous | current
    return len(previous & current) / len(union) if union else 1.0


def improvement(scores: Sequence[float]) -> float | None:
    """``current − previous`` quality, rounded to six decimals against binary noise; None before the second score."""
    return round(scores[-1] - scores[-2], 6) if len(scores) > 1 else None


def duplicate_guard(state: AgentState, flags: Flags) -> StopReason | None:
    """Guard 1: the pass found the same documents again."""
    share = duplicate_share(state.get("retrieved_docs_history", ()))
    if share is not None and share >= flags.duplicate_threshold:
        return StopReason.DUPLICATE_DOCUMENTS
    return None


def progress_guard(state: AgentState, flags: Flags) -> StopReason | None:
    """Guard 2: quality fell, or hardly rose; it does not tell where another judge scored the pass before."""
    gain = state["iterations"][-1].improvement if state.get("iterations") else None
    if gain is None:
        return None
    if gain < 0:
        return StopReason.DECLINED
    return StopReason.STAGNATED if gain < flags.min_improvement else None


def budget_spent(meter: Meter) -> StopReason | None:
    """Whether the turn's time or budget is used up; one model call is reserved for the final answer."""
    if meter.deadline_passed:
        return StopReason.DEADLINE
    return StopReason.BUDGET if meter.calls_spent else None


def _content(state: AgentState, flags: Flags) -> StopReason:
    """Why the strategy wants no further pass; ``degraded`` if a heuristic replaced a failed judge."""
    evaluation = state.get("evaluation")
    if evaluation is not None and not evaluation.verified and flags.evaluator != "heuristic":
        return StopReason.DEGRADED
    return StopReason.ADEQUATE if state.get("used_retrieval") else StopReason.FAST_PATH


def stop_reason(state: AgentState, flags: Flags, meter: Meter, more_wanted: bool) -> StopReason | None:
    """Why the loop must stop now, or None to continue."""
    if not (flags.self_refine_enabled and flags.quality_check_enabled) or flags.refine_strategy == "basic_rag":
        return StopReason.BASIC
    if out := budget_spent(meter):
        return out
    if not more_wanted:
        return _content(state, flags)
    if max(state["iteration_count"], state["retry_count"]) >= flags.max_refine_iterations:
        return StopReason.MAX_ITERATIONS
    if not flags.safety_guards_enabled:
        return None
    return duplicate_guard(state, flags) or progress_guard(state, flags)
