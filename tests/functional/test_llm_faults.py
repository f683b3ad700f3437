"""Whatever a model does, at whatever job: the turn ends with an answer, and nothing is called verified that is not."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from selfright import Answer, Selfright, TurnFinished
from selfright.domain.chat import Job
from selfright.domain.judgements import EvaluationSource, StopReason, Verdict
from tests.support.llm import EVALUATION, HISTORY, QUESTION, rules, system_of, write_index
from tests.support.scripted.catalogue import FAULTS
from tests.support.scripted.damage import DAMAGES
from tests.support.scripted.requests import Request
from tests.support.scripted.rules import Damaged
from tests.support.scripted.server import ScriptedServer
from tests.support.waiting import wait_for

SLOW = ("stall", "stall-midway")
UNREACHABLE = (
    "400", "401", "403", "404", "408", "429", "quota", "500", "502", "503", "stall", "reset", "empty-body", "html",
)  # fmt: skip
HEALED = ("thinking", "padded", "repeated", "no-finish")  # the whole judgement is there
JUDGES = [Job.CLASSIFY, Job.GRADE, Job.STRIPS, Job.EVALUATE]


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return {**write_index(tmp_path_factory.mktemp("faults")), "pack": "medical", "llm_slots_enabled": True}


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as server:
        yield server


def ask(settings: dict[str, Any], server: ScriptedServer, *, stream: bool = False, timeout: float = 20.0) -> Answer:
    server.forget()
    with Selfright.open(**settings, base_url=server.url, llm_timeout_s=timeout, llm_attempts=1) as selfright:
        if not stream:
            return selfright.ask(QUESTION, history=HISTORY)
        *_, last = selfright.stream(QUESTION, history=HISTORY)
    assert isinstance(last, TurnFinished)
    return last.answer


def check(answer: Answer) -> None:
    """What holds of every turn, whatever went wrong in it."""
    assert answer.answer.strip()
    assert answer.stop_reason is not StopReason.ERROR
    judged = answer.evaluation
    if answer.stop_reason is StopReason.ADEQUATE:
        assert judged is not None
        assert judged.source is not EvaluationSource.HEURISTIC
    for citation in answer.citations:
        assert citation.text


def test_without_faults_every_job_is_done_by_the_model(settings: dict[str, Any], server: ScriptedServer) -> None:
    server.use(rules())
    answer = ask(settings, server)
    check(answer)
    systems = {request.system for request in server.calls()}
    undone = [job for job in Job if not any(s.startswith(system_of(job)["en"]) for s in systems)]
    assert not undone
    assert answer.evaluation is not None
    assert answer.evaluation.source is EvaluationSource.LLM
    assert answer.stop_reason is StopReason.ADEQUATE
    assert answer.question == "How do I install FxStore?"
    assert answer.cost.llm_calls == server.count
    assert not answer.degraded


@pytest.mark.parametrize("job", list(Job))
def test_no_fault_at_any_job_costs_the_turn(job: Job, settings: dict[str, Any], server: ScriptedServer) -> None:
    for name, fault in FAULTS.items():
        server.use(rules(**{job.value: fault}))
        answer = ask(settings, server, timeout=0.4 if name in SLOW else 20.0)
        check(answer)
        if name in UNREACHABLE or (job is Job.EXTRACT and not fault.harmless and name not in HEALED):
            assert answer.degraded, name
        if job is Job.EVALUATE and not fault.harmless and name not in HEALED:
            assert answer.evaluation is not None
            assert answer.evaluation.source is not EvaluationSource.LLM, name
        if job is Job.GRADE and name in UNREACHABLE:
            assert answer.iterations[0].verdict is Verdict.UNKNOWN, name


@pytest.mark.parametrize("name", [name for name in FAULTS if name not in SLOW])
def test_no_fault_of_a_streamed_answer_costs_the_turn(
    name: str, settings: dict[str, Any], server: ScriptedServer
) -> None:
    server.use(rules(answer=FAULTS[name]))
    check(ask(settings, server, stream=True))


@pytest.mark.parametrize("name", SLOW)
def test_a_stream_that_stalls_is_given_up(name: str, settings: dict[str, Any], server: ScriptedServer) -> None:
    server.use(rules(answer=FAULTS[name]))
    answer = ask(settings, server, stream=True, timeout=0.4)
    check(answer)
    assert answer.degraded


@pytest.mark.parametrize("kind", list(DAMAGES))
def test_damaged_judgements_are_read_right_or_not_at_all(
    kind: str, settings: dict[str, Any], server: ScriptedServer
) -> None:
    for job in JUDGES:
        server.use(rules(**{job.value: Damaged(kind, EVALUATION) if job is Job.EVALUATE else Damaged(kind)}))
        answer = ask(settings, server)
        check(answer)
        if job is not Job.EVALUATE:
            continue
        judged = answer.evaluation
        assert judged is not None
        if judged.source is EvaluationSource.LLM:
            assert DAMAGES[kind].salvageable, kind
            assert (judged.grounding, judged.completeness, judged.accuracy) == (0.9, 0.9, 0.9)


@pytest.mark.parametrize("status", ["401", "503", "reset"])
def test_with_the_model_down_the_offline_roles_answer(
    status: str, settings: dict[str, Any], server: ScriptedServer
) -> None:
    server.use(rules(**{job.value: FAULTS[status] for job in Job}))
    answer = ask(settings, server)
    check(answer)
    assert answer.degraded
    assert "Gradle" in answer.answer
    assert any("offline" in note for note in answer.notes)
    # After three failures in a row (one for a wrong key) the provider is left alone.
    assert server.count <= 3


def test_after_the_model_came_back_it_is_used_again(settings: dict[str, Any], server: ScriptedServer) -> None:
    server.use(rules(answer=[FAULTS["503"], "FxStore is installed with Gradle. [1]"]))
    server.forget()
    with Selfright.open(**settings, base_url=server.url, llm_attempts=1) as selfright:
        first, second = (selfright.ask("How is FxStore installed?") for _ in range(2))
    assert first.degraded
    assert not second.degraded


async def test_a_cancelled_turn_cancels_its_calls(settings: dict[str, Any], server: ScriptedServer) -> None:
    server.use(rules(answer=FAULTS["stall"]))
    server.forget()

    def stalled() -> list[Request]:
        return [request for request in server.calls() if request.fault]

    selfright = Selfright.open(**settings, base_url=server.url)
    try:
        asked = asyncio.create_task(selfright.aask(QUESTION))
        await asyncio.to_thread(wait_for, stalled)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
    finally:
        selfright.close()
    await asyncio.to_thread(wait_for, lambda: all(request.hung_up for request in stalled()))


def test_a_spent_budget_still_answers(settings: dict[str, Any], server: ScriptedServer) -> None:
    for calls in (1, 2, 3, 5):
        server.use(rules())
        server.forget()
        with Selfright.open(**{**settings, "max_llm_calls": calls}, base_url=server.url) as selfright:
            answer = selfright.ask(QUESTION, history=HISTORY)
        check(answer)
        assert server.count <= calls
        assert "Gradle" in answer.answer


def test_keys_go_to_the_provider_and_nowhere_else(
    settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    from selfright.schemas import answer_view

    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    with ScriptedServer(rules(), key="sk-very-secret") as server:
        caplog.set_level("DEBUG")
        answer = ask(settings, server)
    assert not answer.degraded
    assert "sk-very-secret" not in caplog.text
    assert "sk-very-secret" not in str(answer_view(answer))
