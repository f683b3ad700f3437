"""Fallback for weak models: an answer that fails its checks is replaced by sentences from the documents."""

import logging
from dataclasses import replace

from selfright.domain.answers import Attempt, Draft
from selfright.domain.errors import FAILURES
from selfright.domain.judgements import AnswerQuality, ClaimStatus, Evaluation
from selfright.domain.tools import Tools
from selfright.flow.attempts import generation_request
from selfright.flow.state import AgentState
from selfright.flow.strategies import evaluation_request

log = logging.getLogger(__name__)


async def quoted(state: AgentState, tools: Tools, written: Attempt) -> Attempt | None:
    """The best extractive answer of all passes so far, judged locally.

    None is made for an answer that passed its checks. No model is called.
    """
    best = state.get("quoted")
    attempt = None if holds_up(written) else await _quotation(state, tools, written)
    if attempt is None:
        return best
    return attempt if best is None or _rank(attempt) > _rank(best) else best


async def instead_of_refusal(state: AgentState, tools: Tools) -> Attempt | None:
    """An extractive answer for a turn that would otherwise refuse: offline, the turn might have had an answer."""
    best, beside = state.get("best"), state.get("quoted")
    if best is None or best.evaluation is None or best.draft.stands_in:
        return None
    return beside or await _quotation(state, tools, best)


async def _quotation(state: AgentState, tools: Tools, written: Attempt) -> Attempt | None:
    """An extractive answer from the evidence of ``written``, judged locally; None if the evidence gives none."""
    if tools.floor is None:
        return None
    writer, judge = tools.floor
    seen: AgentState = {**state, "strips": written.strips}
    try:
        draft = await writer.generate(generation_request(seen))
        request = evaluation_request({**seen, "draft": draft})
        evaluation = await judge.evaluate(replace(request, hits=written.hits))
    except FAILURES as error:
        log.warning("nothing could be quoted beside the model's answer (%s)", type(error).__name__)
        return None
    if draft.refused:
        return None
    return replace(written, draft=replace(draft, stands_in=True), evaluation=evaluation, score=evaluation.overall)


async def floored(state: AgentState, tools: Tools) -> Attempt | None:
    """The turn's best attempt, or the best extractive one if that is better.

    The local judge scores both, because scores of two judges cannot be compared.
    """
    best, beside = state.get("best"), state.get("quoted")
    if best is None or beside is None or tools.floor is None or holds_up(best):
        return best
    request = evaluation_request({**state, "draft": best.draft, "strips": best.strips})
    try:
        own = await tools.floor[1].evaluate(replace(request, hits=best.hits))
    except FAILURES as error:
        log.warning("the model's answer could not be held against a quoting one (%s)", type(error).__name__)
        return best
    return beside if _rank(beside) > _rank(replace(best, evaluation=own)) else best


async def instead_of_weak(state: AgentState, tools: Tools, written: Attempt) -> Draft | None:
    """The offline writer's draft for that of a weak model which failed its checks, or has not earned it.

    The turn goes on with it as it would without the model. None where the model's draft stays.
    """
    if not tools.weak_writer or tools.floor is None or not written.strips or written.draft.stands_in:
        return None
    if holds_up(written) and _is_earned(written.evaluation):
        return None
    try:
        return replace(await tools.floor[0].generate(generation_request(state)), stands_in=True)
    except FAILURES as error:
        log.warning("nothing could be quoted in place of the model's answer (%s)", type(error).__name__)
        return None


def _is_earned(evaluation: Evaluation | None) -> bool:
    """Whether every sentence is supported and nothing that was asked is left out; no judge gives no reason to doubt."""
    if evaluation is None:
        return True
    supported = all(claim.status is ClaimStatus.SUPPORTED for claim in evaluation.claims)
    return bool(evaluation.claims) and supported and not evaluation.missing_info


def holds_up(best: Attempt) -> bool:
    """Whether a draft passed its checks: adequate, and no unsupported claim.

    True also for drafts that were not judged, and for extractive ones.
    """
    evaluation = best.evaluation
    if evaluation is None or best.draft.stands_in:
        return True
    unsupported = any(claim.status is ClaimStatus.UNSUPPORTED for claim in evaluation.claims)
    adequate = evaluation.answer_quality is AnswerQuality.ADEQUATE
    return adequate and evaluation.verified and not unsupported and not best.draft.refused


def _rank(attempt: Attempt) -> tuple[bool, bool, bool, float]:
    """Sort key: answers over refusals, then adequate ones, then those without unsupported claims, then the score."""
    evaluation = attempt.evaluation
    if evaluation is None:
        return False, False, False, 0.0
    unsupported = any(claim.status is ClaimStatus.UNSUPPORTED for claim in evaluation.claims)
    adequate = evaluation.answer_quality is AnswerQuality.ADEQUATE
    return not attempt.draft.refused, adequate, not unsupported, round(evaluation.overall, 6)
