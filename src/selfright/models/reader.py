"""The network that reads pairs, Korean and English: a question or a claim, and a passage, as one text.

Its layers began as the first ones of the multilingual encoder, whose word vectors it uses; ``training/reading.py``
trains them. Two views of it are ``PairJudge``: ``questions`` and ``claims``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from selfright.background import Recent
from selfright.domain.judgements import AnswerPlace, PairReading
from selfright.domain.passages import Language
from selfright.models.batching import BATCH_TOKENS, DynamicBatcher, Lanes, pad_pieces
from selfright.models.files import BEGIN, END, FOLDER, PAD, Network, list_files, piece_numbers, pieces_and_places

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_PASSAGE_PIECES = 224
MOST_ASKED_PIECES = 48
_MOST_ASKED_CHARACTERS = 1_000  # of which that many pieces are made; a longer text costs its whole length each time
_LEAST_CHANCE = 0.001
_THREADS = 2
KEPT = 256  # pairs


@dataclass(frozen=True, slots=True)
class Pieces:
    """A pair in pieces, the first ``asked`` of them the question's or claim's; ``places`` are characters of the
    passage for each piece of it, none where they are not known."""

    ids: tuple[int, ...]
    asked: int
    places: tuple[tuple[int, int], ...]


class PairNet:
    """Reads pairs. Safe to share between threads."""

    languages: tuple[Language, ...] = ("ko", "en")

    def __init__(self, folder: Path = FOLDER) -> None:
        self.name: str = list_files(folder)["reader"]  # of the weights; what is fitted on its readings names it
        self._network = Network("reader", folder)
        self._lanes = Lanes(_THREADS)
        self._batched = DynamicBatcher(self._read_pairs, lambda pair: len(pair.ids), BATCH_TOKENS)

    def load(self) -> None:
        """Reads the weights; raises what the first use would."""
        self._network.load()

    def run(self, text: str, passages: Sequence[str]) -> "list[tuple[NDArray[np.float32], tuple[AnswerPlace, ...]]]":
        """The five logits of each passage beside ``text``, and where the answer may begin or end."""
        return list(self._batched([cut_pair(text, passage) for passage in passages]))

    def _read_pairs(self, pairs: Sequence[Pieces]) -> "list[tuple[NDArray[np.float32], tuple[AnswerPlace, ...]]]":
        found: list[Any] = [None] * len(pairs)

        def run(rows: list[int]) -> None:
            chosen = [pairs[row] for row in rows]
            for row, pair, logits, ends in zip(rows, chosen, *self._logits(chosen), strict=True):
                found[row] = (logits, _likely(pair, ends))

        self._lanes([len(pair.ids) for pair in pairs], run)
        return found

    def _logits(self, pairs: Sequence[Pieces]) -> tuple[Any, Any]:
        pieces, mask = pad_pieces([pair.ids for pair in pairs], PAD)
        asked, matches = np.zeros_like(mask), np.zeros_like(mask)
        for row, pair in enumerate(pairs):
            asked[row, : pair.asked] = 1
            matches[row, : len(pair.ids)] = matching(pair.ids, pair.asked)
        inputs = {"pieces": pieces, "attention_mask": mask, "asked": asked, "matches": matches}
        logits, ends = self._network.run(inputs)
        return logits, ends


@cache
def load_net() -> PairNet:
    """The network that ships with the package."""
    return PairNet()


def cut_pair(text: str, passage: str) -> Pieces:
    """Of the question or claim the first 46 pieces, of the passage the first 222."""
    (asked,) = piece_numbers([text[:_MOST_ASKED_CHARACTERS]])
    shown, places = pieces_and_places(passage)
    most = MOST_PASSAGE_PIECES - 2
    first = (BEGIN, *asked[: MOST_ASKED_PIECES - 2], END)
    return Pieces((*first, END, *shown[:most], END), len(first), tuple(places[:most]))


class PairView:
    """One of the two things that the network tells; implements the port ``PairJudge``. The last 256 pairs are kept."""

    def __init__(self, net: PairNet, *, claims: bool) -> None:
        self._net, self._claims = net, claims
        self.name, self.languages = net.name, net.languages
        self._kept = Recent[tuple[str, str], PairReading](KEPT)

    def read(self, text: str, passages: Sequence[str]) -> list[PairReading]:
        """Of a passage the first 222 pieces count, of the question or claim the first 46. Without one, only loads."""
        if not passages:
            self._net.load()
        return self._kept.complete([(text, passage) for passage in passages], self._read_new)

    def _read_new(self, pairs: Sequence[tuple[str, str]]) -> list[PairReading]:
        return [self._reading(*found) for found in self._net.run(pairs[0][0], [passage for _, passage in pairs])]

    def _reading(self, logits: "NDArray[np.float32]", places: tuple[AnswerPlace, ...]) -> PairReading:
        if not self._claims:
            return PairReading(float(logits[0]), places)
        supported, contradicted, neither = (float(value) for value in logits[2:])
        chances = np.exp(logits[2:] - logits[2:].max())
        return PairReading(
            supported - float(np.logaddexp(contradicted, neither)), (), float(chances[1] / chances.sum())
        )


class PairViews:
    """Both views of one network: ``questions`` for graders, ``claims`` for evaluators."""

    def __init__(self, net: PairNet) -> None:
        self.questions, self.claims = PairView(net, claims=False), PairView(net, claims=True)


def matching(ids: Sequence[int], asked: int) -> list[int]:
    """1 for each piece that the other text has too; the marks of begin and end do not count."""
    both = set(ids[1 : asked - 1]) & set(ids[asked + 1 : -1])
    return [int(number in both) for number in ids]


def _likely(pair: Pieces, ends: "NDArray[np.float32]") -> tuple[AnswerPlace, ...]:
    chances = ends[pair.asked + 1 : pair.asked + 1 + len(pair.places)].tolist()
    return tuple(
        AnswerPlace(start, end, *two)
        for (start, end), two in zip(pair.places, chances, strict=False)  # no places, where they are not known
        if start < end and max(two) >= _LEAST_CHANCE
    )
