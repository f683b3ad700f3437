"""What networks that read question and passage together (port ``PairJudge``) make of passages.

One ships, and also says where the answer seems to stand; another may be a cross-encoder that the user chose.

A network sees the same of a passage for every role, so that what was read for one need not be read again for the next.
Of a network that the user chose nothing is known before: what it says counts as much as the grader's signals do, until
``selfright calibrate`` weighs the two on labelled pairs. One that is out of order fails nothing.
"""

import logging
import math
import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from selfright.domain.errors import ModelError
from selfright.domain.judgements import AnswerPlace, PairReading
from selfright.domain.passages import Language, Passage
from selfright.domain.ports import PairJudge
from selfright.domain.text import language_of
from selfright.roles.grade.features import Asked, Read
from selfright.roles.scoring import log_odds

log = logging.getLogger(__name__)


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


WINDOWS: Mapping[Language, int] = {
    "en": 900,
    "ko": 420,
}  # of a passage: about what the network takes at once, 222 pieces
EDGE = 10.0


def shown(asked: Asked, passage: Passage, read: Read, most: int = 0) -> str:
    """What a reader sees of a passage: its heading and at most ``most`` characters, the sentences most to the point."""
    start, end = window(asked, read, most)
    above, body = passage.above(read.text[start:end]), spaced(read.text[start:end])
    return f"{above}\n{body}" if above else body


_ROW = re.compile(r"^[ \t]*\|.*\|[ \t]*$", re.MULTILINE)
_TIGHT = re.compile(r"(?<=[^\s|:\\-])(?=\|)|(?<=\|)(?=[^\s|:-])")  # beside a bar, where no blank is


def spaced(text: str) -> str:
    """The text with blanks around the bars of its tables, as networks have learnt to read them."""
    cuts = [0, *_gaps(text), len(text)]
    return " ".join(text[start:end] for start, end in pairwise(cuts))


def _gaps(text: str) -> list[int]:
    rows = _ROW.finditer(text) if "|" in text else ()
    return [gap.start() for row in rows for gap in _TIGHT.finditer(text, *row.span())]


def window(asked: Asked, read: Read, most: int = 0) -> tuple[int, int]:
    """Start and end of the sentences that are shown: those in a row that hold the most of what is asked.

    ``most`` is by default what the network takes of text in the passage's language.
    """
    most = most or WINDOWS[language_of(read.text)]
    if len(read.text) <= most:
        return 0, len(read.text)
    best, chosen = -1.0, (0, most)
    for first, (start, end) in enumerate(read.spans):
        last = first
        while last + 1 < len(read.spans) and read.spans[last + 1][1] - start <= most:
            last += 1
        share = asked.matcher.share(set().union(*read.places[first : last + 1]))
        if share > best:
            best, chosen = share, (start, min(max(end, read.spans[last][1]), start + most))
    return chosen


def chance(score: float) -> float:
    """The probability (0…1) of log-odds, which count to ten on either side; NaN for what is no number."""
    return 1 / (1 + math.exp(-max(-EDGE, min(EDGE, score)))) if math.isfinite(score) else math.nan


MOST_READ = 5  # reading a passage takes about 40 ms of two cores


@dataclass(frozen=True, slots=True)
class AnswerSpans:
    """What was read of a passage, characters ``start`` to ``end`` of its text, and where the answer may stand in it.

    ``chance`` is the reader's own that the passage answers (0…1).
    """

    start: int
    end: int
    chance: float
    places: tuple[AnswerPlace, ...]

    def within(self, start: int, end: int) -> float:
        """The chance (0…1) that the answer, if there is one, stands between two positions of the passage's text.

        The mean of the chances that it begins there and that it ends there.
        """
        inside = [place for place in self.places if start <= place.start < end]
        return sum(place.begins + place.ends for place in inside) / 2

    def covers(self, start: int, end: int) -> bool:
        """Whether at least half of the characters between two positions was read."""
        return 2 * (min(self.end, end) - max(self.start, start)) >= end - start


def answer_spans(asked: Asked, passages: Sequence[Passage], reader: PairJudge | None) -> dict[str, AnswerSpans]:
    """Passage id → what a reader makes of it: of the first five passages in a language that it reads.

    Nothing where the reader's file is damaged, nor of a passage whose score is no number.
    """
    if reader is None or ("ko" if asked.korean else "en") not in reader.languages:
        return {}
    chosen = [passage for passage in passages if passage.language in reader.languages][:MOST_READ]
    reads = [Read.of(asked, passage) for passage in chosen]
    texts = [shown(asked, passage, read) for passage, read in zip(chosen, reads, strict=True)]
    found: dict[str, AnswerSpans] = {}
    judged = read_pairs(reader, asked.text, texts)
    for passage, read, places in zip(chosen, reads, judged, strict=True) if judged is not None else ():
        if not math.isfinite(places.score):
            continue
        start, end = window(asked, read)
        part = read.text[start:end]
        above = passage.above(part)
        before = len(above) + 1 if above else 0
        blanks = [before + gap + n for n, gap in enumerate(_gaps(part))]
        shift = start - before
        moved = (
            replace(
                p, start=p.start + shift - bisect_left(blanks, p.start), end=p.end + shift - bisect_left(blanks, p.end)
            )
            for p in places.places
            if p.start >= before
        )
        found[passage.id] = AnswerSpans(start, end, chance(places.score), tuple(moved))
    return found


MOST_JUDGED = 20
JUDGED_CHARACTERS = 2_000  # of a passage: about as much as networks take that read 512 word pieces


def opinions(
    judge: PairJudge, asked: Asked, passages: Sequence[Passage], reads: Sequence[Read], signals: Sequence[float]
) -> list[Mapping[str, float] | None]:
    """For each passage what the signals say of it (``signals``, probabilities) and what the judge says, as log-odds.

    ``behind`` is how far the judge puts it behind the best of the set. None for a passage that the judge was not
    asked about: in a language that it does not read, or not among the twenty most probable by the signals. All are
    None where the judge cannot be used.
    """
    none: list[Mapping[str, float] | None] = [None] * len(passages)
    if ("ko" if asked.korean else "en") not in judge.languages:
        return none
    readable = [i for i, passage in enumerate(passages) if passage.language in judge.languages]
    chosen = sorted(sorted(readable, key=lambda i: -signals[i])[:MOST_JUDGED])
    texts = [shown(asked, passages[i], reads[i], JUDGED_CHARACTERS) for i in chosen]
    judged = read_pairs(judge, asked.text, texts)
    if judged is None:
        return none
    best = max((found.score for found in judged), default=0.0)
    for i, found in zip(chosen, judged, strict=True):
        none[i] = {"signals": log_odds(signals[i]), "judge": found.score, "behind": best - found.score}
    return none
