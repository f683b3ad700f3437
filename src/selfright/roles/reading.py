"""A question beside passages: where its words stand in them, and what the network that ships reads in them.

The network sees the title, the names of a table's columns and a stretch of text, never the section: on questions as
people ask them it tells absent answers from present ones far better so (AUC 0.99 against 0.67 on one set).
"""

import logging
import math
import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from selfright.domain.codes import Code, codes_in, is_named
from selfright.domain.errors import ModelError
from selfright.domain.judgements import AnswerPlace, PairReading
from selfright.domain.passages import Language, Passage
from selfright.domain.ports import PairJudge
from selfright.domain.text import has_hangul, language_of, sentences_of
from selfright.roles.analysis import Places, TermMatcher, TextAnalyzer
from selfright.roles.quantities import Quantity, quantities
from selfright.roles.visible_text import visible

log = logging.getLogger(__name__)

WINDOWS: Mapping[Language, int] = {"en": 900, "ko": 420}  # characters that fill about 222 pieces
EDGE = 10.0
_LONGEST = 12_000
MOST_READ = 8  # passages; reading a window takes about 30 ms of two cores
_READ_TWICE = 4  # passages of which a second window is read, where they are long
_MUCH = 0.25  # of a window


@dataclass(frozen=True, slots=True)
class QuestionFeatures:
    """A question, or one part of it, read once for all passages."""

    text: str
    matcher: TermMatcher
    quantities: tuple[Quantity, ...]
    korean: bool

    @classmethod
    def of(cls, question: str, analyzer: TextAnalyzer) -> "QuestionFeatures":
        """Reads key terms, which are also looked for in translation, and quantities."""
        matcher = TermMatcher(analyzer, analyzer.key_terms(question), translated=True)
        return cls(question, matcher, quantities(question), has_hangul(question) and language_of(question) == "ko")


@dataclass(frozen=True, slots=True)
class Sentences:
    """A passage as readers see it: its sentences as (start, end), and the terms found in each and in the heading."""

    text: str
    spans: tuple[tuple[int, int], ...]
    places: tuple[Places, ...]
    heading: Places

    @classmethod
    def of(cls, asked: QuestionFeatures, passage: Passage) -> "Sentences":
        """Reads at most the first 12,000 characters."""
        text = _without_quoted(asked.text, visible(passage)[:_LONGEST])
        spans = sentences_of(text) or ((0, len(text)),)
        places = tuple(_once(text, spans, [asked.matcher.places(text[start:end]) for start, end in spans]))
        return cls(text, spans, places, asked.matcher.places(passage.context) if passage.context else {})

    def window(self, asked: QuestionFeatures, most: int) -> tuple[int, int]:
        """Start and end of the sentences in a row, at most ``most`` characters, that hold the most of what is asked."""
        if len(self.text) <= most:
            return 0, len(self.text)
        best, chosen = -1.0, (0, most)
        for first, (start, end) in enumerate(self.spans):
            last = first
            while last + 1 < len(self.spans) and self.spans[last + 1][1] - start <= most:
                last += 1
            share = asked.matcher.share(set().union(*self.places[first : last + 1]))
            if share > best:
                best, chosen = share, (start, min(max(end, self.spans[last][1]), start + most))
        return chosen

    def beside(self, window: tuple[int, int], most: int) -> tuple[int, int] | None:
        """The window beside it on the longer side; None where little is left there."""
        start, end = window
        low, high = (end, len(self.text)) if len(self.text) - end >= start else (0, start)
        inside = [span for span in self.spans if low <= span[0] and span[1] <= high]
        if high - low < _MUCH * most or not inside:
            return None
        first = inside[0][0]
        last = max((stop for _, stop in inside if stop - first <= most), default=first + most)
        return first, last


def _without_quoted(question: str, text: str) -> str:
    """The text with blanks where it quotes the question: an example of asking it says nothing of the answer."""
    words = r"\s+".join(map(re.escape, question.split()))
    return re.sub(
        rf"(?<=[\"'`“‘「『])\s*{words}\s*(?=[\"'`”’」』])", lambda m: " " * len(m[0]), text, flags=re.IGNORECASE
    )


def _once(text: str, spans: Sequence[tuple[int, int]], places: Sequence[Places]) -> Iterator[Places]:
    """The places, none for a sentence that stood there before: saying a thing twice adds nothing."""
    said: set[str] = set()
    for (start, end), found in zip(spans, places, strict=True):
        sentence = " ".join(text[start:end].split()).casefold()
        yield {} if found and sentence in said else found
        said.add(sentence)


@dataclass(frozen=True, slots=True)
class Window:
    """What the network reads in the characters ``start`` to ``end`` of a passage's text: ``score`` are log-odds that
    they answer, ``places`` where the answer may begin or end."""

    start: int
    end: int
    score: float
    places: tuple[AnswerPlace, ...]

    def within(self, start: int, end: int) -> float:
        """The chance (0…1) that the answer, if there is one, stands between two positions: the mean of the chances that
        it begins there and that it ends there."""
        return sum(place.begins + place.ends for place in self.places if start <= place.start < end) / 2

    def covers(self, start: int, end: int) -> bool:
        """Whether at least half of the characters between two positions was read."""
        return 2 * (min(self.end, end) - max(self.start, start)) >= end - start


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read of a passage: one window or two."""

    windows: tuple[Window, ...]

    @property
    def score(self) -> float:
        """Log-odds that the passage answers: those of its better window; NaN when one is no number."""
        scores = [window.score for window in self.windows]
        return max(scores) if all(map(math.isfinite, scores)) else math.nan

    def pointing(self, start: int, end: int) -> float:
        """The chance that the answer stands between two positions, by the window that is likeliest to answer; 0 where
        they were not read."""
        covering = (w for w in self.windows if w.covers(start, end) and math.isfinite(w.score))
        read = [(w.within(start, end), w.score) for w in covering]
        return max(read, key=lambda one: one[0] * chance(one[1]), default=(0.0, 0.0))[0]


def readings(asked: QuestionFeatures, passages: Sequence[Passage], reader: PairJudge | None) -> dict[str, Reading]:
    """Passage id → its reading, of the first eight passages in a language that the network reads; nothing where its
    file is damaged."""
    if reader is None or ("ko" if asked.korean else "en") not in reader.languages:
        return {}
    jobs: list[tuple[Passage, str, tuple[int, int]]] = []
    codes = codes_in(asked.text)
    readable = [passage for passage in passages if passage.language in reader.languages]
    for place, passage in enumerate(readable[:MOST_READ]):
        sentences, most = Sentences.of(asked, passage), WINDOWS[passage.language]
        first = sentences.window(asked, most)
        second = sentences.beside(first, most) if place < _READ_TWICE else None
        jobs += [(passage, sentences.text, span) for span in (first, second) if span]
    read = read_pairs(reader, asked.text, [network_text(p, text[slice(*span)], codes) for p, text, span in jobs])
    found: dict[str, tuple[Window, ...]] = {}
    for (passage, text, span), one in zip(jobs, read or (), strict=False):
        window = Window(*span, one.score, tuple(_move_places(passage, text[slice(*span)], span[0], one.places, codes)))
        found[passage.id] = (*found.get(passage.id, ()), window)
    return {name: Reading(windows) for name, windows in found.items()}


def _move_places(
    passage: Passage, part: str, start: int, places: Sequence[AnswerPlace], codes: Collection[Code]
) -> Iterator[AnswerPlace]:
    """The places in the passage's text of those in what was shown of it."""
    before = len(_above(passage, part, codes))
    blanks = [before + gap + n for n, gap in enumerate(_gaps(part))]

    def own(place: int) -> int:
        return place - before - bisect_left(blanks, place) + start

    yield from (replace(p, start=own(p.start), end=own(p.end)) for p in places if p.start >= before)


def read_pairs(judge: PairJudge, text: str, passages: Sequence[str]) -> Sequence[PairReading] | None:
    """What the judge makes of the passages; None when it cannot be used, which is said once: the rest goes on alone."""
    try:
        return judge.read(text, passages)
    except ModelError as error:
        _say(f"judging goes on without {judge.name}: {error}")
        return None


@lru_cache(maxsize=8)
def _say(message: str) -> None:
    log.error(message)


def network_text(passage: Passage, part: str, codes: Collection[Code] = ()) -> str:
    """A part of a passage as networks see it: under the title and, where it has rows without it, the table's head.

    A section that is named by one of ``codes`` is shown before it, with a colon: its text seldom repeats the code.
    """
    return _above(passage, part, codes) + space_out(part)


def _above(passage: Passage, part: str, codes: Collection[Code]) -> str:
    section = passage.section.rpartition(">")[2].strip()
    above = passage.above(part, section=False)
    named = any(is_named(code, section) for code in codes)
    return (f"{above}\n" if above else "") + (f"{section}: " if named else "")


_ROW = re.compile(r"^[ \t]*\|.*\|[ \t]*$", re.MULTILINE)
_TIGHT = re.compile(r"(?<=[^\s|:\\-])(?=\|)|(?<=\|)(?=[^\s|:-])")  # beside a bar, where no blank is


def space_out(text: str) -> str:
    """The text with blanks around the bars of its tables, as networks have learnt to read them."""
    cuts = [0, *_gaps(text), len(text)]
    return " ".join(text[start:end] for start, end in pairwise(cuts))


def _gaps(text: str) -> list[int]:
    rows = _ROW.finditer(text) if "|" in text else ()
    return [gap.start() for row in rows for gap in _TIGHT.finditer(text, *row.span())]


def chance(score: float) -> float:
    """The probability (0…1) of log-odds, which count to ten on either side; NaN for what is no number."""
    return 1 / (1 + math.exp(-max(-EDGE, min(EDGE, score)))) if math.isfinite(score) else math.nan
