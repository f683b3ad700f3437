"""How the fake model reads a prompt: its delimited parts, the sentences in them, and how many words two texts share."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from selfright.domain.text import has_hangul, sentence_spans

_PART = re.compile(r"<([a-z]+)-([0-9a-f]{6,64})((?: [a-z]+=\"[^\"]*\")*)>\n(.*?)\n</\1-\2>", re.DOTALL)
_NUMBER_OF = re.compile(r" n=\"(\d{1,4})\"")
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


def read(prompt: str) -> ParsedPrompt:
    """Takes a user prompt apart; one without delimiters is a question from beginning to end."""
    text = prompt[:_MOST_CHARACTERS]
    parts = tuple(
        Part(name, int(number[1]) if (number := _NUMBER_OF.search(attributes)) else 0, body)
        for name, _, attributes, body in _PART.findall(text)
    )
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
