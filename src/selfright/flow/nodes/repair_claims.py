"""quality_check → repair_claims → finalize."""

import asyncio
import logging
from typing import Any

from selfright.domain.answers import Attempt
from selfright.domain.errors import FAILURES
from selfright.domain.judgements import Claim, ClaimStatus
from selfright.domain.passages import Hit
from selfright.domain.tools import Tools
from selfright.flow.attempts import repaired
from selfright.flow.evidence import whole
from selfright.flow.guards import spent
from selfright.flow.state import AgentState

log = logging.getLogger(__name__)

_NOT_LOOKED_UP = {
    "en": "the claims that nothing supports could not be looked up, because the search failed",
    "ko": "검색에 실패하여, 뒷받침되지 않은 내용을 더 찾아보지 못했습니다",
}
_MOST_CLAIMS = 3
_PASSAGES = 4


async def repair_claims(state: AgentState, tools: Tools) -> dict[str, Any]:
    """Searches once for the unsupported claims of the best answer, and cites what supports them.

    Claims without support are removed later. Nothing is rewritten, so this can only add support.
    """
    best = state.get("best")
    claims = _unsupported(best)
    if best is None or not claims or not tools.flags.claim_repair_enabled or spent(tools.meter):
        return {"repaired_claims": ()}
    try:
        hits = await _found(claims, best, tools)
    except FAILURES as error:
        # The answer exists already; claims that this search might have supported are removed instead.
        log.warning("unsupported claims were not looked up: the search failed (%s)", type(error).__name__)
        return {"repaired_claims": (), "notes": (_NOT_LOOKED_UP[state["language"]],)}
    if not hits:
        return {"repaired_claims": ()}
    judged = await tools.strategy.refine(
        {
            **state,
            "draft": best.draft,
            "evaluation": best.evaluation,
            "strips": (*best.strips, *whole(hits)),
            "retrieved_docs": (*state.get("retrieved_docs", ()), *hits),
        }
    )
    mended, texts = repaired(best, judged.get("evaluation"), hits)
    return {"best": mended, "repaired_claims": texts}


def _unsupported(best: Attempt | None) -> list[Claim]:
    evaluation = best.evaluation if best else None
    claims = evaluation.claims if evaluation else ()
    return [claim for claim in claims if claim.status is ClaimStatus.UNSUPPORTED][:_MOST_CLAIMS]


async def _found(claims: list[Claim], best: Attempt, tools: Tools) -> tuple[Hit, ...]:
    """Passages for the claims, without those that the answer was written from."""
    searches = (tools.retriever.search(claim.text, _PASSAGES) for claim in claims)
    known = {strip.passage.id for strip in best.strips}
    fresh = {hit.passage.id: hit for found in await asyncio.gather(*searches) for hit in found.hits}
    return tuple(hit for name, hit in fresh.items() if name not in known)
