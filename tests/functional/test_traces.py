"""Turns leave traces, as much as the settings say, and these can be looked at and thrown away."""

import asyncio
import json
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from selfright import Selfright, TurnFinished
from selfright.domain.errors import InputError, SelfrightError, UnknownName, UsageError
from tests.functional.conftest import Cli

QUESTION = "How often is the lamp of the Dunmore lighthouse changed?"
SECRET = "sk-verysecret-0123456789"
PLAIN: dict[str, Any] = {"pack": "none"}


@pytest.fixture
def traces(home_folder: Path) -> Path:
    return home_folder / "home" / "traces.sqlite"


def content(file: Path) -> str:
    return b"".join(path.read_bytes() for path in sorted(file.parent.glob(f"{file.name}*"))).decode(errors="replace")


def test_an_outline_is_kept_by_default_and_says_nothing_of_what_was_said(indexed: Path, traces: Path) -> None:
    with Selfright.open(indexed, **PLAIN) as selfright:
        answer = selfright.ask(QUESTION, profile={"boat": "ketch"})
        (trace,) = selfright.traces()
        assert trace == selfright.trace(answer.trace_id) == selfright.trace(answer.trace_id[:6])
    assert (trace.id, trace.kind, trace.answer) == (answer.trace_id, "outline", None)
    assert trace.steps == tuple(
        type(step)(step.node, pytest.approx(step.seconds, abs=1e-6), step.outcome) for step in answer.trace
    )
    assert (trace.stop_reason, trace.verdict) == (answer.stop_reason, answer.verdict)
    assert [one.overall for one in trace.passes] == [one.overall for one in answer.iterations]
    assert trace.origins.models == {}
    written = content(traces).lower()
    for word in ("lamp", "lighthouse", "dunmore", "90 days", "ketch", str(indexed)):
        assert word not in written


def test_full_traces_hold_content_and_only_the_owner_may_read_them(indexed: Path, traces: Path) -> None:
    with Selfright.open(indexed, traces="full", **PLAIN) as selfright:
        answer = selfright.ask(QUESTION)
        trace = selfright.trace(answer.trace_id)
    assert trace.answer is not None
    assert trace.answer["answer"] == answer.answer
    assert "90 days" in content(traces)
    assert stat.S_IMODE(traces.stat().st_mode) == 0o600


def test_off_is_off_unless_a_turn_asks_for_it(indexed: Path, traces: Path) -> None:
    with Selfright.open(indexed, traces="off", **PLAIN) as selfright:
        selfright.ask(QUESTION)
        assert selfright.traces() == []
        assert not traces.exists()
        selfright.ask(QUESTION, record=True)
        assert [trace.kind for trace in selfright.traces()] == ["full"]


def test_keys_never_get_into_a_trace(indexed: Path, traces: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    url = f"http://user:{SECRET}@127.0.0.1:9/v1"
    options: dict[str, Any] = {"llm": "openai:m", "base_url": url, "llm_attempts": 1, "traces": "full", **PLAIN}
    with Selfright.open(indexed, **options) as selfright:
        answer = selfright.ask(QUESTION)
    assert answer.degraded
    assert SECRET not in content(traces)


def test_a_stream_is_traced_before_its_end_is_heard_of(indexed: Path) -> None:
    with Selfright.open(indexed, **PLAIN) as selfright:
        end = next(event for event in selfright.stream(QUESTION) if isinstance(event, TurnFinished))
        assert selfright.trace(end.answer.trace_id).id == end.answer.trace_id


def test_turns_of_sessions_are_traced_with_their_user(indexed: Path) -> None:
    with Selfright.open(indexed, **PLAIN) as selfright:
        first = selfright.ask(QUESTION, session="s", user="anna")
        selfright.ask("And who signs the log?", session="s", user="anna")
        selfright.ask(QUESTION)
        assert {trace.user for trace in selfright.traces()} == {"anna", "local"}
        assert len(selfright.traces(user="anna")) == 2
        assert selfright.traces(user="anna")[-1].id == first.trace_id
        assert selfright.forget_traces("anna") == 2
        assert [trace.user for trace in selfright.traces()] == ["local"]


def test_the_number_of_traces_is_bounded(indexed: Path) -> None:
    with Selfright.open(indexed, max_traces=3, **PLAIN) as selfright:
        ids = [selfright.ask(QUESTION, preset="basic").trace_id for _ in range(5)]
        assert [trace.id for trace in selfright.traces()] == ids[:1:-1]


async def test_turns_side_by_side_leave_a_trace_each(indexed: Path) -> None:
    with Selfright.open(indexed, **PLAIN) as selfright:
        turns = (selfright.aask(QUESTION, preset="basic", record=bool(n % 2)) for n in range(6))
        answers = await asyncio.gather(*turns)
        assert {trace.id for trace in selfright.traces()} == {answer.trace_id for answer in answers}


def test_a_turn_that_an_error_ended_leaves_what_it_came_to(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from selfright.roles.refine import OfflineRefiner

    async def fails(*_: object) -> None:
        raise LookupError("the lamp of the lighthouse")

    monkeypatch.setattr(OfflineRefiner, "refine", fails)
    with Selfright.open(indexed, **PLAIN) as selfright:
        with pytest.raises(LookupError):
            selfright.ask(QUESTION)
        (trace,) = selfright.traces()
    assert trace.error == "LookupError"
    assert [step.node for step in trace.steps][-1] == "grade"


def test_a_recorded_turn_that_broke_can_be_run_again_when_the_fault_is_mended(indexed: Path) -> None:
    from selfright.roles.generate.offline import OfflineGenerator

    async def fails(*_: object) -> None:
        raise LookupError

    with Selfright.open(indexed, **PLAIN) as selfright, pytest.MonkeyPatch.context() as patch:
        patch.setattr(OfflineGenerator, "generate", fails)
        with pytest.raises(LookupError):
            selfright.ask(QUESTION, record=True)
        (trace,) = selfright.traces()
        patch.undo()
        assert selfright.replay(trace.id).answer.citations


def test_a_home_that_cannot_be_written_costs_no_answer(indexed: Path, tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file", encoding="utf-8")
    with Selfright.open(indexed, home=tmp_path / "home", memory_mode="none", **PLAIN) as selfright:
        assert selfright.ask(QUESTION).answer
        assert selfright.traces() == []


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"traces": "all"}, "unknown value of setting 'traces'"),
        ({"max_traces": 0}, "more than 0"),
        ({"trace_bytes": -1}, "more than 0"),
        ({"session_days": "nan"}, "more than 0"),
        ({"otel": "perhaps"}, "true or false"),
    ],
    ids=str,
)
def test_wrong_settings_are_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(SelfrightError, match=message):
        Selfright.open(**values)


def test_wrong_questions_about_traces_are_refused(indexed: Path) -> None:
    with Selfright.open(indexed, **PLAIN) as selfright:
        with pytest.raises(UsageError, match="limit"):
            selfright.traces(0)
        with pytest.raises(InputError, match="there is no trace"):
            selfright.trace("deadbeef")
        with pytest.raises(UnknownName, match="option of a turn"):
            selfright.ask(QUESTION, recrod=True)  # on purpose


@pytest.fixture
def asked(cli: Cli, indexed: Path) -> str:
    """The id of a recorded turn."""
    outcome = cli("ask", QUESTION, "--index", indexed, "--record", "--json", "--set", "pack=none")
    assert outcome.code == 0
    assert "selfright trace replay" in outcome.err
    return str(json.loads(outcome.out)["trace_id"])


def test_the_command_line_lists_shows_and_forgets(cli: Cli, asked: str) -> None:
    assert asked[:8] in cli("trace", "list").out
    assert [one["id"] for one in json.loads(cli("trace", "list", "--json").out)] == [asked]
    shown = cli("trace", "show", asked[:8]).out
    assert "pass 1: contextualize → " in shown
    assert QUESTION in shown
    assert json.loads(cli("trace", "show", asked, "--json").out)["id"] == asked
    assert cli("trace", "forget", asked[:8]).code == 0
    assert cli("trace", "list").err.startswith("selfright: no traces are kept")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("show", "ffff"), 1, "there is no trace"),
        (("replay", "ffff"), 1, "there is no trace"),
        (("forget",), 2, "--all"),
        (("forget", "ffff", "--all"), 2, "--all"),
        (("list", "-n", "0"), 2, "'-n'"),
        (("replay", "ffff", "--set", "topk=3"), 2, "unknown setting"),
    ],
    ids=str,
)
def test_the_command_line_says_what_is_wrong_in_one_line(
    cli: Cli, arguments: tuple[str, ...], code: int, said: str
) -> None:
    outcome = cli("trace", *arguments)
    assert outcome.code == code
    assert said in outcome.err
    assert outcome.err.count("\n") == 1


def test_without_its_packages_opentelemetry_names_the_command(
    cli: Cli, indexed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("opentelemetry.sdk", "opentelemetry.sdk.trace"):
        monkeypatch.setitem(sys.modules, name, None)
    outcome = cli("ask", QUESTION, "--index", indexed, "--set", "otel=true", "--set", "pack=none")
    assert outcome.code == 1
    assert "pip install 'selfright[otel]'" in outcome.err


def test_spans_of_a_turn_go_through_the_program_s_own_opentelemetry(
    indexed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from opentelemetry import trace as otel
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(otel, "get_tracer_provider", lambda: provider)
    with Selfright.open(indexed, otel=True, traces="off", **PLAIN) as selfright:
        selfright.ask(QUESTION)
        spans = exporter.get_finished_spans()
    names = [span.name for span in spans]
    assert names[-1] == "invoke_agent selfright"
    assert {"retrieve", "grade", "evaluate", "generate"} <= set(names)
    (node,) = (span for span in spans if span.name == "retrieve")
    assert node.parent is not None
    assert node.parent.span_id == spans[-1].context.span_id
    assert not any("lighthouse" in span.to_json() for span in spans)
