"""What a gullible fake model obeys: orders that someone planted in a document."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

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
    found = [_orders(text) for text in texts]
    return Orders(next((one.say for one in found if one.say), ""), any(one.praise for one in found))


def _orders(text: str) -> Orders:
    for pattern in (_QUOTED_EN, _QUOTED_KO, _AFTER_IGNORE_EN, _AFTER_IGNORE_KO):
        if match := pattern.search(text):
            return Orders(match[1].strip()[:_LONGEST], _PRAISE.search(text) is not None)
    return Orders("", _PRAISE.search(text) is not None)
