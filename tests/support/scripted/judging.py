"""How the fake model reads a prompt and judges.

It finds the delimited parts and the sentences in them. Every number comes from counting shared words, so it is the same
each time.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from selfright.domain.text import has_hangul, sentence_spans

_PART = re.compile(r"<([a-z]+)-([0-9a-f]{6,64})>\n(.*?)\n</\1-\2>", re.DOTALL)
_QUESTION = re.compile(r"(?:^|\n)(?:Question|질문):\n(?P<question>.+)\Z", re.DOTALL)
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9-]*|[가-힣]+|\d+(?:[.,]\d+)*")
_GREETING = re.compile(
    r"\W*(?:(?:hi|hello|hey|good (?:morning|evening|day)|thanks?|thank you|bye)\b|안녕|고마|감사|반가|잘 ?가)",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
_MARKER = re.compile(r" ?\[\d{1,3}\]")
_PARTICLE = re.compile(
    r"(?<=[가-힣]{2})(?:에서는|에서|에게|으로|이란|이라|인가요|입니까|하나요|합니까|되나요|됩니까|인지|은|는|이|가|을|를|의|에|로|와|과|도|만|란)$"
)
_ENDING = re.compile(r"(?<=[a-z]{3})(?:ies|es|s|ing|ed|ly)$")
_LIGHT_WORDS = """
    a about an and any are as at be by can could did do does for from give had has have how i in into is it its list
    may me must my name of on or our please should show so tell than that the their them there these they this to use
    used was we were what when where which who why will with would you your
    무엇 뭐 뭔가 어떻게 어떤 어느 언제 어디 누가 누구 왜 얼마 얼마나 몇 알려줘 알려주세요 설명해줘 설명해주세요
    대해 대한 있나요 있습니까 하나요 무슨 해야 하는 있는 그리고 그것 이것 저는 나는 제가 때
"""
_LIGHT = frozenset(_LIGHT_WORDS.split())
_MOST_CHARACTERS = 40_000


@dataclass(frozen=True, slots=True)
class Part:
    """One delimited part of a prompt: its name, its number where it has one (else 0), its text."""

    name: str
    n: int
    text: str


@dataclass(frozen=True, slots=True)
class ParsedPrompt:
    """A user prompt, taken apart. ``question`` is what is asked; ``parts`` are in the order of the prompt."""

    question: str
    parts: tuple[Part, ...] = ()
    iterates: bool = False

    def all(self, *names: str) -> list[Part]:
        """The parts of these names."""
        return [part for part in self.parts if part.name in names]

    def one(self, name: str) -> str:
        """The text of the first part of that name, empty when there is none."""
        return next((part.text for part in self.parts if part.name == name), "")


def _parts(name: str, code: str, body: str) -> Iterator[Part]:
    """What stands between two marks: one part, or the numbered ones."""
    single = name.removesuffix("s")
    _, *numbered = re.split(rf"(?m)^{single}-{code} \[(\d+)\][^\n]*\n", body)
    for n, text in zip(numbered[::2], numbered[1::2], strict=True):
        yield Part(single, int(n), text.removesuffix("\n"))
    if not numbered:
        yield Part(name, 0, body)


def read(prompt: str) -> ParsedPrompt:
    """Takes a user prompt apart; one without delimiters is a question from beginning to end."""
    text = prompt[:_MOST_CHARACTERS]
    parts = tuple(part for found in _PART.finditer(text) for part in _parts(*found.groups()))
    rest = _PART.sub("", text)
    named = {part.name: part.text for part in parts}
    open_question = match["question"] if (match := _QUESTION.search(rest)) else "" if parts else rest
    question = named.get("question") or named.get("message") or open_question
    return ParsedPrompt(question.strip(), parts, iterates=re.search(r"(?m)^(?:Iteration|반복 횟수):", rest) is not None)


def greets(text: str) -> bool:
    """Whether it is small talk: it begins with a greeting or with thanks."""
    return _GREETING.match(text) is not None


def sentences(text: str) -> list[str]:
    """The sentences of ``text``, without citation markers."""
    found = (_MARKER.sub("", text[start:end]).strip() for start, end in sentence_spans(text))
    return [sentence for sentence in found if _WORD.search(sentence)]


def words(text: str) -> tuple[str, ...]:
    """The words that carry meaning, as stems, each once, in reading order."""
    stems = (_stem(word) for word in _WORD.findall(text))
    return tuple(dict.fromkeys(stem for stem in stems if stem))


def numbers(text: str) -> set[str]:
    """The numbers in ``text``, outside of citation markers."""
    return set(_DIGITS.findall(_MARKER.sub("", text)))


def share(wanted: Sequence[str], text: str) -> float:
    """How many of the ``wanted`` stems occur in ``text``, 0…1; 0 when none is wanted."""
    if not wanted:
        return 0.0
    return sum(_occurs(stem, _stems(text), text) for stem in wanted) / len(wanted)


def missing(wanted: Iterable[str], text: str) -> list[str]:
    """The ``wanted`` stems that do not occur in ``text``."""
    return [stem for stem in wanted if not _occurs(stem, _stems(text), text)]


def _occurs(stem: str, stems: frozenset[str], text: str) -> bool:
    return stem in stems or (has_hangul(stem) and stem in text)


@lru_cache(maxsize=512)
def _stems(text: str) -> frozenset[str]:
    return frozenset(words(text))


@lru_cache(maxsize=8_192)
def _stem(word: str) -> str:
    lowered = word.lower()
    if lowered in _LIGHT:
        return ""
    stem = _PARTICLE.sub("", lowered) if has_hangul(lowered) else _ENDING.sub("", lowered)
    return "" if stem in _LIGHT or (len(stem) < 2 and not stem.isdigit()) else stem


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
    """What a text demands of its reader: ``on_text`` word for word (empty for nothing), ``praise`` for good marks."""

    on_text: str = ""
    praise: bool = False


def orders(texts: Iterable[str]) -> Orders:
    """The first demand of each kind that occurs in any of ``texts``."""
    found = [_orders_of(text) for text in texts]
    return Orders(next((one.on_text for one in found if one.on_text), ""), any(one.praise for one in found))


def _orders_of(text: str) -> Orders:
    for pattern in (_QUOTED_EN, _QUOTED_KO, _AFTER_IGNORE_EN, _AFTER_IGNORE_KO):
        if match := pattern.search(text):
            return Orders(match[1].strip()[:_LONGEST], _PRAISE.search(text) is not None)
    return Orders("", _PRAISE.search(text) is not None)


_MOST_CLAIMS = 20
_NOT_KNOWING = (
    "do not know", "don't know", "cannot answer", "no passages", "not find", "찾을 수 없", "알 수 없", "모릅니다",
)  # fmt: skip


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
