"""Spans through the SDK's own exporter in memory, and once over the wire to a receiver on this machine."""

import asyncio
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry import trace as otel
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from selfright.domain.chat import ChatRequest, Finish, Job
from selfright.domain.errors import JudgeFailed
from selfright.domain.judgements import AnswerQuality, EvaluationSource, Verdict
from selfright.domain.node_outcomes import NodeOutcome
from selfright.domain.passages import Hit, Passage, Retrieval, WebFinding
from selfright.telemetry.recording import Recorder
from selfright.telemetry.spans import Spans
from selfright.telemetry.taps import PortCall, Tap, through
from tests.support.traces import SAID, answer
from tests.support.web_servers import Answer, serving

FOUND = Retrieval((Hit(Passage(SAID, SAID, SAID, SAID, 0, 9), 0.5),))
REQUEST = ChatRequest(Job.EVALUATE, SAID, SAID, 0.3, 512, {"title": "x"})
CALLS: list[tuple[PortCall, Any]] = [
    (PortCall("retriever", "search", (SAID, 16, ("manuals",), ())), FOUND),
    (PortCall("web", "search", (SAID, 5)), WebFinding((), "static", 2)),
    (
        PortCall("model", "attempt", ("openai:m@http://127.0.0.1:8000/v1", REQUEST, "json_schema")),
        (SAID, Finish.STOP, 11, 7, 0),
    ),
]


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def provider(exporter: InMemorySpanExporter) -> Iterator[TracerProvider]:
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    yield provider
    provider.shutdown()


async def asked(tap: Tap, call: PortCall, value: Any) -> Any:
    async def ask() -> Any:
        if isinstance(value, Exception):
            raise value
        return value

    return await through(tap, call, ask)


async def run_turn(spans: Spans, inner: Tap | None = None) -> None:
    """A turn with two nodes, in which everything is asked once."""
    turn = spans.turn("full")
    tap = turn.tap(inner)
    turn.begin({"user_text": SAID})
    with turn.node("retrieve"):
        assert await asked(tap, *CALLS[0]) == FOUND
    with turn.node("grade") as note:
        for call, value in CALLS[1:]:
            assert await asked(tap, call, value) == value
        note(NodeOutcome(verdict=Verdict.AMBIGUOUS, sufficiency=0.4))
    with turn.node("evaluate") as note:
        note(NodeOutcome(overall=0.82, quality=AnswerQuality.ADEQUATE, judge=EvaluationSource.LOCAL))
    turn.finish(answer())
    turn.end()


def by_name(exporter: InMemorySpanExporter) -> dict[str, ReadableSpan]:
    return {span.name: span for span in exporter.get_finished_spans()}


def test_a_turn_holds_its_nodes_and_they_hold_their_calls(
    provider: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    asyncio.run(run_turn(Spans(provider)))
    spans = by_name(exporter)
    above = {
        name: next(other.name for other in spans.values() if span.parent and other.context == span.parent)
        for name, span in spans.items()
        if span.parent
    }
    assert above == {
        "retrieve": "invoke_agent selfright", "grade": "invoke_agent selfright", "evaluate": "invoke_agent selfright",
        "chat m": "grade",
    }  # fmt: skip
    assert len({span.context.trace_id for span in spans.values()}) == 1


def test_model_calls_follow_the_conventions(provider: TracerProvider, exporter: InMemorySpanExporter) -> None:
    asyncio.run(run_turn(Spans(provider)))
    span = by_name(exporter)["chat m"]
    assert span.kind is SpanKind.CLIENT
    assert dict(span.attributes or {}) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "m",
        "gen_ai.request.temperature": 0.3,
        "gen_ai.request.max_tokens": 512,
        "gen_ai.output.type": "json",
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.usage.input_tokens": 11,
        "gen_ai.usage.output_tokens": 7,
        "server.address": "127.0.0.1",
        "server.port": 8000,
        "selfright.job": "evaluate",
        "selfright.mode": "json_schema",
    }


def test_the_names_are_those_of_the_conventions(provider: TracerProvider, exporter: InMemorySpanExporter) -> None:
    from opentelemetry.semconv._incubating.attributes import gen_ai_attributes

    known = {value for name, value in vars(gen_ai_attributes).items() if name.startswith("GEN_AI_")}
    asyncio.run(run_turn(Spans(provider, content=True)))
    told = {
        name
        for span in exporter.get_finished_spans()
        for names in (span.attributes or {}, *((event.attributes or {}) for event in span.events))
        for name in names
        if name.startswith("gen_ai.")
    }
    assert told <= known
    assert len(told) > 15


def test_judges_carry_their_judgement(provider: TracerProvider, exporter: InMemorySpanExporter) -> None:
    asyncio.run(run_turn(Spans(provider)))
    spans = by_name(exporter)
    (graded,) = spans["grade"].events
    assert graded.name == "gen_ai.evaluation.result"
    assert dict(graded.attributes or {}) == {
        "gen_ai.evaluation.name": "sufficiency",
        "gen_ai.evaluation.score.label": "ambiguous",
        "gen_ai.evaluation.score.value": 0.4,
    }
    (judged,) = spans["evaluate"].events
    assert dict(judged.attributes or {}) == {
        "gen_ai.evaluation.name": "overall",
        "gen_ai.evaluation.score.label": "adequate",
        "gen_ai.evaluation.score.value": 0.82,
    }
    assert (spans["evaluate"].attributes or {})["selfright.judge"] == "local"


def test_the_turn_says_how_it_ended(provider: TracerProvider, exporter: InMemorySpanExporter) -> None:
    asyncio.run(run_turn(Spans(provider)))
    attributes = dict(by_name(exporter)["invoke_agent selfright"].attributes or {})
    assert attributes["gen_ai.operation.name"] == "invoke_agent"
    assert attributes["selfright.stop_reason"] == "adequate"
    assert attributes["gen_ai.usage.input_tokens"] == 200
    assert attributes["selfright.trace_id"] == answer().trace_id


@pytest.mark.parametrize("content", [True, False])
def test_content_is_told_only_when_asked_for(
    provider: TracerProvider, exporter: InMemorySpanExporter, content: bool
) -> None:
    asyncio.run(run_turn(Spans(provider, content=content)))
    written = json.dumps([json.loads(span.to_json()) for span in exporter.get_finished_spans()])
    assert (SAID in written) is content


async def test_an_error_is_told_by_its_class_alone(provider: TracerProvider, exporter: InMemorySpanExporter) -> None:
    turn = Spans(provider).turn("full")
    turn.begin(None)
    try:
        with turn.node("grade"):
            await asked(turn.tap(None), CALLS[2][0], JudgeFailed(SAID))
    except JudgeFailed as error:
        turn.fail(error)
    turn.end()
    for span in exporter.get_finished_spans():
        assert span.status.status_code is StatusCode.ERROR
        assert dict(span.attributes or {})["error.type"] == "JudgeFailed"
        assert SAID not in span.to_json()
    assert len(exporter.get_finished_spans()) == 3


def test_a_recorder_behind_it_still_records(provider: TracerProvider) -> None:
    recorder = Recorder(100_000)
    asyncio.run(run_turn(Spans(provider), recorder))
    assert len(recorder.lines) == len(CALLS)


def test_spans_go_by_otlp_to_where_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(otel, "get_tracer_provider", otel.ProxyTracerProvider)  # nobody has set OpenTelemetry up
    with serving(lambda _: Answer()) as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        spans = Spans.open()
        asyncio.run(run_turn(spans))
        spans.close()
    assert set(collector.paths) == {"/v1/traces"}
    requests = [ExportTraceServiceRequest.FromString(asked.body) for asked in collector.asked]
    groups = [group for request in requests for group in request.resource_spans]
    names = {span.name for group in groups for scope in group.scope_spans for span in scope.spans}
    assert names >= {"invoke_agent selfright", "retrieve", "chat m"}
    services = {a.value.string_value for group in groups for a in group.resource.attributes if a.key == "service.name"}
    assert services == {"selfright"}
    assert all(SAID not in str(request) for request in requests)


def test_a_collector_that_is_not_there_holds_nobody_up_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr(otel, "get_tracer_provider", otel.ProxyTracerProvider)
    spans = Spans.open()
    asyncio.run(run_turn(spans))
    began = time.monotonic()
    spans.close()
    assert time.monotonic() - began < 8


def test_a_program_that_has_set_opentelemetry_up_keeps_it(
    provider: TracerProvider, exporter: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(otel, "get_tracer_provider", lambda: provider)
    spans = Spans.open()
    asyncio.run(run_turn(spans))
    spans.close()
    asyncio.run(run_turn(spans))  # what belongs to the program was not shut down
    assert len([span for span in exporter.get_finished_spans() if span.name == "chat m"]) == 2
