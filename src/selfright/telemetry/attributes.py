"""What a span says of a call: attributes under OpenTelemetry's GenAI conventions, and our own under ``selfright.``.

Without ``content`` only names, counts, scores and verdicts: no word of a question, passage, prompt or answer.
"""

import json
from typing import Any
from urllib.parse import urlsplit

from selfright.domain.answers import Answer
from selfright.domain.chat import ChatRequest
from selfright.domain.node_outcomes import NodeOutcome
from selfright.domain.passages import Retrieval, WebFinding
from selfright.telemetry.taps import MODEL, WEB, PortCall

_PROVIDERS = {
    "google": "gcp.gemini",
    "google_genai": "gcp.gemini",
    "azure": "azure.ai.openai",
    "mistralai": "mistral_ai",
}
_FACTS = ("verdict", "strips", "removed_share", "query_class", "sentences", "judge", "quality", "passages")

Attributes = dict[str, Any]


def call_attributes(call: PortCall, *, content: bool) -> tuple[str, bool, Attributes]:
    """The span's name, whether the call goes out to another service, and what is known when it begins."""
    if call.port == MODEL:
        model, request, mode = call.arguments
        return _model(str(model), request, str(mode), content=content)
    if call.port == WEB:
        found: Attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "web_search",
            "gen_ai.tool.type": "extension",
        }
        if content:
            found["gen_ai.tool.call.arguments"] = json.dumps({"query": call.arguments[0]}, ensure_ascii=False)
        return "execute_tool web_search", True, found
    if call.port == "retriever":
        query, k, collections, _ = call.arguments
        found = {"gen_ai.operation.name": "retrieval", "gen_ai.request.top_k": k}
        found |= {"gen_ai.data_source.id": ",".join(collections)} if collections else {}
        found |= {"gen_ai.retrieval.query.text": query} if content else {}
        return "retrieval", False, found
    return call.name, False, {"selfright.port": call.port, "selfright.method": call.method}


def reply_attributes(call: PortCall, result: object, *, content: bool) -> Attributes:
    """What is known when the call has ended."""
    if call.port == MODEL and isinstance(result, tuple):
        return _reply_attributes(result, content=content)
    if isinstance(result, Retrieval):
        found: Attributes = {"selfright.hits": len(result.hits)}
        if content:
            rows = [{"id": hit.passage.document_id, "score": hit.rrf_score} for hit in result.hits]
            found["gen_ai.retrieval.documents"] = json.dumps(rows, ensure_ascii=False)
        return found
    if isinstance(result, WebFinding):
        return {
            "selfright.passages": len(result.passages),
            "selfright.web_requests": result.requests,
            "selfright.web_provider": result.provider,
        }
    return {}


def outcome_attributes(outcome: NodeOutcome) -> tuple[Attributes, list[Attributes]]:
    """What a node's span says of what it decided, and its evaluation events."""
    values = {name: getattr(outcome, name) for name in _FACTS}
    attributes = {
        f"selfright.{name}": getattr(value, "value", value) for name, value in values.items() if value is not None
    }
    events = []
    if outcome.verdict is not None and outcome.removed_share is None:
        events.append(_event("sufficiency", outcome.sufficiency, outcome.verdict.value))
    if outcome.quality is not None:
        events.append(_event("overall", outcome.overall, outcome.quality.value))
    return attributes, events


def _event(name: str, score: float | None, label: str) -> Attributes:
    value = {} if score is None else {"gen_ai.evaluation.score.value": score}
    return {"gen_ai.evaluation.name": name, "gen_ai.evaluation.score.label": label, **value}


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


def _reply_attributes(reply: tuple[Any, ...], *, content: bool) -> Attributes:
    text, finish, arguments, sent, received, _ = reply
    attributes: Attributes = {"gen_ai.response.finish_reasons": [str(finish)]}
    if sent is not None:
        attributes["gen_ai.usage.input_tokens"] = sent
    if received is not None:
        attributes["gen_ai.usage.output_tokens"] = received
    if content:
        written = text or (arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False))
        attributes["gen_ai.output.messages"] = messages("assistant", written, str(finish))
    return attributes


def messages(role: str, text: str, finish: str | None = None) -> str:
    """One message in the form that the conventions give it."""
    message: dict[str, Any] = {"role": role, "parts": [{"type": "text", "content": text}]}
    return json.dumps([message | ({"finish_reason": finish} if finish else {})], ensure_ascii=False)
