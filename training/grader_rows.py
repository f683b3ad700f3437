"""Labelled cases as rows of numbers: the grader's own features, the encoder's cosines, and what the network reads.

Only questions that the network has not learnt from are taken, or what counts on it would be fitted on what it knows by
heart. Candidates stand as a hybrid search would bring them: by their places among words and meanings together.
"""

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from selfright.domain.embedding import leaned, query_vector
from selfright.domain.passages import Language
from selfright.domain.ports import Embedder, PairJudge, Tokenizer
from selfright.roles.analysis import TextAnalyzer
from selfright.roles.grade.features import COMPARED, FEATURES, Asked, Read, features, read_signals
from selfright.roles.grade.networks import MOST_READ, shown
from selfright.roles.likeness import Likeness
from training import field as field_sets
from training.fitting import Array
from training.labelled import (
    MEASURED_ON,
    PAIRS_MEASURED_ON,
    PAIRS_TRAINED_ON,
    TRAINED_ON,
    Case,
    pairs_of,
    with_strangers,
)
from training.reading_rows import learnt_questions

MOST_CASES = {"squad2": 240, "clapnq": 200, "belebele_cross": 160, "belebele_ko": 120, "tydiqa_ko_en": 160}
OTHERWISE = 80
Loader = Callable[[Path, Tokenizer, int], Iterator[Case]]


@dataclass(frozen=True)
class Rows:
    """One row per candidate: ``x`` (rows, features), ``y`` labels, ``score`` what the network says (log-odds, NaN where
    it would not be asked), and where each comes from. The rows of a case stand together."""

    x: Array
    y: NDArray[np.int64]
    score: Array
    dataset: NDArray[np.str_]
    kind: NDArray[np.str_]
    case: NDArray[np.int64]
    fold: NDArray[np.int64]

    def only(self, mask: NDArray[np.bool_]) -> "Rows":
        """The rows where ``mask`` is true."""
        return Rows(*(getattr(self, field.name)[mask] for field in fields(self)))


class CachedEmbedder:
    """Remembers vectors in a folder, for embedding is what takes the time."""

    def __init__(self, embedder: Embedder, folder: Path) -> None:
        self._embedder = embedder
        self._path = folder / f"vectors-{embedder.name}.npz"
        self._vectors: dict[str, NDArray[np.float32]] = {}
        if self._path.exists():
            with np.load(self._path) as stored:
                self._vectors = dict(zip(stored["keys"].tolist(), stored["vectors"].astype(np.float32), strict=True))

    @property
    def name(self) -> str:
        """The embedder's."""
        return self._embedder.name

    @property
    def dimension(self) -> int:
        """The embedder's."""
        return self._embedder.dimension

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Rows of length one."""
        return self._found(texts, self._embedder.embed)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """The vector to search with."""
        row: NDArray[np.float32] = self._found([f"?{text}"], lambda _: np.array([query_vector(self._embedder, text)]))[
            0
        ]
        return row

    def leaned(self, vector: NDArray[np.float32], language: Language) -> NDArray[np.float32]:
        """As the embedder leans."""
        return leaned(self._embedder, vector, language)

    def cosines(self, question: str, texts: Sequence[str]) -> Array:
        """Of a question and each text."""
        return np.asarray(self.embed(texts) @ self.embed_query(question), dtype=np.float64)

    def _found(self, texts: Sequence[str], embed: Callable[[list[str]], NDArray[np.float32]]) -> NDArray[np.float32]:
        missing = {self._key(text): text for text in texts if self._key(text) not in self._vectors}
        if missing:
            self._vectors.update(zip(missing, embed(list(missing.values())), strict=True))
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


def load(data: Path, cache: Path, reader: PairJudge | None, field: Path | None = None) -> tuple[Rows, Rows]:
    """Rows to train on and rows to measure on; those of the field sets, whose documents are in ``field``, are trained
    on too. Features are extracted once into ``cache``, the network's scores once for each network; without one they are
    NaN."""
    from selfright.models.encoder import E5
    from selfright.retrieval.tokenizer import BilingualTokenizer

    tokenizer, embedder = BilingualTokenizer(), CachedEmbedder(E5(), cache)
    known: set[str] = set()
    of_field: dict[str, Loader] = {
        f"field_{name}": partial(_field_cases, name, field, cache) for name in field_sets.SETS if field
    }
    parts: list[list[Rows]] = [[], []]
    for side, loaders, pairs in zip(
        parts, (TRAINED_ON, MEASURED_ON), (PAIRS_TRAINED_ON, PAIRS_MEASURED_ON), strict=True
    ):
        named: dict[str, Loader] = {loader.__name__: loader for loader in loaders}
        named |= {name: pairs_of(name) for name in pairs}
        named |= of_field if side is parts[0] else {}
        for name, loader in named.items():
            if not (cache / f"rows-{name}.npz").exists():
                known = known or learnt_questions(data)
                cases = [c for c in loader(data, tokenizer, 10**9) if c.question.strip().lower() not in known]
                step = max(1, math.ceil(len(cases) / MOST_CASES.get(name, OTHERWISE)))
                taken = iter(cases[::step])
                _extract(cache, name, with_strangers(taken) if side is parts[0] else taken, tokenizer, embedder)
                embedder.save()
            side.append(_with_scores(_stored(cache, name), _scores(cache, name, reader)))
            print(f"{name}: {len(side[-1].y)} rows, {side[-1].y.mean():.3f} positive", flush=True)
    return joined(parts[0]), joined(parts[1])


def _field_cases(name: str, field: Path, cache: Path, *_: object) -> Iterator[Case]:
    return field_sets.cases(name, field, cache)


def _extract(cache: Path, name: str, cases: Iterator[Case], tokenizer: Tokenizer, embedder: CachedEmbedder) -> None:
    """Writes the rows of ``cases``, and beside them what the network is to read."""
    columns: list[list[object]] = []
    values: list[list[float]] = []
    texts: list[tuple[str, str]] = []
    analyzers: dict[int, TextAnalyzer] = {}
    likeness = Likeness(embedder)
    for number, case in enumerate(cases):
        key = id(case.statistics)
        if key not in analyzers:
            analyzers[key] = TextAnalyzer(tokenizer, case.statistics)
        asked = Asked.of(case.question, analyzers[key])
        written = [f"{c.passage.heading}\n{c.passage.text}".strip() for c in case.candidates]
        cosines = embedder.cosines(case.question, written)
        reads = [Read.of(asked, candidate.passage) for candidate in case.candidates]
        nearest = likeness.best(case.question, [candidate.passage for candidate in case.candidates])
        found = features(asked, reads, cosines.tolist(), nearest=nearest)
        order = _as_brought(cosines, np.array([row["saturation"] for row in found]))
        candidates, reads, found = ([part[place] for place in order] for part in (case.candidates, reads, found))
        values += [[row[feature] for feature in FEATURES] for row in found]
        columns += [[c.label, case.dataset, c.kind, number, case.fold] for c in candidates]
        texts += [(case.question, shown(asked, c.passage, r)) for c, r in zip(candidates, reads, strict=True)]
    y, dataset, kind, numbers, fold = (np.array(column) for column in zip(*columns, strict=True))
    rows = Rows(np.array(values), y, np.full(len(y), np.nan), dataset, kind, numbers, fold)
    lines = "\n".join(json.dumps(pair, ensure_ascii=False) for pair in texts)
    (cache / f"texts-{name}.jsonl").write_text(lines + "\n", encoding="utf-8")
    np.savez(cache / f"rows-{name}.npz", **vars(rows))


def _as_brought(cosines: Array, words: Array) -> list[int]:
    """The places of the candidates by words and meaning together (reciprocal rank fusion), best first."""
    by_meaning, by_words = np.lexsort((-words, -cosines)), np.lexsort((-cosines, -words))
    worth = np.zeros(len(cosines))
    for ranked in (by_meaning, by_words):
        worth[ranked] += 1 / (61 + np.arange(len(cosines)))
    return np.lexsort((-cosines, -worth)).tolist()


def _stored(cache: Path, name: str) -> Rows:
    with np.load(cache / f"rows-{name}.npz") as columns:
        return Rows(**{field.name: columns[field.name] for field in fields(Rows)})


def _scores(cache: Path, name: str, reader: PairJudge | None) -> Array:
    rows = _stored(cache, name)
    if reader is None:
        return rows.score
    file = cache / f"scores-{reader.name}-{name}.npy"
    if not file.exists():
        pairs = [json.loads(line) for line in (cache / f"texts-{name}.jsonl").open(encoding="utf-8")]
        scores = np.full(len(pairs), np.nan)
        for number in np.unique(rows.case):
            at = np.flatnonzero(rows.case == number)
            read = reader.read(pairs[at[0]][0], [pairs[i][1] for i in at])
            scores[at] = [one.score for one in read]
        np.save(file, scores)
    found: Array = np.load(file)
    return found


def _with_scores(rows: Rows, scores: Array) -> Rows:
    """The rows with what the network says of the first of each set, as many as the grader asks it about."""
    return compared_anew(replace(rows, score=np.where(place_in_set(rows) < MOST_READ, scores, np.nan)))


def place_in_set(rows: Rows) -> NDArray[np.int64]:
    """0 for the first passage of each set, 1 for the second, …"""
    starts = np.flatnonzero(np.r_[True, rows.case[1:] != rows.case[:-1]])
    return np.arange(len(rows.case)) - np.repeat(starts, np.diff(np.r_[starts, len(rows.case)]))


def joined(parts: Sequence[Rows]) -> Rows:
    """All rows under each other; case numbers stay apart."""
    shifts = np.cumsum([0, *(int(part.case.max()) + 1 for part in parts[:-1])])
    shifted = [replace(part, case=part.case + shift) for part, shift in zip(parts, shifts, strict=True)]
    return Rows(*(np.concatenate([getattr(part, field.name) for part in shifted]) for field in fields(Rows)))


def compared_anew(rows: Rows) -> Rows:
    """The rows with the network's signals, and each passage compared with what its set holds now."""
    x = rows.x.copy()
    for name, values in _reader_columns(rows.score).items():
        x[:, FEATURES.index(name)] = values
    _, place, count = np.unique(rows.case, return_inverse=True, return_counts=True)
    for name in COMPARED:
        values = x[:, FEATURES.index(name)]
        best = np.full(len(count), -np.inf)
        np.maximum.at(best, place, values)
        x[:, FEATURES.index(f"behind_{name}")] = best[place] - values
    x[:, FEATURES.index("alone")] = count[place] == 1
    return replace(rows, x=x)


def _reader_columns(scores: Array) -> dict[str, Array]:
    rows = [read_signals(None if math.isnan(score) else score) for score in scores.tolist()]
    return {name: np.array([row[name] for row in rows]) for name in ("reader", "reader_logit")}


def on_their_own(rows: Rows) -> Rows:
    """The same passages, each as the only one of its set."""
    return replace(compared_anew(replace(rows, case=np.arange(len(rows.y)))), case=rows.case)


def pick(rows: Rows, names: Sequence[str]) -> Array:
    """The columns with these names."""
    return rows.x[:, [FEATURES.index(name) for name in names]]
