"""Spans for OpenTelemetry: a turn, its nodes, and the attempts of models, under the GenAI semantic conventions.

A turn is ``invoke_agent``, an attempt of a model ``chat``; nodes that judge carry ``gen_ai.evaluation.result`` events.
What is no attribute of the conventions is under ``selfright.``. Names, counts and scores are told; words of questions,
passages, prompts and answers only with ``content``.
"""

import json
import logging
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from selfright.domain.answers import Answer
from selfright.domain.chat import ChatRequest
from selfright.domain.errors import MissingExtra
from selfright.domain.node_outcomes import NodeOutcome
from selfright.telemetry.taps import MODEL, ModelReply, PortCall, Tap

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider as SdkProvider
    from opentelemetry.trace import Span, Tracer, TracerProvider


AGENT = "selfright"
_SCOPE = "selfright"
_JUDGED = "gen_ai.evaluation.result"
_PATIENCE_S = 3.0
_TIMEOUTS = ("OTEL_EXPORTER_OTLP_TIMEOUT", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT")

_PROVIDERS = {
    "google_genai": "gcp.gemini",
    "azure": "azure.ai.openai",
    "mistral": "mistral_ai",
}
_FACTS = ("verdict", "strips", "removed_share", "query_class", "sentences", "judge", "quality", "passages")
Attributes = dict[str, Any]

log = logging.getLogger(__name__)


class Spans:
    """Makes spans of turns. ``owned`` is a provider made here, which is shut down at the end."""

    def __init__(
        self, provider: "TracerProvider", *, content: bool = False, owned: "SdkProvider | None" = None
    ) -> None:
        from importlib.metadata import version

        self._tracer = provider.get_tracer(_SCOPE, version("selfright"))
        self._content = content
        self._owned = owned

    @classmethod
    def open(cls, *, content: bool = False) -> "Spans":
        """Spans to where OpenTelemetry's own settings say.

        A program that has set up OpenTelemetry itself gets the spans through its provider; else they go by OTLP over
        HTTP to ``OTEL_EXPORTER_OTLP_ENDPOINT`` (default: http://localhost:4318), in the background. Raises
        ``MissingExtra`` without the packages.
        """
        try:
            from opentelemetry import trace
            from opentelemetry.sdk.trace import TracerProvider
        except ModuleNotFoundError:
            raise MissingExtra("OpenTelemetry's SDK", "pip install 'selfright[otel]'") from None
        given = trace.get_tracer_provider()
        if isinstance(given, TracerProvider):
            return cls(given, content=content)
        provider = _exporting()
        return cls(provider, content=content, owned=provider)

    def turn(self, preset: str) -> "TurnSpans":
        """The spans of one turn."""
        return TurnSpans(self._tracer, preset, content=self._content)

    def close(self) -> None:
        """Sends what is still waiting, where nobody else does; a collector that does not answer costs a few seconds."""
        if self._owned is not None:
            self._owned.shutdown()


class TurnSpans:
    """The span of a turn, with those of its nodes and their calls below it."""

    def __init__(self, tracer: "Tracer", preset: str, *, content: bool) -> None:
        self._tracer = tracer
        self._preset = preset
        self._content = content
        self._span: Span | None = None
        self._inner: Tap | None = None

    def begin(self, start: Mapping[str, Any] | None) -> None:
        """The turn begins, inside whatever span its caller is in."""
        attributes: dict[str, Any] = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": AGENT,
            "selfright.preset": self._preset,
        }
        if self._content and start is not None:
            attributes["gen_ai.input.messages"] = _messages("user", str(start.get("user_text", "")))
        self._span = self._tracer.start_span(f"invoke_agent {AGENT}", attributes=attributes)

    def finish(self, answer: Answer) -> None:
        """The turn has an answer."""
        if self._span is not None:
            self._span.set_attributes(_ended(answer))
            if self._content:
                self._span.set_attribute("gen_ai.output.messages", _messages("assistant", answer.answer))

    def fail(self, error: Exception) -> None:
        """The turn ended with an error."""
        if self._span is not None:
            _note_error(self._span, error)

    def end(self) -> None:
        """The turn is over, however it was."""
        span, self._span = self._span, None
        if span is not None:
            span.end()

    @contextmanager
    def node(self, name: str) -> Iterator[Callable[[NodeOutcome], None]]:
        """Around the run of a node; what it gives takes what the node decided."""
        from opentelemetry.trace import set_span_in_context

        above = set_span_in_context(self._span) if self._span is not None else None
        with self._tracer.start_as_current_span(
            name, above, attributes={"selfright.node": name}, record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                yield partial(_note_outcome, span)
            except Exception as error:
                _note_error(span, error)
                raise

    def tap(self, inner: Tap | None) -> Tap:
        """These spans as a tap, in front of another one where there is one."""
        self._inner = inner
        return self

    @contextmanager
    def around(self, call: PortCall) -> Iterator[list[Any]]:
        """See ``Tap``; an attempt of a model has a span of its own."""
        from opentelemetry.trace import SpanKind

        inner = self._inner.around(call) if self._inner else nullcontext(list[Any]())
        if call.port != MODEL:
            with inner as replied:
                yield replied
            return
        name, attributes = _attempt(*call.arguments, content=self._content)
        with self._tracer.start_as_current_span(
            name, kind=SpanKind.CLIENT, attributes=attributes, record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                with inner as replied:
                    yield replied
            except Exception as error:
                _note_error(span, error)
                raise
            span.set_attributes(_reply(replied[0], content=self._content))


def _note_outcome(span: "Span", outcome: NodeOutcome) -> None:
    """What a node decided, with an event for each judgement."""
    values = {name: getattr(outcome, name) for name in _FACTS}
    span.set_attributes(
        {f"selfright.{name}": getattr(value, "value", value) for name, value in values.items() if value is not None}
    )
    if outcome.verdict is not None and outcome.removed_share is None:
        span.add_event(_JUDGED, _judgement("sufficiency", outcome.sufficiency, outcome.verdict.value))
    if outcome.quality is not None:
        span.add_event(_JUDGED, _judgement("overall", outcome.overall, outcome.quality.value))


def _note_error(span: "Span", error: Exception) -> None:
    """Only the error's class: its words may quote what was said."""
    from opentelemetry.trace import StatusCode

    span.set_attribute("error.type", type(error).__name__)
    span.set_status(StatusCode.ERROR)


def _judgement(name: str, score: float | None, label: str) -> Attributes:
    value = {} if score is None else {"gen_ai.evaluation.score.value": score}
    return {"gen_ai.evaluation.name": name, "gen_ai.evaluation.score.label": label, **value}


def _ended(answer: Answer) -> Attributes:
    """What the span of a turn says in the end."""
    judged = answer.evaluation
    return {
        "gen_ai.usage.input_tokens": answer.cost.prompt_tokens,
        "gen_ai.usage.output_tokens": answer.cost.completion_tokens,
        "selfright.trace_id": answer.trace_id,
        "selfright.stop_reason": answer.stop_reason.value,
        "selfright.abstained": answer.abstained,
        "selfright.degraded": answer.degraded,
        "selfright.passes": len(answer.iterations),
        "selfright.llm_calls": answer.cost.llm_calls,
        "selfright.web_requests": answer.cost.web_requests,
        **({"selfright.verdict": answer.verdict.value} if answer.verdict else {}),
        **({"selfright.quality": judged.overall} if judged else {}),
    }


def _attempt(name: str, request: ChatRequest, mode: str, *, content: bool) -> tuple[str, Attributes]:
    """The span's name, and what is known when the attempt begins."""
    provider, _, place = name.partition(":")
    model, _, address = place.partition("@http")
    attributes: Attributes = {
        **_server(address),
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": _PROVIDERS.get(provider, provider),
        "gen_ai.request.model": model,
        "gen_ai.request.temperature": request.temperature,
        "gen_ai.request.max_tokens": request.max_tokens,
        "gen_ai.output.type": "json" if request.schema is not None else "text",
        "selfright.job": request.job.value,
        "selfright.mode": mode,
    }
    if content:
        attributes["gen_ai.system_instructions"] = json.dumps(
            [{"type": "text", "content": request.system}], ensure_ascii=False
        )
        attributes["gen_ai.input.messages"] = _messages("user", request.user)
    return f"chat {model}", attributes


def _server(address: str) -> Attributes:
    """Host and port of the user's own server, from what follows ``@http`` in a model's name."""
    parts = urlsplit(f"http{address}") if address else None
    try:
        host, port = (parts.hostname, parts.port) if parts else (None, None)
    except ValueError:  # a port that is no number
        return {}
    return {**({"server.address": host} if host else {}), **({"server.port": port} if port else {})}


def _reply(reply: ModelReply, *, content: bool) -> Attributes:
    """What is known when the attempt has ended."""
    text, finish, sent, received, _ = reply
    attributes: Attributes = {"gen_ai.response.finish_reasons": [str(finish)]}
    if sent is not None:
        attributes["gen_ai.usage.input_tokens"] = sent
    if received is not None:
        attributes["gen_ai.usage.output_tokens"] = received
    if content:
        attributes["gen_ai.output.messages"] = _messages("assistant", text, str(finish))
    return attributes


def _messages(role: str, text: str, finish: str | None = None) -> str:
    """One message in the form that the conventions give it."""
    message: dict[str, Any] = {"role": role, "parts": [{"type": "text", "content": text}]}
    return json.dumps([message | ({"finish_reason": finish} if finish else {})], ensure_ascii=False)


def _exporting() -> "SdkProvider":
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ModuleNotFoundError:
        raise MissingExtra("OpenTelemetry's OTLP exporter", "pip install 'selfright[otel]'") from None
    # OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES are read by the SDK; a name given in code would win over them.
    named = "OTEL_SERVICE_NAME" in os.environ or "service.name=" in os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    resource = Resource.create({} if named else {"service.name": AGENT})
    provider = TracerProvider(resource=resource)
    patience = None if any(name in os.environ for name in _TIMEOUTS) else _PATIENCE_S  # a program must be able to end
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(timeout=patience)))
    return provider
