"""Chooses the best attempt of a turn, and holds a model's answer against sentences of the documents."""

import logging
from dataclasses import replace

from selfright.domain.answers import Attempt
from selfright.domain.errors import RECOVERABLE_ERRORS
from selfright.domain.judgements import AnswerQuality, ClaimStatus
from selfright.domain.ports import Evaluator
from selfright.domain.tools import Tools
from selfright.flow.attempts import better, judge_of, without_unsupported, write_draft
from selfright.flow.state import AgentState
from selfright.flow.strategies import evaluation_request

log = logging.getLogger(__name__)


async def best_quotation(state: AgentState, tools: Tools, written: Attempt) -> Attempt | None:
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
    if tools.fallback_generator is None:
        return None
    try:
        draft = await write_draft({**state, "strips": written.strips}, tools.fallback_generator)
        if draft.refused:
            return None
        return await _judge_attempt(tools.referee, state, replace(written, draft=replace(draft, stands_in=True)))
    except RECOVERABLE_ERRORS as error:
        log.warning("nothing could be quoted beside the model's answer (%s)", type(error).__name__)
        return None


async def _judge_attempt(judge: Evaluator, state: AgentState, attempt: Attempt) -> Attempt:
    """The attempt as ``judge`` scores it, by its own evidence."""
    request = evaluation_request({**state, "draft": attempt.draft, "strips": attempt.strips})
    evaluation = await judge.evaluate(replace(request, hits=attempt.hits))
    return replace(attempt, evaluation=evaluation, score=evaluation.overall)


# A part that only one of them answers makes more of a difference, a sentence beside the point less.
_CLEARLY = 0.1


async def better_of_quotation(state: AgentState, tools: Tools) -> Attempt | None:
    """The turn's best attempt, or the best extractive one if that is better than what is supported of it.

    The local judge scores both, because scores of two judges cannot be compared.
    """
    best, beside = state.get("best"), state.get("quoted")
    if best is None or holds_up(best):
        return best
    draft, removed = without_unsupported(best.draft, best.evaluation)
    if beside is None and not removed:
        return best
    try:
        own = await _judge_attempt(tools.referee, state, replace(best, draft=draft))
    except RECOVERABLE_ERRORS as error:
        log.warning("the model's answer could not be held against a quoting one (%s)", type(error).__name__)
        return best
    if beside is not None and _answers_better(beside, own):
        return beside
    return _supported_part(best, own) if removed else best


def _supported_part(best: Attempt, own: Attempt) -> Attempt:
    """``best`` with the judgement of ``own``, what of it is supported, and of the claims that go."""
    if best.evaluation is None or own.evaluation is None:
        return best
    unsupported = (claim for claim in best.evaluation.claims if claim.status is ClaimStatus.UNSUPPORTED)
    evaluation = replace(own.evaluation, claims=(*own.evaluation.claims, *unsupported))
    return replace(best, evaluation=evaluation, score=own.score)


async def best_of(state: AgentState, tools: Tools, new: Attempt) -> Attempt:
    """The turn's best attempt, or ``new`` if that is better.

    The local judge scores both if different judges scored them. One that only a heuristic scored is never better.
    """
    best = state.get("best")
    if best is None or judge_of(best.evaluation) is judge_of(new.evaluation):
        return better(best, new)
    if _is_verified(best) != _is_verified(new):
        return best if _is_verified(best) else new
    try:
        before, after = [await _judge_attempt(tools.referee, state, attempt) for attempt in (best, new)]
    except RECOVERABLE_ERRORS as error:
        log.warning("the drafts of two passes could not be compared (%s): the first stands", type(error).__name__)
        return best
    return new if _rank(after) > _rank(before) else best


def _is_verified(attempt: Attempt) -> bool:
    return attempt.evaluation is not None and attempt.evaluation.verified


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


def _answers_better(quotation: Attempt, own: Attempt) -> bool:
    """Whether the quotation is better than a draft; of one that is all supported, only by answering more.

    Sentences of documents are supported in any case, so that their overall score is higher at the same worth.
    """
    one, other, judged = _rank(quotation), _rank(own), own.evaluation
    if one[:3] != other[:3] or judged is None or quotation.evaluation is None:
        return one > other
    supported = all(claim.status is ClaimStatus.SUPPORTED for claim in judged.claims)
    return quotation.evaluation.completeness > judged.completeness + _CLEARLY if supported else one > other


def _rank(attempt: Attempt) -> tuple[bool, bool, bool, float]:
    """Sort key: answers over refusals, then adequate ones, then those without unsupported claims, then the score."""
    evaluation = attempt.evaluation
    if evaluation is None:
        return False, False, False, 0.0
    unsupported = any(claim.status is ClaimStatus.UNSUPPORTED for claim in evaluation.claims)
    adequate = evaluation.answer_quality is AnswerQuality.ADEQUATE
    return not attempt.draft.refused, adequate, not unsupported, round(evaluation.overall, 6)
