"""The network that reads pairs, Korean and English: a question or a claim, and a passage, as one text.

Its layers began as the first ones of the multilingual encoder, whose word vectors it uses; ``training/reading.py``
trains them. Two views of it are ``PairJudge``: ``questions`` and ``claims``.
"""

import hashlib
import io
import threading
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from selfright.domain.errors import ModelFilesDamaged
from selfright.domain.judgements import AnswerPlace, PairReading
from selfright.domain.passages import Language
from selfright.llm.e5 import E5Words, normalized, shared_words
from selfright.llm.encoding import BATCH_TOKENS, DynamicBatcher, batches, encoder_session, padded
from selfright.llm.pair_readings import KeptPairs, sendable

if TYPE_CHECKING:
    from numpy.typing import NDArray

FILE = "pairs.npz"
SHA256 = "c700244ab234a3ff32d60506b81576fe6be7338927431604da67a322a26f285c"
MOST_PASSAGE_PIECES = 224
MOST_ASKED_PIECES = 48
_LEAST_CHANCE = 0.001
_THREADS = 2
_KINDS = ("weight", "bias")
PARTS = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "mixed": "attention.output.dense",
    "attended_norm": "attention.output.LayerNorm",
    "inner": "intermediate.dense",
    "outer": "output.dense",
    "norm": "output.LayerNorm",
}


@dataclass(frozen=True, slots=True)
class Pieces:
    """A pair in pieces, the first ``asked`` of them the question's or claim's; ``places`` are characters of the
    passage for each piece of it, none where they are not known."""

    ids: tuple[int, ...]
    asked: int
    places: tuple[tuple[int, int], ...]


class PairNet:
    """Reads pairs. ``file`` holds its weights and must hash to ``sha256``; both are looked at on the first use, which
    raises ``ModelFilesDamaged`` or ``MissingExtra``. Safe to share between threads.
    """

    languages: tuple[Language, ...] = ("ko", "en")

    def __init__(self, file: Path, sha256: str, *, words: E5Words | None = None) -> None:
        self.name = f"pairs-{sha256[:12]}"
        self._file, self._sha256 = file, sha256
        self._given_words = words
        self._loading = threading.Lock()
        self._session: Any = None
        self._damage = ""
        self._batched = DynamicBatcher(self._found, lambda pair: len(pair.ids), BATCH_TOKENS)

    def run(self, text: str, passages: Sequence[str]) -> "list[tuple[NDArray[np.float32], tuple[AnswerPlace, ...]]]":
        """The five logits (``PairGraph``) of each passage beside ``text``, and where the answer may begin or end."""
        self.load()
        return list(self._batched([self._pieces(text, passage) for passage in passages]))

    def _found(self, pairs: Sequence[Pieces]) -> "list[tuple[NDArray[np.float32], tuple[AnswerPlace, ...]]]":
        found: list[Any] = [None] * len(pairs)
        for rows in batches([len(pair.ids) for pair in pairs]):
            chosen = [pairs[row] for row in rows]
            for row, pair, logits, ends in zip(rows, chosen, *self._logits(chosen), strict=True):
                found[row] = (logits, _likely(pair, ends))
        return found

    def _logits(self, pairs: Sequence[Pieces]) -> tuple[Any, Any]:
        ids, mask = padded([pair.ids for pair in pairs], self._words.pieces.pad_id())
        asked, matches = np.zeros_like(mask), np.zeros_like(mask)
        for row, pair in enumerate(pairs):
            asked[row, : pair.asked] = 1
            matches[row, : len(pair.ids)] = matching(pair.ids, pair.asked)
        inputs = self._words.vectors(ids)
        inputs += self._kinds[1 - asked]
        inputs += self._matches[matches]
        logits, ends = self._session.run(None, {"embedded": inputs, "attention_mask": mask, "asked": asked})
        return logits, ends

    def _pieces(self, text: str, passage: str) -> Pieces:
        pieces = self._words.pieces
        begin, end = pieces.bos_id(), pieces.eos_id()
        (asked,) = self._words.numbers([sendable(text)])
        whole = sendable(passage)
        plain = normalized(whole)
        shown = list(pieces.encode(plain, return_type="proto").pieces)[: MOST_PASSAGE_PIECES - 2]
        first = (begin, *asked[: MOST_ASKED_PIECES - 2], end)
        ids = (*first, end, *(piece.id for piece in shown), end)
        return Pieces(ids, len(first), _places(whole, plain, [(piece.begin, piece.end) for piece in shown]))

    def load(self) -> None:
        """Reads the weights; raises what the first use would."""
        if self._session is not None:
            return
        with self._loading:
            if self._damage:  # hashing the file at each question would find the same
                raise ModelFilesDamaged(self._damage)
            if self._session is None:
                from selfright.llm.encoder_graph import PairGraph

                words = self._given_words or shared_words()
                stored = self._stored()
                self._words = words
                self._kinds, self._matches = (stored[f"{name}.weight"].astype("f4") for name in ("kinds", "matches"))
                graph = PairGraph(graph_names(stored))
                self._weights = graph.weights  # the session borrows this memory
                self._session = encoder_session(graph, _THREADS)

    def _stored(self) -> "dict[str, NDArray[np.float16]]":
        try:
            content = self._file.read_bytes()
        except OSError as error:
            self._damage = f"cannot read {self._file} ({error.strerror}); reinstall selfright"
            raise ModelFilesDamaged(self._damage) from None
        digest = hashlib.sha256(content).hexdigest()
        if digest != self._sha256:
            self._damage = f"{self._file} should have the SHA-256 {self._sha256}, but has {digest}; reinstall selfright"
            raise ModelFilesDamaged(self._damage)
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}


def shipped_net(words: E5Words | None = None) -> PairNet:
    """The network that ships with the package."""
    return PairNet(Path(__file__).with_name(FILE), SHA256, words=words)


class PairView:
    """One of the two things that the network tells; implements the port ``PairJudge``. The last 256 pairs are kept."""

    def __init__(self, net: PairNet, *, claims: bool) -> None:
        self._net, self._claims = net, claims
        self.name, self.languages = net.name, net.languages
        self._kept = KeptPairs()

    def read(self, text: str, passages: Sequence[str]) -> list[PairReading]:
        """Of a passage the first 222 pieces count, of the question or claim the first 46. Without one, only loads."""
        if not passages:
            self._net.load()
        return self._kept.read(
            text, passages, lambda new: [self._reading(*found) for found in self._net.run(text, new)]
        )

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


def graph_names(stored: "Mapping[str, NDArray[np.float16]]") -> "dict[str, NDArray[np.float16]]":
    """The parameters by the names that ``PairGraph`` knows them by."""
    found = {f"embeddings.LayerNorm.{kind}": stored[f"first_norm.{kind}"] for kind in _KINDS}
    for name, value in stored.items():
        if name.startswith("layers."):
            _, number, part, kind = name.split(".")
            found[f"encoder.layer.{number}.{PARTS[part]}.{kind}"] = value
        elif not name.startswith(("kinds", "matches", "first_norm")):
            found[name] = value
    return found


def _places(text: str, plain: str, spans: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Spans of the normalized text, in bytes, as spans of the text, in characters; none where normalizing joins
    characters."""
    origin = list(range(len(text)))
    if plain != text:
        origin = [at for at, one in enumerate(text) for _ in unicodedata.normalize("NFKC", one)]
        if len(origin) != len(plain):
            return ()
    of_byte = [at for at, one in enumerate(plain) for _ in one.encode()]
    return tuple(
        (origin[of_byte[start]], origin[of_byte[end - 1]] + 1) if end > start else (0, 0) for start, end in spans
    )


def _likely(pair: Pieces, ends: "NDArray[np.float32]") -> tuple[AnswerPlace, ...]:
    chances = ends[pair.asked + 1 : pair.asked + 1 + len(pair.places)].tolist()
    return tuple(
        AnswerPlace(start, end, *two)
        for (start, end), two in zip(pair.places, chances, strict=False)  # no places, where they are not known
        if start < end and max(two) >= _LEAST_CHANCE
    )
