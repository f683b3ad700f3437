"""A plain tokenizer, term statistics over a handful of texts, and passages cut from documents, for tests of roles."""

import math
import re
from collections.abc import Sequence
from dataclasses import replace

from selfright.domain.answers import Citation, Draft, Sentence
from selfright.domain.composing import compose
from selfright.domain.passages import Hit, Passage, Strip
from selfright.domain.text import language_of
from selfright.roles.analysis import TextAnalyzer

_WORD = re.compile(r"[a-z0-9]+(?:[.,]\d+)*|[가-힣]+")
_ENDING = re.compile(r"(?<=[a-z]{3})(?:es|s|ing|ed|e)$")
_PARTICLE = re.compile(
    r"(?<=[가-힣]{2})(?:에게는|에서는|입니다|합니다|습니다|에게|에서|으로|부터|까지|처럼|은|는|이|가|을|를|의|에|도|만|로|와|과|다)$"
)


class PlainTokenizer:
    """Lower-case words without plural endings and Korean particles."""

    name = "plain-test"

    def tokens(self, text: str) -> list[str]:
        return [_ENDING.sub("", _PARTICLE.sub("", word)) for word in _WORD.findall(text.lower())]

    def translations(self, _term: str) -> tuple[()]:
        return ()


class CountedTerms:
    """Inverse document frequencies over given texts."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = [set(PlainTokenizer().tokens(text)) for text in texts]

    def idf(self, terms: Sequence[str]) -> list[float]:
        counts = (sum(term in text for text in self._texts) for term in terms)
        return [math.log(1 + (len(self._texts) - n + 0.5) / (n + 0.5)) for n in counts]


def analyzer(*texts: str) -> TextAnalyzer:
    """An analyzer whose index holds ``texts``."""
    return TextAnalyzer(PlainTokenizer(), CountedTerms(texts))


def passage(text: str, document: str = "doc.md", title: str = "", section: str = "", start: int = 0) -> Passage:
    """A passage that stands ``start`` characters into its document."""
    end = start + len(text)
    return Passage(f"{document}#{start}", document, title, text, start, end, section, language_of(text))


def named(name: str, text: str) -> Passage:
    """A passage whose id is the name."""
    return replace(passage(text, name), id=name)


def strip(source: Passage, score: float = 0.8, text: str | None = None) -> Strip:
    """The strip of ``source`` that reads ``text``; all of it by default."""
    shown = source.text if text is None else text
    start = source.start + source.text.index(shown)
    return Strip(source, start, start + len(shown), shown, score)


def hits(*passages: Passage) -> tuple[Hit, ...]:
    """The passages as found, best first."""
    return tuple(Hit(found, 1 / (60 + rank)) for rank, found in enumerate(passages, start=1))


def draft(*sentences: str, cites: Passage | None = None) -> Draft:
    """A draft of these sentences, each of which cites the same passage, or none."""
    said = tuple(Sentence(text, (1,) if cites else ()) for text in sentences)
    citations = (
        (Citation(1, cites.id, cites.document_id, cites.title, cites.section, cites.start, cites.end, cites.text),)
        if cites
        else ()
    )
    return Draft(compose(said), said, citations)


# Passages that several files ask about.
KETTLE = passage(
    "The K7 kettle holds 2 litres. Descale the kettle every 3 months with citric acid. Bleach must not be used.",
    "k7.md",
    "Kettle K7",
)
TOASTER = passage("The T2 toaster browns four slices of bread in 90 seconds.", "t2.md", "Toaster T2")
SIDE_EFFECTS = (
    passage(
        "메트포르민의 주요 부작용: 위장 장애(설사, 구토), 드물게 유산증(lactic acidosis) 발생 가능.\n"
        "금기: 신부전 환자, 심부전 환자는 사용 금지.",
        "1.md",
    ),
    passage("메트포르민 복용 시 비타민 B12 결핍 가능. 장기 복용 환자는 정기 검사 필요.", "2.md"),
)
