"""Labelled cases as rows of numbers: the grader's own features, with cosines where a passage is English."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from selfright.domain.ports import Embedder, Tokenizer
from selfright.roles.analysis import TextAnalyzer
from selfright.roles.grade.features import FEATURES, Asked, Read, compared, features
from selfright.roles.grade.offline import SENTENCES
from training.labelled import Case


@dataclass(frozen=True)
class Rows:
    """One row per candidate: ``x`` (rows, features), ``y`` labels, and where each comes from."""

    x: NDArray[np.float64]
    y: NDArray[np.int64]
    dataset: NDArray[np.str_]
    kind: NDArray[np.str_]
    case: NDArray[np.int64]
    fold: NDArray[np.int64]

    def only(self, mask: NDArray[np.bool_]) -> "Rows":
        """The rows where ``mask`` is true."""
        return Rows(*(getattr(self, name)[mask] for name in ("x", "y", "dataset", "kind", "case", "fold")))


class CachedEmbedder:
    """Remembers vectors in a folder, for embedding is what takes the time."""

    def __init__(self, embedder: Embedder, folder: Path) -> None:
        self._embedder = embedder
        self._path = folder / f"vectors-{embedder.name}.npz"
        self._vectors: dict[str, NDArray[np.float32]] = {}
        if self._path.exists():
            with np.load(self._path) as stored:
                self._vectors = dict(zip(stored["keys"].tolist(), stored["vectors"].astype(np.float32), strict=True))

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row per text."""
        missing = {self._key(text): text for text in texts if self._key(text) not in self._vectors}
        if missing:
            self._vectors.update(zip(missing, self._embedder.embed(list(missing.values())), strict=True))
        return np.array([self._vectors[self._key(text)] for text in texts])

    def save(self) -> None:
        """Writes what is known."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        np.savez(
            self._path, keys=np.array(list(self._vectors)), vectors=np.array(list(self._vectors.values()), np.float16)
        )

    @staticmethod
    def _key(text: str) -> str:
        return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def extract(cases: Iterable[Case], tokenizer: Tokenizer, embedder: CachedEmbedder | None) -> Rows:
    """All rows of ``cases``; without an embedder the cosines are 0."""
    columns: list[list[object]] = []
    values: list[list[float]] = []
    analyzers: dict[int, TextAnalyzer] = {}
    for number, case in enumerate(cases):
        key = id(case.statistics)
        if key not in analyzers:
            analyzers[key] = TextAnalyzer(tokenizer, case.statistics)
        asked = Asked.of(case.question, analyzers[key])
        reads = [Read.of(asked, candidate.passage) for candidate in case.candidates]
        found = features(asked, reads, _cosines(case, asked, reads, embedder))
        values += [[row[name] for name in FEATURES] for row in found]
        columns += [[c.label, case.dataset, c.kind, number, case.fold] for c in case.candidates]
    y, dataset, kind, numbers, fold = (np.array(column) for column in zip(*columns, strict=True))
    return Rows(np.array(values), y, dataset, kind, numbers, fold)


def _cosines(
    case: Case, asked: Asked, reads: Sequence[Read], embedder: CachedEmbedder | None
) -> list[tuple[float, float] | None]:
    if embedder is None or asked.korean or case.candidates[0].passage.language != "en":
        return [None] * len(reads)
    (question,) = embedder.embed([case.question])
    texts = [f"{c.passage.heading}\n{c.passage.text}".strip() for c in case.candidates]
    pairs: list[tuple[float, float] | None] = []
    for read, cosine in zip(reads, embedder.embed(texts) @ question, strict=True):
        sentences = [read.text[slice(*read.spans[i])] for i in read.best_sentences(asked, SENTENCES)]
        pairs.append((float(cosine), float(max(embedder.embed(sentences) @ question))))
    return pairs


def on_their_own(rows: Rows) -> Rows:
    """The same passages, each as the only one of its set."""
    x = rows.x.copy()
    for name in FEATURES:
        if name.startswith("behind_"):
            x[:, FEATURES.index(name)] = 0.0
    x[:, FEATURES.index("alone")] = 1.0
    return replace(rows, x=x)


def regrouped(rows: Rows) -> Rows:
    """The rows with each passage compared anew with what is left of its set."""
    x = rows.x.copy()
    for number in np.unique(rows.case):
        at = np.flatnonzero(rows.case == number)
        found = compared([dict(zip(FEATURES, values, strict=True)) for values in rows.x[at].tolist()])
        x[at] = [[row[name] for name in FEATURES] for row in found]
    return replace(rows, x=x)


def column(rows: Rows, name: str) -> NDArray[np.float64]:
    """The values of one feature."""
    return rows.x[:, FEATURES.index(name)]
