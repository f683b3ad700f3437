"""grade → refine_knowledge; or web_search → refine_knowledge when the web stands in for the index."""

from typing import Any

from selfright.domain.ports import Tools
from selfright.flow.routes import instead_of_index
from selfright.flow.state import AgentState


async def refine_knowledge(state: AgentState, tools: Tools) -> dict[str, Any]:
    """Cuts the evidence down to the strips that help; when none does, the verdict drops one step."""
    web = state.get("web_docs", ()) if instead_of_index(state) else ()
    grading = None if web else state.get("grading")
    refinement = await tools.refiner.refine(state["question"], web or state["retrieved_docs"], grading)
    verdict = state["verdict"]
    if refinement.fell_back and verdict is not None:
        verdict = verdict.lowered()
    return {"strips": refinement.strips, "verdict": verdict}
