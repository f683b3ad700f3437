"""Every job with a real small model, which does most of them badly: each ends, and nothing unearned is called verified.

A few jobs are tried each time; the others take minutes on a slow machine and want ``SLOW_TESTS=1``.
"""

import json
import os
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from selfright import Selfright, TurnFinished
from selfright.domain.answers import Draft, EvaluationRequest, GenerationRequest, Message, RewriteRequest, Sentence
from selfright.domain.chat import Job
from selfright.domain.errors import RECOVERABLE_ERRORS
from selfright.domain.events import AnswerToken
from selfright.domain.judgements import Evaluation, EvaluationSource, Grading, QueryClass, StopReason
from selfright.domain.passages import Hit
from selfright.evals.models.checking import NoWriter
from selfright.flow.evidence import whole
from selfright.llm.local import backend
from selfright.llm.local.backend import demo_weights
from selfright.settings import load_settings
from selfright.wiring.examination import Bench, open_bench
from tests.support.gguf import scrambled
from tests.support.llm import HISTORY, QUESTION, write_index

SLOW = pytest.mark.skipif(not os.environ.get("SLOW_TESTS"), reason="set SLOW_TESTS=1")
FERRY = "The ferry to Hallow Island leaves the north pier at 07:40. Dogs need a ticket of their own."
KILN = "Stoneware is fired to 1,240 degrees. Open the kiln only when it has cooled below 90 degrees."
ASKED = "When does the ferry leave?"
FALSE = "The ferry leaves at noon and dogs travel free."


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    folder = tmp_path_factory.mktemp("bench")
    documents = folder / "documents.jsonl"
    rows = [{"id": "ferry", "title": "Ferry", "text": FERRY}, {"id": "kiln", "title": "Kiln", "text": KILN}]
    documents.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    settings = load_settings(
        {
            "llm": "local:smollm2", "llm_timeout_s": 300, "llm_attempts": 1, "embedder": "none",
            "index": folder / "index", "home": folder / "home",
        }
    )  # fmt: skip
    with open_bench(settings, documents, NoWriter()) as opened:
        yield opened


@pytest.fixture(autouse=True)
def few_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    """Objects break off at that bound now and then, which is one of the things that must be borne."""
    monkeypatch.setattr(backend, "_MOST_TOKENS", 64)


async def hits(bench: Bench) -> tuple[Hit, ...]:
    return (await bench.retriever.search(ASKED, 4)).hits


async def classified(bench: Bench) -> None:
    assert await bench.model.classifier.classify("Thanks, that is all.") in set(QueryClass)


async def graded(bench: Bench) -> None:
    found = await hits(bench)
    grading: Grading = await bench.model.grader.grade(ASKED, found)
    known = [grade.probability for grade in grading.grades if grade.probability is not None]
    assert all(0.0 <= value <= 1.0 for value in (*known, grading.sufficiency or 0.0))


async def picked(bench: Bench) -> None:
    found = await hits(bench)
    refined = await bench.model.refiner.refine(ASKED, found)
    texts = {hit.passage.id: hit.passage.text for hit in found}
    assert refined.strips
    assert all(strip.text in texts[strip.passage.id] for strip in refined.strips)


async def judged(bench: Bench) -> None:
    found = await hits(bench)
    draft = Draft(FALSE, (Sentence(FALSE),))
    request = EvaluationRequest(question=ASKED, draft=draft, language="en", hits=found, strips=whole(found))
    evaluation: Evaluation = await bench.model.evaluator.evaluate(request)
    values = (evaluation.grounding, evaluation.completeness, evaluation.accuracy, evaluation.confidence)
    assert all(0.0 <= value <= 1.0 for value in values)
    assert evaluation.source in (EvaluationSource.LLM, EvaluationSource.LOCAL)


async def rewritten(bench: Bench) -> None:
    request = RewriteRequest(ASKED, ASKED, "en", previous_answer="It leaves.", missing_info=("the hour",))
    assert (await bench.model.rewriter.rewrite(request)).strip()


async def searched(bench: Bench) -> None:
    assert (await bench.model.rewriter.for_web(ASKED)).strip()


async def made_standalone(bench: Bench) -> None:
    history = (Message("user", ASKED), Message("assistant", "At 07:40."))
    assert (await bench.model.rewriter.standalone("And on Sundays?", history)).strip()


async def summed_up(bench: Bench) -> None:
    assert (await bench.model.summarizer.summarize("", HISTORY[:4], "en")).strip()


async def written(bench: Bench) -> None:
    strips = whole(await hits(bench))
    system, user = await bench.offline.prompter.prompts(ASKED, "en", strips, "", (), "")
    request = GenerationRequest(ASKED, "en", QueryClass.QUESTION, strips, system, user)
    heard: list[str] = []
    draft = await bench.writer.generate(request, heard.append)
    assert "passage-" not in draft.text
    for citation in draft.citations:
        assert citation.text in FERRY + KILN


JOBS: dict[Job, Callable[[Bench], Awaitable[None]]] = {
    Job.CLASSIFY: classified, Job.GRADE: graded, Job.STRIPS: picked, Job.ANSWER: written, Job.EVALUATE: judged,
    Job.REWRITE: rewritten, Job.WEB_QUERY: searched, Job.STANDALONE: made_standalone, Job.SUMMARIZE: summed_up,
}  # fmt: skip
QUICK = (Job.WEB_QUERY, Job.ANSWER)


@pytest.mark.parametrize("job", [job if job in QUICK else pytest.param(job, marks=SLOW) for job in JOBS])
async def test_a_job_ends_and_what_cannot_be_used_is_counted(bench: Bench, job: Job) -> None:
    calls, troubles = bench.meter.llm_calls, dict(bench.meter.troubles)
    failed = False
    try:
        await JOBS[job](bench)
    except RECOVERABLE_ERRORS:
        failed = True  # the nodes of a turn take it from here
    assert bench.meter.llm_calls > calls
    assert not failed or bench.meter.troubles != troubles or job in (Job.GRADE, Job.EVALUATE)


def ask(folder: Path, **settings: Any) -> tuple[TurnFinished, list[str], float]:
    given = {**write_index(folder), "home": folder / "home", "llm": "local:smollm2", **settings}
    began = time.perf_counter()
    with Selfright.open(**given) as selfright:
        events = list(selfright.stream(QUESTION))
    assert isinstance(events[-1], TurnFinished)
    heard = [event.text for event in events if isinstance(event, AnswerToken)]
    return events[-1], heard, time.perf_counter() - began


def test_a_streamed_turn_with_the_real_model_ends_within_its_bounds(tmp_path: Path) -> None:
    last, heard, seconds = ask(tmp_path, preset="llm", deadline_s=60)
    answer = last.answer
    assert heard
    assert seconds < 90
    assert answer.answer.strip()
    assert answer.cost.llm_calls <= 3
    assert answer.stop_reason is not StopReason.ERROR


def test_a_model_of_random_weights_costs_no_answer(tmp_path: Path) -> None:
    nonsense = scrambled(demo_weights(), tmp_path / "random.gguf")
    once = {"preset": "full", "llm_judging": "never", "max_refine_iterations": 0, "deadline_s": 120}
    last, _, _ = ask(tmp_path / "model", **once, llm=f"local:{nonsense}")
    offline, _, _ = ask(tmp_path / "offline", **once, llm="offline")
    assert last.answer.cost.llm_calls >= 1
    assert last.answer.citations
    assert last.answer.answer == offline.answer.answer


@SLOW
@pytest.mark.parametrize("judging", ["never", "always"])
@pytest.mark.parametrize("preset", ["basic", "full"])
def test_a_turn_with_the_real_model_calls_nothing_verified_that_is_not(
    tmp_path: Path, preset: str, judging: str
) -> None:
    last, _, seconds = ask(tmp_path, preset=preset, llm_judging=judging, deadline_s=120)
    answer = last.answer
    assert seconds < 160
    assert answer.stop_reason is not StopReason.ERROR
    if answer.stop_reason is StopReason.ADEQUATE:
        assert answer.evaluation is not None
        assert answer.evaluation.source is not EvaluationSource.HEURISTIC
    assert all(citation.text for citation in answer.citations)
