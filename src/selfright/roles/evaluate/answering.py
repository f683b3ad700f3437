"""Whether an answer in the documents' own words answers the question: the network that reads a question beside passages
reads the answer in a passage's place.

Of other answers it says nothing: what only repeats the question looks to it like an answer, and a bare name does not.
Of right and wrong answers to four sets it knows more (mean AUC 0.76) than shared words do (0.66 on five).
"""

import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from selfright.domain.answers import Draft
from selfright.domain.ports import PairJudge
from selfright.domain.text import language_of
from selfright.roles.pairs import read_pairs


class AnswerReader:
    """``reader`` is used if the weights (``weights.json``, by ``training/fit_answering.py``) were fitted on it."""

    def __init__(self, reader: PairJudge | None = None) -> None:
        stored = weights()
        self._reader = reader if reader is not None and reader.name == stored["reader"] else None
        self._weight, self._intercept = float(stored["weight"]), float(stored["intercept"])

    def chance(self, parts: Sequence[str], draft: Draft) -> float | None:
        """How far (0…1) the draft answers: the mean, over the parts of a question that can be answered, of how probable
        it is that it answers them; None when nobody read it."""
        scores = [self.score(part, draft) for part in parts]
        chances = [1 / (1 + math.exp(-(self._weight * s + self._intercept))) for s in scores if s is not None]
        return sum(chances) / len(chances) if chances and len(chances) == len(parts) else None

    def score(self, question: str, draft: Draft) -> float | None:
        """What the reader makes of the draft, as log-odds."""
        if self._reader is None or language_of(question) not in self._reader.languages:
            return None
        read = read_pairs(self._reader, question, [shown(draft)])
        return read[0].score if read and math.isfinite(read[0].score) else None


def shown(draft: Draft) -> str:
    """The draft's sentences under the titles and sections that they are cited from."""
    headings = (" > ".join(filter(None, (citation.title, citation.section))) for citation in draft.citations)
    said = [sentence.text for sentence in draft.sentences] or [draft.text]
    return "\n".join([*filter(None, dict.fromkeys(headings)), *said])


@cache
def weights() -> Mapping[str, Any]:
    """The weights that ship with the package."""
    stored: Mapping[str, Any] = json.loads(files(__package__).joinpath("weights.json").read_text(encoding="utf-8"))
    return stored
