"""What becomes of the draft: evaluate → quality_check → repair_claims → finalize.

``finalize`` is the last node of every graph.
"""

import asyncio
import logging
import math
from typing import Any

from selfright.domain.answers import Attempt
from selfright.domain.errors import RECOVERABLE_ERRORS, JudgeFailed
from selfright.domain.events import DraftWithdrawn
from selfright.domain.judgements import Claim, ClaimStatus, Grading
from selfright.domain.passages import Hit
from selfright.domain.tools import Tools
from selfright.flow.attempts import iteration, judge_of, repair, repeated_answer
from selfright.flow.choosing import best_of, best_quotation, better_of_quotation, instead_of_refusal
from selfright.flow.evidence import merge_gradings, whole
from selfright.flow.finishing import finish
from selfright.flow.guards import budget_spent, stop_reason
from selfright.flow.state import AgentState, texts_in


async def evaluate(state: AgentState, tools: Tools) -> dict[str, Any]:
    """Lets the strategy judge the draft, and stores it if it is the best so far."""
    update = dict(await tools.strategy.refine(state))
    score = update["quality_score"]
    if not (isinstance(score, int | float) and math.isfinite(score)):
        raise JudgeFailed(
            f"a strategy must give a finite quality_score, but {tools.strategy.get_strategy_name()} did not"
        )
    attempt = Attempt(
        draft=state["draft"],
        evaluation=update.get("evaluation"),
        score=score,
        iteration=state["iteration_count"],
        verdict=state.get("verdict"),
        strips=state.get("strips") or (),
        hits=(*state.get("retrieved_docs", ()), *state.get("web_docs", ())),
        grading=_merge_gradings(state),
    )
    before = (*state.get("quality_score_history", ()), score)
    scores = before if judge_of(state.get("evaluation")) is judge_of(attempt.evaluation) else ()
    return {
        **update,
        "best": await best_of(state, tools, attempt),
        "quoted": await best_quotation(state, tools, attempt),
        "quality_score_history": (score,),
        "iterations": (iteration(state, scores, score if update.get("evaluation") else None),),
    }


def _merge_gradings(state: AgentState) -> Grading | None:
    """The grading of what the draft was written from: of this pass, and of an earlier one whose evidence was kept."""
    own = merge_gradings(state.get("grading"), state.get("web_grading"))
    best = state.get("best")
    if best is None or best.grading is None:
        return own
    graded = {grade.passage_id for grade in own.grades} if own else set()
    kept = {strip.passage.id for strip in state.get("strips") or ()} - graded
    is_graded = any(best.grading.probability(name) is not None for name in kept)
    return merge_gradings(own, best.grading) if is_graded else own


async def quality_check(state: AgentState, tools: Tools) -> dict[str, Any]:
    """Stops with a reason, or starts another pass at the node it names."""
    wanted = state["needs_retrieval"] and tools.strategy.should_retrieve(state) and not _restates_well(state)
    reason = stop_reason(state, tools.flags, tools.meter, wanted)
    spent = {"budget": tools.meter.cost()}
    if reason is not None:
        return {"stop_reason": reason, "next_node": "finalize", **spent}
    target = state.get("next_node")
    if tools.emit is not None:
        tools.emit(DraftWithdrawn(state["iteration_count"], _label(state)))
    return {
        "iteration_count": state["iteration_count"] + 1,
        "retry_count": state["retry_count"] + 1,
        "next_node": target if target in ("retrieve", "classify") else "rewrite",
        **spent,
    }


def _restates_well(state: AgentState) -> bool:
    """Whether the draft restates an earlier answer, as requested, and its sources support it."""
    evaluation = state.get("evaluation")
    if repeated_answer(state) is None or evaluation is None:
        return False
    return all(claim.status is ClaimStatus.SUPPORTED for claim in evaluation.claims)


def _label(state: AgentState) -> str:
    evaluation = state.get("evaluation")
    return evaluation.answer_quality.value if evaluation else ""


log = logging.getLogger(__name__)

_MOST_CLAIMS = 3
_PASSAGES = 4


async def repair_claims(state: AgentState, tools: Tools) -> dict[str, Any]:
    """Searches once for the unsupported claims of the best answer, and cites what supports them.

    Claims without support are removed later. Nothing is rewritten, so this can only add support.
    """
    best = state.get("best")
    claims = _unsupported_claims(best)
    if best is None or not claims or not tools.flags.claim_repair_enabled or budget_spent(tools.meter):
        return {"repaired_claims": ()}
    try:
        hits = await _search_claims(claims, best, tools)
    except RECOVERABLE_ERRORS as error:
        # The answer exists already; claims that this search might have supported are removed instead.
        log.warning("unsupported claims were not looked up: the search failed (%s)", type(error).__name__)
        return {"repaired_claims": (), "notes": (texts_in(state["language"])["notes"]["not_looked_up"],)}
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
    mended, texts = repair(best, judged.get("evaluation"), hits)
    return {"best": mended, "repaired_claims": texts}


def _unsupported_claims(best: Attempt | None) -> list[Claim]:
    evaluation = best.evaluation if best else None
    claims = evaluation.claims if evaluation else ()
    return [claim for claim in claims if claim.status is ClaimStatus.UNSUPPORTED][:_MOST_CLAIMS]


async def _search_claims(claims: list[Claim], best: Attempt, tools: Tools) -> tuple[Hit, ...]:
    """Passages for the claims, without those that the answer was written from."""
    searches = (tools.retriever.search(claim.text, _PASSAGES) for claim in claims)
    known = {strip.passage.id for strip in best.strips}
    fresh = {hit.passage.id: hit for found in await asyncio.gather(*searches) for hit in found.hits}
    return tuple(hit for name, hit in fresh.items() if name not in known)


async def finalize(state: AgentState, tools: Tools) -> dict[str, Any]:
    """Returns the best answer without unsupported sentences, or a refusal.

    If a model answer fails its checks, an extractive answer replaces it if it is better, or if the turn would refuse
    otherwise.
    """
    best = await better_of_quotation(state, tools)
    judged: AgentState = {**state, "best": best} if best is not None else state
    update = finish(judged, tools)
    if update["abstained"] and (quoting := await instead_of_refusal(judged, tools)) is not None:
        other = finish({**judged, "best": quoting}, tools)
        return update if other["abstained"] else other
    return update
