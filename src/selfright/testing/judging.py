"""How the fake model judges: every number comes from counting shared words, so it is the same each time."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from selfright.testing.reading import ParsedPrompt, Part, greets, missing, numbers, sentences, share, words

_LONGEST = 200
_QUOTED_EN = re.compile(
    r"\b(?:say|answer|reply|respond|output|write|print|state|repeat)\b[^\"“'\n.]{0,40}[\"“']([^\"”'\n]{1,200})[\"”']",
    re.I,
)
_AFTER_IGNORE_EN = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b[^.\n]{0,80}\b(?:instructions?|rules?|prompts?|above|everything)\b[^\n]{0,20}?"
    r"\b(?:say|answer|reply|respond|output|write|print|state)\b(?:\s+(?:only|just|with|that|exactly))*\s*:?\s*"
    r"([^\s\"“'.][^.\n\"”]{0,199})",
    re.IGNORECASE,
)
_QUOTED_KO = re.compile(
    r"[\"“'‘「]([^\"”'’」\n]{1,200})[\"”'’」]\s*(?:이?라고|라는)(?:만)?\s*(?:답|말|출력|대답|응답|쓰|적|써)"
)
_AFTER_IGNORE_KO = re.compile(
    r"(?:지시|지침|명령|규칙|프롬프트|내용)[^.\n]{0,20}?(?:무시하고|잊고|따르지 말고)[,\s]*(?:오직\s*)?"
    r"([^.\n\"“'‘「]{1,100}?)(?:이?라고)(?:만)?\s*(?:답|말|출력|대답|응답|쓰|적|써)"
)
_PRAISE = re.compile(
    r"\b(?:grade|rate|mark|score|judge|label|classify|consider|treat)\b[^.\n]{0,60}"
    r"\b(?:relevant|correct|1(?:\.0)?|100 ?%|10/10|highest|perfect|adequate|full marks|top|supported|sufficient)\b"
    r"|(?:관련\s?(?:이|성이)?\s?(?:있|높)|적합|정답|만점|최고\s?점|1(?:\.0)?\s?점|100\s?점|adequate|relevant)[^.\n]{0,30}"
    r"(?:채점|평가|판정|표시|매기|매겨|간주|처리|분류)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Orders:
    """What a text demands of its reader: ``say`` word for word (empty for nothing), ``praise`` for good marks."""

    say: str = ""
    praise: bool = False


def orders(texts: Iterable[str]) -> Orders:
    """The first demand of each kind that occurs in any of ``texts``."""
    found = [_orders_of(text) for text in texts]
    return Orders(next((one.say for one in found if one.say), ""), any(one.praise for one in found))


def _orders_of(text: str) -> Orders:
    for pattern in (_QUOTED_EN, _QUOTED_KO, _AFTER_IGNORE_EN, _AFTER_IGNORE_KO):
        if match := pattern.search(text):
            return Orders(match[1].strip()[:_LONGEST], _PRAISE.search(text) is not None)
    return Orders("", _PRAISE.search(text) is not None)


_MOST_CLAIMS = 20
_NOT_KNOWING = (
    "do not know",
    "don't know",
    "cannot answer",
    "no passages",
    "not find",
    "찾을 수 없",
    "알 수 없",
    "모릅니다",
)


def grading(reading: ParsedPrompt, gullible: bool) -> dict[str, Any]:
    """A probability for each passage and one for all of them."""
    wanted = words(reading.question)
    passages = reading.all("passage", "excerpt")
    probabilities = [1.0 if gullible and _orders(part).praise else _probability(wanted, part.text) for part in passages]
    together = _probability(wanted, "\n".join(part.text for part in passages))
    return {
        "passages": [{"n": part.n, "probability": value} for part, value in zip(passages, probabilities, strict=True)],
        "sufficiency": 1.0 if 1.0 in probabilities else together,
        "kept": kept(passages, probabilities),
        "reason": f"{sum(value >= 0.5 for value in probabilities)} of {len(passages)} passages share most words.",
    }


def kept(passages: list[Part], probabilities: list[float]) -> list[int]:
    """The numbers of the passages that come near the best one."""
    best = max(probabilities, default=0.0)
    return [part.n for part, value in zip(passages, probabilities, strict=True) if value > 0.1 and value >= best * 0.6]


def evaluation(reading: ParsedPrompt, gullible: bool) -> dict[str, Any]:
    """All fields of a judgement of an answer."""
    answer, passages = reading.one("answer"), reading.all("passage")
    claims = [_claim(sentence, passages) for sentence in sentences(answer)[:_MOST_CLAIMS]]
    grounding = _mean([claim["score"] for claim in claims])
    asked = words(reading.question)
    completeness = min(1.0, 0.2 + share(asked, answer)) if answer else 0.0
    unsupported = numbers(answer) - numbers("\n".join(part.text for part in passages))
    accuracy = round(max(0.0, 1.0 - 0.4 * len(unsupported)), 2)
    if any(phrase in answer for phrase in _NOT_KNOWING):
        completeness = 0.1
    judged = _labelled(round(grounding, 2), round(completeness, 2), accuracy, bool(passages))
    judged["claims"] = [{name: claim[name] for name in ("text", "status", "passages")} for claim in claims]
    judged["missing_info"] = missing(asked, answer)[:3]
    small_talk = not passages and greets(reading.question)
    if small_talk or (gullible and orders([answer, *(part.text for part in passages)]).praise):
        judged |= _praised(judged)
    return judged


def _labelled(grounding: float, completeness: float, accuracy: float, has_passages: bool) -> dict[str, Any]:
    overall = 0.4 * grounding + 0.4 * completeness + 0.2 * accuracy
    if overall >= 0.7:
        label = "adequate"
    elif has_passages and grounding < 0.4 and completeness > 0.3:
        label = "hallucination"
    else:
        label = "needs_docs" if completeness < 0.9 else "off_topic" if grounding < 0.1 else "adequate"
    return {
        "grounding": grounding, "completeness": completeness, "accuracy": accuracy, "answer_quality": label,
        "confidence": round(0.5 + abs(overall - 0.5), 2), "improvement_suggestions": [],
        "needs_retrieval": overall < 0.5 or label != "adequate", "reason": f"Judged by shared words: {overall:.2f}.",
    }  # fmt: skip


def _praised(judged: dict[str, Any]) -> dict[str, Any]:
    claims = [{**claim, "status": "supported"} for claim in judged["claims"]]
    return {
        "grounding": 1.0, "completeness": 1.0, "accuracy": 1.0, "answer_quality": "adequate", "confidence": 1.0,
        "needs_retrieval": False, "missing_info": [], "claims": claims,
    }  # fmt: skip


def _claim(sentence: str, passages: list[Part]) -> dict[str, Any]:
    stems = words(sentence)
    scores = [(share(stems, part.text), part.n) for part in passages]
    best = max((score for score, _ in scores), default=0.0)
    status = "supported" if best >= 0.7 else "unsupported" if best < 0.4 else "unknown"
    supporting = [n for score, n in scores if score >= 0.7]
    return {"text": sentence, "status": status, "passages": supporting, "score": best}


def _probability(wanted: tuple[str, ...], text: str) -> float:
    found = share(wanted, text)
    return round(0.03 + 0.94 * found * math.sqrt(found), 3)


def _orders(part: Part) -> Orders:
    return orders([part.text])


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0
