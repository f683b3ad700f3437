"""A model asked the probe set, job by job, beside the offline roles.

The set ships: questions over small documents, answers true and false, messages, follow-ups, queries.
"""

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from typing import Any, TypeVar

from selfright.domain.answers import Draft, EvaluationRequest, GenerationRequest, Message, RewriteRequest, Sentence
from selfright.domain.chat import Job, OnText
from selfright.domain.errors import RECOVERABLE_ERRORS
from selfright.domain.judgements import AnswerQuality, Grading, QueryClass
from selfright.domain.passages import Hit, Language
from selfright.domain.text import language_of, sentences_of
from selfright.evals.models.report import CheckReport, JobReport
from selfright.evals.models.writing import WritingProbe, check_writing
from selfright.flow.evidence import whole
from selfright.wiring.examination import Bench

_FILE = "probes.json"


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the document that answers it, the words of the answer, and two answers: ``true`` and ``false``."""

    text: str
    language: Language
    document: str
    gold: str
    true: str
    false: str


@dataclass(frozen=True, slots=True)
class Probes:
    """All of the set. ``documents``: rows as they are indexed; the others as the file has them."""

    documents: tuple[Mapping[str, Any], ...]
    questions: tuple[Question, ...]
    messages: tuple[Mapping[str, Any], ...]
    followups: tuple[Mapping[str, Any], ...]
    rewrites: tuple[Mapping[str, Any], ...]
    writing: tuple[WritingProbe, ...]


@cache
def probes() -> Probes:
    """The set that ships."""
    from pydantic import TypeAdapter

    return TypeAdapter(Probes).validate_json(files("selfright.evals.models").joinpath(_FILE).read_bytes())


_SHOWN = 4  # passages of a question that are graded
_SEARCHED = 25
_UNKNOWN = 0.5
_CHOICE = 1


Items = list[Callable[[], Awaitable[tuple[float, float]]]]
"""Each gives the model's value and ours."""
Progress = Callable[[int, int, str], None]
T = TypeVar("T")


def plan_calls(probes: Probes, most: int | None = None) -> int:
    """How many calls a check takes, when each gets a usable reply; with at most ``most`` items of a job."""
    questions = len(probes.questions)
    written = sum(len(probe.questions) for probe in probes.writing)
    jobs = (questions, 2 * questions, len(probes.messages), len(probes.followups) + len(probes.rewrites), written)
    return sum(count if most is None else min(count, most) for count in jobs)


@dataclass(frozen=True, slots=True)
class Limits:
    """``items``: at most so many of a job, None for all; ``seconds``: for the check, but each job has one item."""

    items: int | None = None
    seconds: float = math.inf


async def check_model(
    bench: Bench, probes: Probes, progress: Progress | None = None, limits: Limits = Limits()
) -> CheckReport:
    """Asks one call after the other. Raises nothing of a model's: what fails counts as unusable.

    The items come in an order that is always the same, and that mixes their kinds. A job ends when its answer is clear,
    or when its share of the seconds that are left is over.
    """
    hits: dict[str, tuple[Hit, ...]] = {}
    for question in probes.questions:  # the set has the same passages in both languages
        found = (await bench.retriever.search(question.text, _SEARCHED)).hits
        hits[question.text] = tuple(hit for hit in found if hit.passage.language == question.language)[:_SHOWN]
    jobs: dict[Job, Items] = {
        Job.GRADE: [
            partial(_check_grading, bench, q, hits[q.text]) for q in probes.questions if _divides(q, hits[q.text])
        ],
        Job.EVALUATE: [
            partial(_check_judging, bench, q, shown, text, holds)
            for n, q in enumerate(probes.questions)
            for shown, text, holds in ((hits[q.text], q.true, True), (*_not_holding(n, q, hits[q.text]), False))
        ],
        Job.CLASSIFY: [partial(_check_classifying, bench, m["text"], m["class"]) for m in probes.messages],
        Job.REWRITE: [
            *(partial(_check_follow_up, bench, f["before"], f["question"], f["names"]) for f in probes.followups),
            *(partial(_rewritten, bench, r) for r in probes.rewrites),
        ],
        Job.ANSWER: [partial(check_writing, bench, probe, q) for probe in probes.writing for q in probe.questions],
    }
    jobs = {job: _some(items, limits.items) for job, items in jobs.items()}
    total, begun, until = sum(map(len, jobs.values())), 0, time.perf_counter() + limits.seconds
    reports: list[JobReport] = []
    for job, items in jobs.items():
        now = time.perf_counter()
        share = now + (until - now) / (len(jobs) - len(reports))
        reports.append(await _job(bench, job, items, partial(_tell, progress, begun, total), share))
        begun += len(items)
    return CheckReport(bench.name, tuple(reports), bench.meter.prompt_tokens, bench.meter.completion_tokens)


def _tell(progress: Progress | None, begun: int, total: int, done: int) -> None:
    if progress:
        progress(begun + done, total, "")


def _some(items: Items, most: int | None) -> Items:
    count = len(items) if most is None else min(most, len(items))
    return random.Random(_CHOICE).sample(items, count)  # noqa: S311 - a choice that repeats, no secret


async def _job(bench: Bench, job: Job, items: Items, tell: Callable[[int], None], until: float) -> JobReport:
    values: list[tuple[float, float]] = []
    calls, failed, began = bench.meter.llm_calls, 0, time.perf_counter()
    report = JobReport(job, (), (), 0.0, 0.0, 0)
    for n, item in enumerate(items, start=1):
        before = _failures(bench)
        left = until - time.perf_counter()
        try:
            async with asyncio.timeout(left if values and left < math.inf else None):
                values.append(await item())
        except TimeoutError:  # an item that is not finished counts neither way
            break
        failed += _failures(bench) > before
        tell(n)
        asked, now = bench.meter.llm_calls - calls, time.perf_counter()
        theirs, ours = (tuple(value[place] for value in values) for place in (0, 1))
        report = JobReport(job, theirs, ours, 1 - failed / n if asked else 0.0, now - began, asked)
        if now > until or report.is_clear(len(items)):
            break
    tell(len(items))
    return report


def _failures(bench: Bench) -> int:
    return sum(bench.meter.troubles.values()) + bench.failed


async def _try(bench: Bench, asked: Awaitable[T]) -> T | None:
    try:
        return await asked
    except RECOVERABLE_ERRORS:
        bench.failed += 1
        return None


async def _check_grading(bench: Bench, question: Question, hits: Sequence[Hit]) -> tuple[float, float]:
    ours = await bench.offline.grader.grade(question.text, hits)
    theirs = await _try(bench, bench.model.grader.grade(question.text, hits))
    return _order(theirs, hits, question) if theirs else _UNKNOWN, _order(ours, hits, question)


def _order(grading: Grading, hits: Sequence[Hit], question: Question) -> float:
    """The share of pairs in which the passage that answers stands above one that does not; a tie is half of one."""
    given = {grade.passage_id: grade.probability for grade in grading.grades if grade.probability is not None}
    known = {hit.passage: given.get(hit.passage.id, _UNKNOWN) for hit in hits}
    good = [p for passage, p in known.items() if passage.document_id == question.document]
    bad = [p for passage, p in known.items() if passage.document_id != question.document]
    pairs = [1.0 if a > b else _UNKNOWN if a == b else 0.0 for a in good for b in bad]
    return sum(pairs) / len(pairs) if pairs else _UNKNOWN


def _divides(question: Question, hits: Sequence[Hit]) -> bool:
    """Whether there is something to tell apart: a passage that answers, and one that does not."""
    return len({hit.passage.document_id == question.document for hit in hits}) == 2


def _not_holding(number: int, question: Question, hits: Sequence[Hit]) -> tuple[Sequence[Hit], str]:
    """Passages and an answer that is not adequate to them, by turns: a false one; one that no passage supports; what
    its document says beside the point, as drafts mostly do."""
    others = [hit for hit in hits if hit.passage.document_id != question.document]
    if number % 3 == 1 and others:
        return others, question.true
    texts = [hit.passage.text for hit in hits if hit not in others]
    beside = [text[start:end] for text in texts for start, end in sentences_of(text)]
    beside = [sentence for sentence in beside if question.gold.casefold() not in sentence.casefold()]
    return hits, beside[-1] if number % 3 == 2 and beside else question.false


async def _check_judging(
    bench: Bench, question: Question, hits: Sequence[Hit], text: str, holds: bool
) -> tuple[float, float]:
    draft = Draft(text, (Sentence(text),))
    request = EvaluationRequest(question.text, draft, question.language, hits=tuple(hits), strips=whole(hits))
    ours = await bench.offline.evaluator.evaluate(request)
    theirs = await _try(bench, bench.model.evaluator.evaluate(request))
    right = float((ours.answer_quality is AnswerQuality.ADEQUATE) == holds)
    return float((theirs.answer_quality is AnswerQuality.ADEQUATE) == holds) if theirs else _UNKNOWN, right


async def _check_classifying(bench: Bench, text: str, kind: str) -> tuple[float, float]:
    wanted = QueryClass(kind)
    theirs, ours = [await roles.classifier.classify(text) for roles in (bench.model, bench.offline)]
    return float(theirs is wanted), float(ours is wanted)


async def _check_follow_up(
    bench: Bench, before: Sequence[str], question: str, names: Sequence[str]
) -> tuple[float, float]:
    history = (Message("user", before[0]), Message("assistant", before[1]))
    theirs, ours = [await roles.rewriter.standalone(question, history) for roles in (bench.model, bench.offline)]
    return _has_any(theirs, names), _has_any(ours, names)


async def _rewritten(bench: Bench, row: Mapping[str, Any]) -> tuple[float, float]:
    question = row["question"]
    before = {"previous_answer": row["answer"], "missing_info": tuple(row["missing"])}
    request = RewriteRequest(question=question, query=question, language=language_of(question), **before)
    theirs, ours = [await roles.rewriter.rewrite(request) for roles in (bench.model, bench.offline)]
    return _has_all(theirs, row["names"]), _has_all(ours, row["names"])


def _has_any(text: str, names: Sequence[str]) -> float:
    return float(any(name.casefold() in text.casefold() for name in names))


def _has_all(text: str, names: Sequence[str]) -> float:
    return sum(name.casefold() in text.casefold() for name in names) / len(names)


class NoWriter:
    """Stands where an offline writer would: it writes nothing, so that what fails is seen."""

    needs_documents = True

    async def generate(self, request: GenerationRequest, on_text: OnText | None = None) -> Draft:
        """An empty draft."""
        del request, on_text
        return Draft("")
