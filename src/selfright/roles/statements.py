"""Whether a sentence states what is asked, or only speaks of it: by its form, not by its wording."""

import re
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

from selfright.roles.questions import AnswerType, answer_type, answer_type_match
from selfright.roles.words import content_words

# Kinds of things that can be told by their look.
_VISIBLE = (AnswerType.NUMBER, AnswerType.TIME, AnswerType.VERSION, AnswerType.PERSON, AnswerType.PLACE)
_ASKING = re.compile(
    r"\b(?:who|whom|whose|which|what|when|where|why|how)\b"
    r"|누구|누가|무엇|무슨|어느|어떤|어디|언제|얼마|(?<![가-힣])(?:몇|왜)(?![가-힣])",
    re.IGNORECASE,
)
_QUOTED = re.compile(
    r"\"[^\"\n]{1,300}\"|“[^”\n]{1,300}”|‘[^’\n]{1,300}’|「[^」\n]{1,300}」|(?<![\w])'[^'\n]{1,300}'(?![\w])"
)
_DEMANDS = re.compile(r"(?:라|세요|시오|십시오)[.!\"”'’)\]\s]*$")


def outside_quotes(text: str) -> str:
    """The text without what stands between quotation marks."""
    return _QUOTED.sub(" ", text)


class Stance(IntEnum):
    """How a sentence stands to what is asked."""

    STATES = 0
    MAY_STATE = 1  # it quotes something, or has nothing of the kind that is asked for, as far as that can be seen
    SPEAKS_OF = 2  # it repeats the question, is code, demands something, or has what is asked for in quotation marks


def stance(question: str, text: str, *, code: bool = False) -> Stance:
    """How ``text`` stands to ``question``; ``code`` says that it is code."""
    asked = _asked(question)
    visible, quotes = asked.kind in _VISIBLE, _QUOTED.search(text) is not None
    if code or not _interrogatives(text).isdisjoint(asked.interrogatives) or content_words(text) <= asked.words:
        return Stance.SPEAKS_OF
    if visible and (
        _DEMANDS.search(text) or (quotes and not answer_type_match(asked.kind, question, outside_quotes(text)))
    ):
        return Stance.SPEAKS_OF
    return (
        Stance.MAY_STATE if quotes or (visible and not answer_type_match(asked.kind, question, text)) else Stance.STATES
    )


@dataclass(frozen=True, slots=True)
class _Asked:
    kind: AnswerType
    words: frozenset[str]
    interrogatives: frozenset[str]


@lru_cache(maxsize=64)
def _asked(question: str) -> _Asked:
    return _Asked(answer_type(question), content_words(question), _interrogatives(question))


def _interrogatives(text: str) -> frozenset[str]:
    return frozenset(match.group().casefold() for match in _ASKING.finditer(text))
