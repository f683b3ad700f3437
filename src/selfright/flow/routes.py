"""Routes: pure functions of the state. Their return types name every node they can choose."""

from typing import Literal

from selfright.domain.judgements import Verdict
from selfright.flow.state import AgentState


def after_classify(state: AgentState) -> Literal["assemble_context", "retrieve"]:
    """Chit-chat and the fast path answer first; everything else retrieves documents."""
    return "assemble_context" if state["fast_path"] else "retrieve"


def after_grade(state: AgentState) -> list[Literal["refine_knowledge", "web_search"]]:
    """Correct: the index is enough. Incorrect: the web instead. Ambiguous and unknown: both at the same time."""
    if not state["ask_web"] or state["verdict"] is Verdict.CORRECT:
        return ["refine_knowledge"]
    return ["web_search"] if state["verdict"] is Verdict.INCORRECT else ["refine_knowledge", "web_search"]


def after_refine_knowledge(state: AgentState) -> Literal["web_search", "assemble_context"]:
    """Search the web after all if refinement lowered ``correct`` to ambiguous."""
    return "web_search" if state["ask_web"] and verdict_dropped(state) else "assemble_context"


def after_web_search(state: AgentState) -> Literal["refine_knowledge", "assemble_context"]:
    """Results that replace the index are refined next; those in addition to it are refined already."""
    return "refine_knowledge" if web_replaces_index(state) else "assemble_context"


def after_quality_check(state: AgentState) -> Literal["rewrite", "retrieve", "classify", "repair_claims"]:
    """The decision of ``quality_check``, which knows the limits; claims are repaired before the end."""
    target = state["next_node"]
    return "repair_claims" if target == "finalize" else target


def verdict_dropped(state: AgentState) -> bool:
    """Whether refinement lowered a verdict of ``correct``."""
    grading = state.get("grading")
    return grading is not None and grading.verdict is Verdict.CORRECT and state["verdict"] is Verdict.AMBIGUOUS


def web_replaces_index(state: AgentState) -> bool:
    """Whether web results replace those of the index, instead of adding to them."""
    grading = state.get("grading")
    return grading is not None and grading.verdict is Verdict.INCORRECT
