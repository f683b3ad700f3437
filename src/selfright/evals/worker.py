"""One question asked of one system: the work of this process, or of a worker process that got its setup as JSON.

A turn becomes a record with all that metrics and reports need, and no object of the engine.
"""

import logging
import sys
import uuid
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, fields, replace
from itertools import chain, repeat
from typing import IO, Any

from pydantic import TypeAdapter

from selfright.api.selfright import Selfright
from selfright.domain.answers import Iteration
from selfright.domain.errors import SelfrightError, StoreError, UsageError
from selfright.domain.judgements import Evaluation
from selfright.domain.traces import Examination, WatchedPass
from selfright.evals.reading import Question
from selfright.evals.results import Judgement, Pass, Retrieved, Row, Turn, Visit, adapter
from selfright.evals.systems import System
from selfright.evals.words import gold_in, has_gold, normalize, spoken_text
from selfright.processes import receive, send

BROUGHT = 0.75
"""The share of a missing item's words that one passage must hold to have brought it."""


def record(examined: Examination, question: Question) -> Turn:
    """The turn as results keep it, with what its steps had of the question's gold answers."""
    answer = examined.answer
    return Turn(
        answer=answer.answer,
        abstained=answer.abstained,
        language=answer.language,
        verdict=answer.verdict,
        stop_reason=answer.stop_reason,
        degraded=answer.degraded,
        **asdict(answer.cost),
        evaluation=_judgement(answer.evaluation),
        judged=_judgement(examined.judged),
        passes=_passes(answer.iterations, examined.passes),
        path=tuple(Visit(step.node, step.said, step.outcome.stop or "") for step in answer.trace),
        citations=answer.citations,
        removed_claims=answer.removed_claims,
        notes=answer.notes,
        judge_calls=examined.judge_cost.llm_calls,
        held=retrieved_gold(examined, question),
    )


def retrieved_gold(examined: Examination, question: Question) -> Retrieved | None:
    """Which steps of a watched turn had a gold answer; None for a question without one."""
    if question.answerable is False or not has_gold(question):
        return None
    passes = examined.passes

    def has_texts(texts: Iterable[str]) -> bool:
        return any(gold_in(text, question) for text in dict.fromkeys(texts))

    return Retrieved(
        found=has_texts(passage.text for one in passes for passage in one.found),
        looked=has_texts(passage.text for one in passes for passage in (*one.passages, *one.graded)),
        strips=has_texts(strip for one in passes for strip in one.strips),
        draft=has_texts(spoken_text(one.draft) for one in passes),
        final=has_texts([spoken_text(examined.final)]),
    )


def _judgement(evaluation: Evaluation | None) -> Judgement | None:
    if evaluation is None:
        return None
    return Judgement(**{field.name: getattr(evaluation, field.name) for field in fields(Judgement)})


def gold_texts(items: Sequence[str], texts: Sequence[str]) -> tuple[str, ...]:
    """The items of which one of the texts holds three quarters of the words."""
    held = [set(normalize(text).split()) for text in texts]
    return tuple(item for item in items if any(_share(item, words) >= BROUGHT for words in held))


def _share(item: str, words: set[str]) -> float:
    """The share of an item's words among ``words``; Korean ones may lack or have a particle of one or two syllables."""
    wanted = normalize(item).split()
    found = sum(word in words or any(_same_stem(word, other) for other in words) for word in wanted)
    return found / len(wanted) if wanted else 0.0


def _same_stem(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return len(short) >= 2 and "가" <= short[-1] <= "힣" and long.startswith(short) and len(long) - len(short) <= 2


def _passes(iterations: Sequence[Iteration], watched: Sequence[WatchedPass]) -> tuple[Pass, ...]:
    """What the turn says of its passes, and what was seen of them: a draft is written in each."""
    return tuple(map(_pass, iterations, chain(watched, repeat(None)), chain((None,), watched, repeat(None))))


def _pass(iteration: Iteration, seen: WatchedPass | None, before: WatchedPass | None) -> Pass:
    evaluation = seen.evaluation if seen else None
    missed = before.evaluation.missing_info if before and before.evaluation else ()
    had = [passage.text for passage in before.passages] if before else []
    has = [passage.text for passage in seen.passages] if seen else []
    came = gold_texts(missed, has)
    old = gold_texts(came, had)
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


TASK = TypeAdapter(tuple[System, Question])
"""What a worker is sent."""
log = logging.getLogger(__name__)


def serve(answers: IO[bytes]) -> None:
    """The worker's side: hears its setup and opens the index once, then answers tasks until its input ends."""
    setup = receive(sys.stdin.buffer)
    selfright = Selfright.open(**setup["values"])
    while (task := receive(sys.stdin.buffer)) is not None:
        try:
            row = ask_row(selfright, *TASK.validate_python(task), setup["judge"])
            answer = adapter(Row).dump_python(row, mode="json")
        except SelfrightError as error:
            answer = {"failed": str(error)}
        with suppress(BrokenPipeError):
            send(answers, answer)


def lost_row(question: Question) -> Row:
    """The row of a question over which its process ended."""
    return replace(_row(question), error="the process that was to answer this question ended; run again to ask it")


def ask_row(selfright: Selfright, system: System, question: Question, judge: Any) -> Row:
    """The row of one turn. An error of that turn is written into it; one of the index or of the flags is raised."""
    row = _row(question)
    try:
        examined = selfright.examine(
            question.question,
            judge,
            preset=system.preset,
            flags=system.flags,
            history=question.history,
            profile=question.profile or None,
            user=f"evaluation-{uuid.uuid4().hex}",  # nothing that one turn remembers may shape another
        )
    except (UsageError, StoreError):
        raise
    except Exception as error:  # whatever it is: the other questions go on, and this one says why it has no answer
        log.info("question %s failed under %s", question.id, system.name, exc_info=True)
        return replace(row, error=f"{type(error).__name__}: {error}")
    return replace(row, turn=record(examined, question))


def _row(question: Question) -> Row:
    gold = (*question.answers, *question.patterns)
    return Row(question.id, question.question, gold, question.answerable, question.relevant)
