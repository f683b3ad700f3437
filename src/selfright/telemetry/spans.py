"""Spans for OpenTelemetry: a turn, its nodes, and what these ask, under the GenAI semantic conventions.

A turn is ``invoke_agent``, a search ``retrieval``, an attempt of a model ``chat``, the web ``execute_tool``;
nodes that judge carry ``gen_ai.evaluation.result`` events. Names, counts and scores are told; what was said only with
``content``.
"""

import logging
import os
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from selfright.domain.answers import Answer
from selfright.domain.errors import MissingExtra
from selfright.domain.node_outcomes import NodeOutcome
from selfright.telemetry.attributes import call_attributes, messages, outcome_attributes, reply_attributes, turn_ended
from selfright.telemetry.taps import PortCall, Tap

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider as SdkProvider
    from opentelemetry.trace import Span, Tracer, TracerProvider

T = TypeVar("T")

AGENT = "selfright"
_SCOPE = "selfright"
_PATIENCE_S = 3.0
_TIMEOUTS = ("OTEL_EXPORTER_OTLP_TIMEOUT", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT")

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
            attributes["gen_ai.input.messages"] = messages("user", str(start.get("user_text", "")))
        self._span = self._tracer.start_span(f"invoke_agent {AGENT}", attributes=attributes)

    def finish(self, answer: Answer) -> None:
        """The turn has an answer."""
        if self._span is not None:
            self._span.set_attributes(turn_ended(answer))
            if self._content:
                self._span.set_attribute("gen_ai.output.messages", messages("assistant", answer.answer))

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

    async def call(self, call: PortCall, ask: Callable[[], Awaitable[T]]) -> T:
        """See ``Tap``; a call has a span of its own."""
        from opentelemetry.trace import SpanKind

        name, goes_out, attributes = call_attributes(call, content=self._content)
        kind = SpanKind.CLIENT if goes_out else SpanKind.INTERNAL
        with self._tracer.start_as_current_span(
            name, kind=kind, attributes=attributes, record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                result = await (self._inner.call(call, ask) if self._inner else ask())
            except Exception as error:
                _note_error(span, error)
                raise
            span.set_attributes(reply_attributes(call, result, content=self._content))
            return result

    def call_now(self, call: PortCall, ask: Callable[[], T]) -> T:
        """Decisions made at once get no span of their own."""
        return self._inner.call_now(call, ask) if self._inner else ask()


def _note_outcome(span: "Span", outcome: NodeOutcome) -> None:
    attributes, evaluations = outcome_attributes(outcome)
    span.set_attributes(attributes)
    for event in evaluations:
        span.add_event("gen_ai.evaluation.result", event)


def _note_error(span: "Span", error: Exception) -> None:
    """Only the error's class: its words may quote what was said."""
    from opentelemetry.trace import StatusCode

    span.set_attribute("error.type", type(error).__name__)
    span.set_status(StatusCode.ERROR)


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
