"""Where to go next: pure functions of the state. Their return types name every node they can choose."""

from typing import Literal

from selfright.domain.judgements import Verdict
from selfright.flow.state import AgentState


def after_classify(state: AgentState) -> Literal["assemble_context", "retrieve"]:
    """Chit-chat and the fast path answer first; everything else looks documents up."""
    return "assemble_context" if state["fast_path"] else "retrieve"


def after_grade(state: AgentState) -> list[Literal["refine_knowledge", "web_search"]]:
    """Correct: the index is enough. Incorrect: the web instead. Ambiguous and unknown: both at the same time."""
    if not state["ask_web"] or state["verdict"] is Verdict.CORRECT:
        return ["refine_knowledge"]
    return ["web_search"] if state["verdict"] is Verdict.INCORRECT else ["refine_knowledge", "web_search"]


def after_refine_knowledge(state: AgentState) -> Literal["web_search", "assemble_context"]:
    """A ``correct`` that refinement could not confirm has dropped to ambiguous, and asks the web after all."""
    return "web_search" if state["ask_web"] and dropped(state) else "assemble_context"


def after_web_search(state: AgentState) -> Literal["refine_knowledge", "assemble_context"]:
    """Instead of the index: what the web brought is refined next. Beside it: it is refined already."""
    return "refine_knowledge" if instead_of_index(state) else "assemble_context"


def after_quality_check(state: AgentState) -> Literal["rewrite", "retrieve", "classify", "repair_claims"]:
    """What the check decided; it knows the limits, this does not. Before the end, claims are repaired."""
    target = state["next_node"]
    return "repair_claims" if target == "finalize" else target  # type: ignore[return-value]  # the check writes one of these


def dropped(state: AgentState) -> bool:
    """Whether refinement lowered a verdict of ``correct``."""
    grading = state.get("grading")
    return grading is not None and grading.verdict is Verdict.CORRECT and state["verdict"] is Verdict.AMBIGUOUS


def instead_of_index(state: AgentState) -> bool:
    """Whether the web stands in for an index that had nothing, rather than beside it."""
    grading = state.get("grading")
    return grading is not None and grading.verdict is Verdict.INCORRECT
