"""What a span says of a call: attributes under OpenTelemetry's GenAI conventions, and our own under ``selfright.``.

Without ``content`` only names, counts, scores and verdicts: no word of a question, passage, prompt or answer.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from selfright.domain.answers import Answer, Draft
from selfright.domain.chat import ChatRequest
from selfright.domain.judgements import Evaluation, Grading, QueryClass
from selfright.domain.passages import Refinement, Retrieval, WebFinding
from selfright.telemetry.recording import MODEL, WEB
from selfright.telemetry.taps import PortCall

_PROVIDERS = {
    "google": "gcp.gemini",
    "google_genai": "gcp.gemini",
    "azure": "azure.ai.openai",
    "mistralai": "mistral_ai",
}
_SCORES = ("grounding", "completeness", "accuracy", "overall", "confidence")

Attributes = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Told:
    """What a reply adds to its span; ``evaluations`` are the attributes of evaluation events."""

    attributes: Attributes = field(default_factory=dict)
    evaluations: tuple[Attributes, ...] = ()


def call_attributes(call: PortCall, *, content: bool) -> tuple[str, bool, Attributes]:
    """The span's name, whether the call goes out to another service, and what is known when it begins."""
    if call.port == MODEL:
        model, request, mode = call.arguments
        return _model(str(model), request, str(mode), content=content)
    if call.port == WEB:
        said = {"gen_ai.tool.call.arguments": json.dumps({"query": call.arguments[0]}, ensure_ascii=False)}
        tool = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "web_search",
            "gen_ai.tool.type": "extension",
        }
        return "execute_tool web_search", True, {**tool, **(said if content else {})}
    if call.port == "retriever":
        query, k, collections, _ = call.arguments
        found: Attributes = {"gen_ai.operation.name": "retrieval", "gen_ai.request.top_k": k}
        if collections:
            found["gen_ai.data_source.id"] = ",".join(collections)
        return "retrieval", False, {**found, **({"gen_ai.retrieval.query.text": query} if content else {})}
    return call.name, False, {"selfright.port": call.port, "selfright.method": call.method}


def reply_attributes(call: PortCall, result: object, *, content: bool) -> Told:
    """What is known when the call has ended."""
    if call.port == MODEL and isinstance(result, tuple):
        return _reply_attributes(result, content=content)
    if isinstance(result, Evaluation):
        return _evaluated(result, content=content)
    if isinstance(result, Retrieval):
        return Told({"selfright.hits": len(result.hits), **(_documents(result) if content else {})})
    teller = _TELLERS.get(type(result))
    return teller(result) if teller else Told()


def turn_ended(answer: Answer) -> Attributes:
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


def _model(name: str, request: ChatRequest, mode: str, *, content: bool) -> tuple[str, bool, Attributes]:
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
        attributes["gen_ai.input.messages"] = messages("user", request.user)
    return f"chat {model}", True, attributes


def _server(address: str) -> Attributes:
    """Host and port of a server of one's own, from what follows ``@http`` in a model's name."""
    parts = urlsplit(f"http{address}") if address else None
    try:
        host, port = (parts.hostname, parts.port) if parts else (None, None)
    except ValueError:  # a port that is no number
        return {}
    return {**({"server.address": host} if host else {}), **({"server.port": port} if port else {})}


def _reply_attributes(reply: tuple[Any, ...], *, content: bool) -> Told:
    text, finish, arguments, sent, received = reply
    attributes: Attributes = {"gen_ai.response.finish_reasons": [str(finish)]}
    if sent is not None:
        attributes["gen_ai.usage.input_tokens"] = sent
    if received is not None:
        attributes["gen_ai.usage.output_tokens"] = received
    if content:
        written = text or (arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False))
        attributes["gen_ai.output.messages"] = messages("assistant", written, str(finish))
    return Told(attributes)


def messages(role: str, text: str, finish: str | None = None) -> str:
    """One message in the form that the conventions give it."""
    message: dict[str, Any] = {"role": role, "parts": [{"type": "text", "content": text}]}
    return json.dumps([message | ({"finish_reason": finish} if finish else {})], ensure_ascii=False)


def _documents(found: Retrieval) -> Attributes:
    rows = [{"id": hit.passage.document_id, "score": hit.rrf_score} for hit in found.hits]
    return {"gen_ai.retrieval.documents": json.dumps(rows, ensure_ascii=False)}


def _evaluated(judged: Evaluation, *, content: bool) -> Told:
    label = {"gen_ai.evaluation.score.label": judged.answer_quality.value}
    why: Mapping[str, str] = {"gen_ai.evaluation.explanation": judged.reason} if content and judged.reason else {}
    events = tuple(
        {
            "gen_ai.evaluation.name": name,
            "gen_ai.evaluation.score.value": float(getattr(judged, name)),
            **(label if name == "overall" else {}),
            **(why if name == "overall" else {}),
        }
        for name in _SCORES
    )
    told = {"selfright.judge": judged.source.value, "selfright.answer_quality": judged.answer_quality.value}
    return Told(told, events)


def _graded(grading: Grading) -> Told:
    judged = {"gen_ai.evaluation.name": "sufficiency", "gen_ai.evaluation.score.label": grading.verdict.value}
    score = {} if grading.sufficiency is None else {"gen_ai.evaluation.score.value": grading.sufficiency}
    return Told({"selfright.verdict": grading.verdict.value}, ({**judged, **score},))


def _found(found: WebFinding) -> Told:
    told: Attributes = {"selfright.passages": len(found.passages), "selfright.web_requests": found.requests}
    return Told({**told, "selfright.web_provider": found.provider})


_TELLERS: Mapping[type, Callable[[Any], Told]] = MappingProxyType(
    {
        Grading: _graded,
        WebFinding: _found,
        Refinement: lambda it: Told({"selfright.strips": len(it.strips), "selfright.removed_share": it.removed_share}),
        Draft: lambda it: Told({"selfright.sentences": len(it.sentences), "selfright.refused": it.refused}),
        QueryClass: lambda it: Told({"selfright.query_class": it.value}),
    }
)
