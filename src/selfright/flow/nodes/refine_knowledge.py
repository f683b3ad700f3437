"""grade → refine_knowledge; or web_search → refine_knowledge when the web stands in for the index."""

from typing import Any

from selfright.domain.tools import Tools
from selfright.flow.evidence import merged, outweighs
from selfright.flow.routes import instead_of_index
from selfright.flow.state import AgentState


async def refine_knowledge(state: AgentState, tools: Tools) -> dict[str, Any]:
    """Cuts the evidence down to the strips that help; when none does, the verdict drops one step.

    A web that stands in for the index is used alone only when the same grader likes it better than the index;
    else the turn would exchange weak evidence for weaker, so both are kept.
    """
    question, verdict = state["question"], state["verdict"]
    web = state.get("web_docs", ()) if instead_of_index(state) else ()
    found = await tools.refiner.refine(question, web, state.get("web_grading")) if web else None
    if found is not None and outweighs(state.get("web_grading"), state.get("grading")):
        return {"strips": found.strips, "verdict": verdict}
    refinement = await tools.refiner.refine(question, state["retrieved_docs"], state.get("grading"))
    if refinement.fell_back and verdict is not None:
        verdict = verdict.lowered()
    beside = found.strips if found and not found.fell_back else ()
    return {"strips": merged(refinement.strips, beside), "verdict": verdict}
