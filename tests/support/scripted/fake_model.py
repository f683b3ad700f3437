"""A fake model: answers without any model, by counting shared words. Mediocre on purpose, and always the same."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from selfright.domain.text import language_of
from tests.support.scripted import judging
from tests.support.scripted.judging import ParsedPrompt, Part, greets, missing, orders, read, sentences, share, words
from tests.support.scripted.requests import Request

_ASKS_JSON = re.compile(r"JSON (?:object|객체)")
_ONLY_JSON = re.compile(r"\bone JSON object only\b|JSON 객체 하나로만")  # a user may well ask about JSON
_SUMMARY = re.compile(r"\b(?:summar|sum up|tl;?dr)|요약|정리해", re.IGNORECASE)
_TOLD = re.compile(r"(?m)^(?:Assistant|답변자): (.+)")
_SAID = {
    "en": {
        "hello": "Hello! Ask me about the documents.",
        "unknown": "I do not know that without documents.",
        "not_found": "The passages do not say that; I cannot answer it from them.",
    },
    "ko": {
        "hello": "안녕하세요! 문서에 관해 물어보세요.",
        "unknown": "문서 없이는 알 수 없습니다.",
        "not_found": "주어진 문단에서는 답을 찾을 수 없습니다.",
    },
}
# Which object is meant where no schema says so: the first field that the prompts name, and what belongs to it.
_FIELDS = {
    "grounding": ("grounding", "completeness", "accuracy", "answer_quality", "confidence", "missing_info",
                  "improvement_suggestions", "needs_retrieval", "reason", "claims"),
    "sufficiency": ("passages", "sufficiency", "reason"),
    "kept": ("kept",),
    "query_class": ("query_class",),
}  # fmt: skip
_MOST_SENTENCES = 3
_LONGEST_SUMMARY = 1_000
_DEEPEST = 6
_LOOKED_AT = 400  # characters that tell the language
_TYPES: Mapping[str, tuple[Any, Any]] = {
    "number": ((int, float), 0.5),
    "integer": (int, 1),
    "boolean": (bool, False),
    "string": (str, ""),
}


@dataclass(frozen=True, slots=True)
class FakeModel:
    """Replies to any request. ``gullible``: obeys orders planted in the documents it reads, as a weak model would."""

    gullible: bool = False

    def reply(self, request: Request) -> str | dict[str, Any]:
        """The object that the request's schema, or its system prompt, wants; text where neither wants one."""
        if request.schema is not None:
            return self.data(request)
        wants_json = (
            request.form == "json_object" or _ASKS_JSON.search(request.system) or _ONLY_JSON.search(request.user)
        )
        return json.dumps(self.data(request), ensure_ascii=False) if wants_json else self.text(read(request.user))

    def data(self, request: Request) -> dict[str, Any]:
        """The object that is wanted, filled by the names of its fields; others get a value of their type."""
        values = self._values(read(request.user))
        if request.schema:
            fitted: dict[str, Any] = _fitted(values, request.schema)
            return fitted
        prompts = request.system + request.user
        names = next((names for first, names in _FIELDS.items() if first in prompts), ())
        return {name: values[name] for name in names} or {"answer": self.text(read(request.user))}

    def text(self, reading: ParsedPrompt) -> str:
        """Plain text: a summary, a query, or an answer with markers."""
        if reading.all("messages"):
            return _summary(reading)
        if reading.all("question"):
            return _query(reading)
        return self._answer(reading)

    def _values(self, reading: ParsedPrompt) -> dict[str, Any]:
        judged = judging.evaluation(reading, self.gullible) if reading.all("answer") else {}
        return {"query_class": _class(reading.question), **judging.grading(reading, self.gullible), **judged}

    def _answer(self, reading: ParsedPrompt) -> str:
        said = _SAID[language_of(reading.question[:_LOOKED_AT])]
        evidence = reading.all("passage", "excerpt")
        if self.gullible and (order := orders(part.text for part in evidence).on_text):
            return order
        if greets(reading.question):
            return said["hello"]
        told = _best_sentences(reading)
        return " ".join(told) or (said["not_found"] if evidence else said["unknown"])


def _best_sentences(reading: ParsedPrompt) -> list[str]:
    """The sentences with the most words of the question, in the order of the prompt, with their markers."""
    wanted = words(reading.question)
    parts = reading.all("passage", "excerpt") or [Part("conversation", 0, _told_before(reading))]
    scored = [
        (share(wanted, sentence), f"{sentence} [{part.n}]" if part.n else sentence)
        for part in parts
        for sentence in sentences(part.text)
    ]
    best = sorted((score for score, _ in scored), reverse=True)[:_MOST_SENTENCES]
    bound = max(0.2, best[-1], best[0] * 0.6) if best else 1.0
    return list(dict.fromkeys(text for score, text in scored if score >= bound))[:_MOST_SENTENCES]


def _told_before(reading: ParsedPrompt) -> str:
    """What the assistant said in the conversation."""
    return "\n".join(_TOLD.findall(reading.one("conversation")))


def _summary(reading: ParsedPrompt) -> str:
    lines = reading.one("messages").splitlines()
    firsts = [found[0] for line in lines if (found := sentences(line))]
    return "\n".join(filter(None, [reading.one("summary"), *firsts]))[-_LONGEST_SUMMARY:].strip()


def _query(reading: ParsedPrompt) -> str:
    """The question made stand-alone, made richer by what is missing, or cut to key words for the web."""
    items = [line.removeprefix("- ") for line in reading.one("missing").splitlines()]
    if reading.iterates:
        return " ".join([reading.question.rstrip("?. "), *items, reading.one("profile")]).strip()
    conversation = reading.one("conversation")
    if not conversation:
        return " ".join([*words(reading.question), *(word for item in items for word in words(item))][:6])
    before = " ".join(conversation.splitlines()[:-1]) or conversation
    topic = missing(words(before), reading.question)[1:4]
    return f"{reading.question} ({', '.join(topic)})" if topic else reading.question


def _class(text: str) -> str:
    if greets(text):
        return "chitchat"
    return "summary" if _SUMMARY.search(text) else "question" if words(text) else "unknown"


def _fitted(value: Any, schema: Mapping[str, Any], depth: int = 0) -> Any:
    """``value`` as far as the schema has room for it; where it has no such value, one of the type that is wanted."""
    options = schema.get("enum")
    if isinstance(options, list) and options:
        return value if value in options else options[0]
    kind = schema.get("type")
    if kind == "object" or "properties" in schema:
        known = value if isinstance(value, Mapping) else {}
        wanted = schema.get("properties", {}) if depth < _DEEPEST else {}
        return {name: _fitted(known.get(name), form, depth + 1) for name, form in wanted.items()}
    if kind == "array":
        items = schema.get("items", {})
        return [_fitted(item, items, depth + 1) for item in value] if isinstance(value, list) else []
    types, usual = _TYPES.get(str(kind), (object, None))
    return value if isinstance(value, types) else usual
