"""What a check says of models that judge well, badly, or believe everything; and that a turn heeds it."""

import io
import itertools
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from selfright import Selfright
from selfright.domain.answers import Draft
from selfright.domain.chat import Job
from selfright.evals.models.checking import Question, plan_calls, probes
from selfright.evals.models.report import JobReport
from selfright.evals.models.writing import WritingQuestion
from selfright.llm.local import backend
from selfright.llm.structured import FILE, ModelChecks
from selfright.settings import load_settings
from selfright.wiring.models import Models
from tests.functional.conftest import Cli
from tests.support.gguf import header
from tests.support.llm import EVALUATION, QUESTION, is_job, rules, write_index
from tests.support.scripted.requests import Request
from tests.support.scripted.rules import Plain, Rule
from tests.support.scripted.server import ScriptedServer

ITEMS = 10
FALSE = {**EVALUATION, "grounding": 0.1, "completeness": 0.1, "accuracy": 0.1, "answer_quality": "hallucination"}
Reply = Callable[[Request], Plain]


def asked(request: Request) -> Question:
    """The probe that a request is about: the one whose question stands in it."""
    return next(one for one in probes().questions if one.text in request.user)


def written(request: Request) -> str:
    """What answers the writing question of a request."""
    questions = [question for probe in probes().writing for question in probe.questions]
    question = next(one for one in questions if one.text in request.user)
    return f"It is {question.gold[0]}. [1]"


def shown(request: Request) -> dict[int, str]:
    """The passages of a request, by number."""
    found = re.findall(r"passage-\w+ \[(\d+)\][^\n]*\n(.*?)(?=\npassage-|\n</passages)", request.user, re.DOTALL)
    return {int(n): text for n, text in found}


def graded(request: Request, value: Callable[[str, Question], float]) -> dict[str, Any]:
    question = asked(request)
    values = [{"n": n, "probability": value(text, question)} for n, text in shown(request).items()]
    return {"passages": values, "sufficiency": max((v["probability"] for v in values), default=0.0), "reason": "so"}


def knows(text: str, question: Question) -> float:
    document = next(one["text"] for one in probes().documents if one["id"] == question.document)
    return 0.98 if text.strip()[:60] in document or document[:60] in text else 0.02


def holds(request: Request) -> bool:
    """Whether the answer that is to be judged is the true one, and the document that says so is shown."""
    says = any(knows(text, asked(request)) > 0.5 for text in shown(request).values())
    answer = re.search(r"<answer-\w+[^>]*>\n(.*?)\n</answer", request.user, re.DOTALL)
    return says and answer is not None and asked(request).true in answer[1]


def named(request: Request) -> str:
    """What a query needs, out of the probe that the request shows."""
    rows = (*probes().followups, *probes().rewrites)
    row = next(one for one in rows if one["question"] in request.user)
    return f"{row['question']} {' '.join(row['names'])}"


GOOD: Mapping[Job, Reply] = {
    Job.GRADE: lambda r: graded(r, knows),
    Job.EVALUATE: lambda r: EVALUATION if holds(r) else FALSE,
    Job.CLASSIFY: lambda r: {"query_class": next(m["class"] for m in probes().messages if m["text"] in r.user)},
    Job.REWRITE: named,
    Job.STANDALONE: named,
    Job.ANSWER: written,
}
BAD: Mapping[Job, Reply] = {
    Job.GRADE: lambda r: graded(r, lambda text, question: 1 - knows(text, question)),
    Job.EVALUATE: lambda r: FALSE if holds(r) else EVALUATION,
    Job.CLASSIFY: lambda _: {"query_class": "summary"},
    Job.REWRITE: lambda _: "weather tomorrow",
    Job.STANDALONE: lambda _: "What is the weather?",
    Job.ANSWER: lambda _: "It is forty-two. [1]",
}
GULLIBLE: Mapping[Job, Reply] = {
    **GOOD,
    Job.GRADE: lambda r: graded(r, lambda _text, _question: 1.0),
    Job.EVALUATE: lambda _: EVALUATION,
}


def played(mood: Mapping[Job, Reply]) -> list[Rule]:
    return [Rule(lambda request, job=job: is_job(job, request), reply) for job, reply in mood.items()]


def checked(mood: Mapping[Job, Reply], cli: Cli, *more: object) -> dict[str, Any]:
    with ScriptedServer(played(mood)) as server:
        name = f"openai:scripted@{server.url}"
        outcome = cli("models", "check", name, "--items", ITEMS, "--set", "embedder=none", "--json", *more)
    assert outcome.code == 0, outcome.err
    assert "calls of openai:scripted" in outcome.err
    found: dict[str, Any] = json.loads(outcome.out)
    return found


def may(found: Mapping[str, Any]) -> set[str]:
    return {job for job, one in found["jobs"].items() if one["may"]}


def test_a_good_model_may_be_asked_for_what_it_does_better(cli: Cli) -> None:
    found = checked(GOOD, cli)
    better = {job for job, one in found["jobs"].items() if one["score"] > one["ours"]}
    assert {job: (one["score"], one["usable"]) for job, one in found["jobs"].items()} == dict.fromkeys(
        found["jobs"], (1.0, 1.0)
    )
    assert "answer" in may(found)
    assert may(found) - {"answer"} <= better
    assert "evaluate" in may(found)
    assert found["jobs"]["answer"]["why"] == "right at least as often as the offline writer"


def test_a_bad_model_may_do_nothing(cli: Cli) -> None:
    found = checked(BAD, cli)
    assert may(found) == set()
    assert found["jobs"]["answer"]["why"] == "right less often than the offline writer"
    assert "worse than the offline role" in {one["why"] for one in found["jobs"].values()}


def test_a_job_ends_when_its_answer_is_clear_and_when_its_time_is_over(cli: Cli) -> None:
    garbage: Mapping[Job, Reply] = {job: lambda _: "The answer is:" for job in GOOD}
    found = checked(garbage, cli, "--items", 22, "--set", "llm_attempts=1")
    assert {found["jobs"][job]["items"] for job in ("evaluate", "answer")} == {3}  # more than a tenth of 22
    assert may(found) == set()
    assert found["jobs"]["evaluate"]["usable"] == 0.0
    assert found["jobs"]["evaluate"]["why"] == "too few of its replies have the form"
    good = checked(GOOD, cli, "--items", 22)
    assert good["jobs"]["answer"]["items"] == 11  # ahead in seven: 2.6 standard errors


def test_a_job_ends_when_its_share_of_the_time_is_over(monkeypatch: pytest.MonkeyPatch, cli: Cli) -> None:
    seconds = itertools.count(step=10)
    monkeypatch.setattr("selfright.evals.models.checking.time.perf_counter", lambda: float(next(seconds)))
    found = checked(GOOD, cli, "--items", 22, "--minutes", 2)
    asked = {job: one["items"] for job, one in found["jobs"].items()}
    assert all(1 <= count <= 4 for count in asked.values()), asked


def test_nothing_that_is_said_contradicts_its_figures() -> None:
    def job(job: Job, theirs: float, ours: float, usable: float = 1.0, items: int = 8) -> JobReport:
        wins, own = round(theirs * items), round(ours * items)
        return JobReport(
            job,
            tuple(float(n < wins) for n in range(items)),
            tuple(float(n < own) for n in range(items)),
            usable,
            1.0,
            items,
        )

    jobs = (
        job(Job.GRADE, 1.0, 0.875),
        job(Job.EVALUATE, 0.25, 1.0),
        job(Job.CLASSIFY, 1.0, 0.25),
        job(Job.REWRITE, 1.0, 0.25, usable=0.5),
        job(Job.ANSWER, 0.375, 0.375),
        job(Job.ANSWER, 0.875, 1.0),
        job(Job.ANSWER, 1.0, 0.0, items=3),
    )
    assert [(one.may, one.why) for one in jobs] == [
        (False, "not shown to be better than the offline role"),
        (False, "worse than the offline role"),
        (True, "better than the offline role"),
        (False, "too few of its replies have the form"),
        (True, "right at least as often as the offline writer"),
        (False, "right less often than the offline writer"),
        (False, "fewer than 4 items were asked in the time"),
    ]


def test_a_model_that_believes_everything_may_write_but_not_judge(cli: Cli) -> None:
    found = checked(GULLIBLE, cli)
    assert not may(found) & {"grade", "evaluate"}
    assert "answer" in may(found)
    assert found["jobs"]["grade"]["score"] == 0.5
    assert found["jobs"]["evaluate"]["verdict"] != "better"


def test_a_check_says_the_same_again(cli: Cli) -> None:
    first, second = checked(GULLIBLE, cli), checked(GULLIBLE, cli)
    assert {j: o["why"] for j, o in first["jobs"].items()} == {j: o["why"] for j, o in second["jobs"].items()}


def test_a_check_needs_a_model_and_asks_before_it_costs(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert cli("models", "check", "offline").code == 2
    with ScriptedServer() as server:
        refused = cli("models", "check", f"openai:scripted@{server.url}", "--items", 4)  # nobody says yes
        assert server.calls() == []
    assert refused.code == 2
    assert "add --yes" in refused.err
    missing = cli("models", "check", "local:nope.gguf")
    assert (missing.code, "there is no file" in missing.err, "tokens" in missing.err) == (1, True, False)


# What is stored, and heeded


def test_turns_do_not_ask_a_model_for_what_it_does_no_better(tmp_path: Path) -> None:
    unsure = "Can a map of FxStore be shared?"
    settings = {**write_index(tmp_path), "home": tmp_path / "home", "llm_judging": "auto"}
    with ScriptedServer(rules()) as server:
        with Selfright.open(**settings, base_url=server.url) as selfright:
            selfright.ask(unsure)
            name = selfright.settings.llm
        unchecked = {job for job in Job for call in server.calls() if is_job(job, call)}
        judging = {"grade": {"may": False}, "evaluate": {"may": False}, "rewrite": {"may": False}}
        ModelChecks(tmp_path / "home" / FILE).keep(f"{name}@{server.url}", {"jobs": judging})
        server.forget()
        with Selfright.open(**settings, base_url=server.url) as selfright:
            selfright.ask(unsure)
        left = {job for job in Job for call in server.calls() if is_job(job, call)}
    assert unchecked & {Job.GRADE, Job.EVALUATE, Job.STRIPS, Job.WEB_QUERY}
    assert not left & {Job.GRADE, Job.STRIPS, Job.EVALUATE, Job.REWRITE, Job.WEB_QUERY, Job.STANDALONE}
    assert Job.ANSWER in left


def test_a_check_counts_where_a_service_runs_already(tmp_path: Path) -> None:
    models = Models(load_settings({"home": tmp_path, "llm": "openai:m", "base_url": "http://127.0.0.1:9/v1"}))
    assert not models.worse
    (name,) = set(models.names.values())
    ModelChecks(tmp_path / FILE).keep(name, {"jobs": {"grade": {"may": False}}})
    assert models.worse == {Job.GRADE, Job.STRIPS}


def test_a_small_file_is_asked_for_nothing_until_a_check_finds_it_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "small.gguf"
    file.write_bytes(header())
    settings = load_settings({"home": tmp_path, "llm": f"local:{file}"})
    models = Models(settings)
    assert models.worse == frozenset(Job)
    (name,) = set(models.names.values())
    ModelChecks(tmp_path / FILE).keep(name, {"jobs": {"answer": {"may": True}, "grade": {"may": False}}})
    assert models.worse == {Job.GRADE, Job.STRIPS}
    (tmp_path / FILE).unlink()
    monkeypatch.setattr(backend, "SMALL", 10)
    assert Models(settings).worse == frozenset()


def test_a_model_that_writes_badly_writes_only_where_nothing_is_judged_or_it_is_wanted(tmp_path: Path) -> None:
    settings = {**write_index(tmp_path), "home": tmp_path / "home", "llm_judging": "auto"}
    with ScriptedServer(rules()) as server:
        with Selfright.open(**settings, base_url=server.url) as selfright:
            name = f"{selfright.settings.llm}@{server.url}"
            ModelChecks(tmp_path / "home" / FILE).keep(name, {"jobs": {job: {"may": False} for job in Job}})
        with Selfright.open(**settings, base_url=server.url) as selfright:
            quoted = selfright.ask(QUESTION)
            assert server.calls() == []
            with Selfright.open(**{**settings, "llm": "offline"}) as offline:
                assert offline.ask(QUESTION).answer == quoted.answer
            assert any(name in note and "llm_judging=never" in note for note in quoted.notes)
            for options in ({"preset": "basic"}, {"flags": {"llm_judging": "never"}}):
                server.forget()
                answer = selfright.ask(QUESTION, **options)
                assert {job for job in Job for call in server.calls() if is_job(job, call)} == {Job.ANSWER}
                assert not any("not asked to write" in note for note in answer.notes)


def test_what_stands_in_the_file_is_bounded_and_a_damaged_one_is_none(tmp_path: Path) -> None:
    checks = ModelChecks(tmp_path / FILE)
    for n in range(205):
        checks.keep(f"m{n}", {"jobs": {"grade": {"may": False}}})
    assert checks.worse("m204") == {Job.GRADE, Job.STRIPS}
    assert not checks.find_check("m0")
    for damaged in ("", "[]", '{"version": 1}', '{"version": 99, "models": {"m204": {}}}', "[" * 100_000):
        (tmp_path / FILE).write_text(damaged, encoding="utf-8")
        assert checks.worse("m204") == frozenset()


def test_the_model_of_the_demo_is_checked_from_the_start_and_can_be_checked_again(tmp_path: Path) -> None:
    checks = ModelChecks(tmp_path / FILE)
    assert checks.worse("local:smollm2") >= {Job.GRADE, Job.STRIPS, Job.EVALUATE, Job.REWRITE, Job.CLASSIFY}
    checks.keep("local:smollm2", {"jobs": {"grade": {"may": True}}})
    assert checks.worse("local:smollm2") == frozenset()


@pytest.mark.parametrize(
    ("theirs", "ours", "usable", "verdict"),
    [
        ((1.0,) * 6, (0.0,) * 6, 1.0, "better"),
        ((1.0,) * 6, (0.0,) * 6, 0.5, "worse"),
        ((0.0,) * 6, (1.0,) * 6, 1.0, "worse"),
        ((1.0, 0.0) * 3, (0.0, 1.0) * 3, 1.0, "no better"),
        ((1.0,) * 6, (1.0,) * 6, 1.0, "no better"),
        ((), (), 1.0, "no better"),
    ],
)
def test_the_verdict_is_a_test_and_not_a_difference(
    theirs: tuple[float, ...], ours: tuple[float, ...], usable: float, verdict: str
) -> None:
    assert JobReport(Job.GRADE, theirs, ours, usable, 1.0, 6).verdict == verdict


def test_the_probes_are_as_many_as_promised_in_both_languages() -> None:
    found = probes()
    assert plan_calls(found) >= 150
    assert {q.language for q in found.questions} == {"en", "ko"}
    texts = {document["id"]: document["text"] for document in found.documents}
    for question in found.questions:
        assert question.gold in texts[question.document]
        assert question.gold in question.true
        assert question.gold not in question.false


def test_the_writing_questions_look_like_real_use() -> None:
    questions = [(probe, question) for probe in probes().writing for question in probe.questions]
    assert Counter(probe.language for probe, _ in questions) == {"ko": 12, "en": 12}
    for probe in probes().writing:
        assert 6 <= len(probe.excerpts) <= 8
        assert all(150 <= len(one.text) <= 300 for one in probe.excerpts)
        assert all(one.head in one.text.replace("`", "") for one in probe.excerpts if "|---" in one.text)
    for probe, question in questions:  # what answers stands in one place, and the near misses differ from it
        places = [one.document for one in probe.excerpts if question.is_right(Draft(one.text))]
        assert places == [question.document]


def test_a_writing_question_is_right_by_whole_words() -> None:
    price = WritingQuestion("얼마예요", ("5,000원", "5천 원"), "fees.md", ())
    assert price.is_right(Draft("**5,000원**입니다. [1]"))
    assert price.is_right(Draft("5천원이고 [1] 카드로 냅니다."))
    assert not price.is_right(Draft("15,000원입니다. [1]"))
    assert not price.is_right(Draft("문서에 없습니다.", refused=True))


def test_excerpts_are_passages_that_stand_in_their_documents() -> None:
    for probe in probes().writing:
        for question in probe.questions:
            passages = [hit.passage for hit in probe.hits(question)]
            assert [passage.text for passage in passages] == [probe.excerpts[at].text for at in question.order]
            assert len({passage.id for passage in passages}) == len(probe.excerpts)
            ends: dict[str, int] = {}
            for passage in sorted(passages, key=lambda passage: passage.start):
                assert passage.end - passage.start == len(passage.text)
                assert passage.start >= ends.get(passage.document_id, 0)
                ends[passage.document_id] = passage.end


def test_a_call_that_outlasts_its_jobs_time_is_broken_off(cli: Cli) -> None:
    began = time.monotonic()
    slow = {job: lambda request, reply=reply: (time.sleep(1.5), reply(request))[1] for job, reply in GOOD.items()}
    found = checked(slow, cli, "--items", 22, "--minutes", 0.1)
    assert {one["items"] for one in found["jobs"].values()} <= {1, 2}
    assert time.monotonic() - began < 30
