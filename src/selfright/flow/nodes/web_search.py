"""grade → web_search: replaces the index if the verdict is incorrect, adds to it if ambiguous or unknown."""

import logging
from typing import Any

from selfright.domain.errors import FAILURES, SelfrightError
from selfright.domain.passages import WebFinding
from selfright.domain.tools import Tools
from selfright.flow.evidence import as_hits
from selfright.flow.judging import judged
from selfright.flow.routes import instead_of_index
from selfright.flow.state import AgentState

log = logging.getLogger(__name__)

PAGES = 5


async def web_search(state: AgentState, tools: Tools) -> dict[str, Any]:
    """Searches the web and grades the results; also refines them if the index is refined in parallel."""
    evaluation = state.get("evaluation")
    missing = evaluation.missing_info if evaluation else ()
    finding, notes = await _search(state, tools, missing)
    tools.meter.web_requests += finding.requests
    hits = as_hits(finding.passages)
    if not hits:
        return {"web_docs": (), "web_grading": None, "web_provider": finding.provider, "notes": notes}
    grading, trouble = await judged(tools.grader, state["question"], hits, tools.flags)
    update: dict[str, Any] = {
        "web_docs": hits,
        "web_grading": grading,
        "web_provider": finding.provider,
        "notes": (*notes, *trouble),
    }
    if not instead_of_index(state):
        refinement = await tools.refiner.refine(state["question"], hits, grading)
        update["web_strips"] = () if refinement.fell_back else refinement.strips
    return update


async def _search(state: AgentState, tools: Tools, missing: tuple[str, ...]) -> tuple[WebFinding, tuple[str, ...]]:
    nothing = WebFinding((), "none", 0)
    if tools.web is None:
        return nothing, ()
    try:
        query = await tools.rewriter.for_web(state["question"], missing)
        return await tools.web.search(query, PAGES), ()
    except FAILURES as error:
        # A failing provider does not end the turn.
        log.warning("the web search failed: %s", type(error).__name__)
        why = str(error) if isinstance(error, SelfrightError) else type(error).__name__
        requests = getattr(error, "requests", 0)
        return WebFinding((), "none", requests), (f"the web search failed ({why}) and was left out",)
