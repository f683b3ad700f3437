"""grade → refine_knowledge; or web_search → refine_knowledge if the web replaces the index."""

from typing import Any

from selfright.domain.passages import Strip
from selfright.domain.tools import Tools
from selfright.flow.evidence import merged, outweighs, with_strips
from selfright.flow.routes import instead_of_index
from selfright.flow.state import AgentState

_MOST_CONCERNS = 2
_MOST_STRIPS = 2


async def refine_knowledge(state: AgentState, tools: Tools) -> dict[str, Any]:
    """Reduces the evidence to the strips that help; if none does, lowers the verdict one step.

    Web results replace those of the index only if the grader finds them more sufficient; otherwise both are used.
    """
    question, verdict = state["question"], state["verdict"]
    web = state.get("web_docs", ()) if instead_of_index(state) else ()
    found = await tools.refiner.refine(question, web, state.get("web_grading")) if web else None
    if found is not None and outweighs(state.get("web_grading"), state.get("grading")):
        return {"strips": found.strips, "verdict": verdict, "removed_share": found.removed_share}
    refinement = await tools.refiner.refine(question, state["retrieved_docs"], state.get("grading"))
    if refinement.fell_back and verdict is not None:
        verdict = verdict.lowered()
    beside = found.strips if found and not found.fell_back else ()
    warnings = await _profile_warnings(state, tools)
    strips = merged(with_strips(refinement.strips, warnings), beside)
    return {"strips": strips, "verdict": verdict, "removed_share": refinement.removed_share}


async def _profile_warnings(state: AgentState, tools: Tools) -> list[Strip]:
    """Strips about conflicts between the profile and the question's subject, which the question may not mention."""
    found: list[Strip] = []
    for concern in state.get("concerns", ())[:_MOST_CONCERNS]:
        bearing = [h for h in state["retrieved_docs"] if concern.bears(h.passage.heading, h.passage.text)]
        refined = await tools.refiner.refine(concern.text, bearing) if bearing else None
        strips = refined.strips if refined else ()
        found += [s for s in strips if concern.bears(s.passage.heading, s.text)][:_MOST_STRIPS]
    return found
