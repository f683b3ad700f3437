"""A watched turn → its record: all that metrics and reports need, and no object of the engine."""

from collections.abc import Sequence
from itertools import zip_longest

from selfright.domain.answers import Answer, Iteration
from selfright.domain.examining import Examined, WatchedPass
from selfright.domain.judgements import Evaluation
from selfright.evals.funnel import held
from selfright.evals.overlap import normalised
from selfright.evals.questions import Question
from selfright.evals.results import Cited, Judgement, Pass, Turn, Visit

BROUGHT = 0.75
"""The share of a missing item's words that one passage must hold to have brought it."""

_LONGEST_QUOTE = 2_000


def record(examined: Examined, question: Question) -> Turn:
    """The turn as results keep it, with what its steps had of the question's gold answers."""
    answer, cost = examined.answer, examined.answer.cost
    return Turn(
        answer=answer.answer,
        abstained=answer.abstained,
        language=answer.language,
        verdict=answer.verdict and answer.verdict.value,
        stop_reason=answer.stop_reason.value,
        degraded=answer.degraded,
        evaluation=judgement(answer.evaluation) if answer.evaluation else None,
        judged=judgement(examined.judged) if examined.judged else None,
        passes=_passes(answer.iterations, examined.passes),
        path=tuple(Visit(step.node, step.said) for step in answer.trace),
        citations=_citations(answer),
        removed_claims=answer.removed_claims,
        notes=answer.notes,
        llm_calls=cost.llm_calls,
        prompt_tokens=cost.prompt_tokens,
        completion_tokens=cost.completion_tokens,
        web_requests=cost.web_requests,
        seconds=round(cost.seconds, 4),
        judge_calls=examined.judge_cost.llm_calls,
        held=held(examined, question),
    )


def judgement(evaluation: Evaluation) -> Judgement:
    """The scores of an evaluation."""
    return Judgement(
        overall=evaluation.overall,
        grounding=evaluation.grounding,
        completeness=evaluation.completeness,
        accuracy=evaluation.accuracy,
        answer_quality=evaluation.answer_quality.value,
        confidence=evaluation.confidence,
        source=evaluation.source.value,
    )


def brought(items: Sequence[str], texts: Sequence[str]) -> tuple[str, ...]:
    """The items of which one of the texts holds three quarters of the words."""
    held = [set(normalised(text).split()) for text in texts]
    return tuple(item for item in items if any(_share(item, words) >= BROUGHT for words in held))


def _share(item: str, words: set[str]) -> float:
    """The share of an item's words among ``words``; Korean ones may lack or have a particle of one or two syllables."""
    wanted = normalised(item).split()
    found = sum(word in words or any(_same_stem(word, other) for other in words) for word in wanted)
    return found / len(wanted) if wanted else 0.0


def _same_stem(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return len(short) >= 2 and "가" <= short[-1] <= "힣" and long.startswith(short) and len(long) - len(short) <= 2


def _passes(iterations: Sequence[Iteration], watched: Sequence[WatchedPass]) -> tuple[Pass, ...]:
    """What the turn says of its passes, and what was seen of them: a draft is written in each."""
    found: list[Pass] = []
    before: WatchedPass | None = None
    for iteration, one in zip_longest(iterations, watched[: len(iterations)]):
        found.append(_pass(iteration, one, before))
        before = one
    return tuple(found)


def _pass(iteration: Iteration, seen: WatchedPass | None, before: WatchedPass | None) -> Pass:
    evaluation = seen.evaluation if seen else None
    missed = before.evaluation.missing_info if before and before.evaluation else ()
    had = [passage.text for passage in before.passages] if before else []
    has = [passage.text for passage in seen.passages] if seen else []
    came = brought(missed, has)
    old = brought(came, had)
    return Pass(
        query=iteration.query,
        verdict=iteration.verdict and iteration.verdict.value,
        overall=iteration.overall,
        grounding=evaluation.grounding if evaluation else None,
        documents=iteration.documents,
        improvement=iteration.improvement,
        duplicate_share=iteration.duplicate_share,
        missing_info=evaluation.missing_info if evaluation else (),
        brought=came,
        new=tuple(item for item in came if item not in old),
    )


def _citations(answer: Answer) -> tuple[Cited, ...]:
    return tuple(
        Cited(one.document_id, one.start, one.end, one.text[:_LONGEST_QUOTE], one.url) for one in answer.citations
    )
