"""Where in passages the answer seems to stand, by a reader of question and passage together.

The reader is handed over (port ``PairJudge``). It sees of a passage what it sees for the grader, so that what was
read for one role need not be read again for the next.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from selfright.domain.judgements import AnswerPlace
from selfright.domain.passages import Passage
from selfright.domain.ports import PairJudge
from selfright.roles.grade.features import Asked, Read
from selfright.roles.grade.windows import chance, shown, window
from selfright.roles.pairs import read_pairs

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
        shift = start - (len(passage.heading) + 1 if passage.heading else 0)
        moved = (AnswerPlace(p.start + shift, p.end + shift, p.begins, p.ends) for p in places.places)
        found[passage.id] = AnswerSpans(start, end, chance(places.score), tuple(p for p in moved if p.start >= start))
    return found
