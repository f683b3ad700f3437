"""A synthetic collection: passages, queries, and given embeddings for both, made once per size and kept in files.

Deterministic, and made in chunks, so that a million passages need no more memory than twenty thousand; a smaller
collection is the beginning of a larger one. Each passage belongs to one of 1,000 topics of unequal size.

Text: 60 to 100 words (80 in the mean) out of 50,000 invented ones; three in five are drawn by a Zipf-like law over the
whole vocabulary, the others likewise from the 200 words of the topic. No word is an English stop word, and no English
stemmer changes one, so that every system indexes the same terms. A query takes five of a passage's rarer words and
three of its commoner ones.

Embeddings: 384 dimensions, float32, unit rows: a direction shared by all + the topic's centroid + noise with a falling
spectrum + noise in one of 64 planes of 16 dimensions + a little noise everywhere. The shares were set by comparison
with 20,000 vectors of all-MiniLM-L6-v2, by what ``profile`` measures (MiniLM : this, at 20,000): mean cosine of two
passages 0.11 : 0.12, to the nearest 0.79 : 0.73, to the tenth 0.60 : 0.64, to the hundredth 0.41 : 0.36, local
intrinsic dimension 14 : 13. A query's vector is its passage's with noise, at a cosine of about 0.7.
"""

import functools
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

VERSION = 1
DIMENSION = 384
QUERIES = 500
WARM_UP = 20
ADDED = 100
NEAREST = 10

_SEED = 20_240
CHUNK = 20_000
_VOCABULARY = 50_000
_TOPICS = 1_000
_TOPIC_WORDS = 200
_TOPIC_SHARE = 0.4
_SHORTEST, _LONGEST = 60, 100
_PLANES, _PLANE = 64, 16
_MEAN, _TOPIC, _SPREAD, _LOCAL, _EVERYWHERE = 0.35, 0.7, 0.35, 0.5, 0.2
_QUERY_NOISE = 1.0
_ADDED_CHUNK = 1_000_000  # a chunk no collection reaches: the passages that are added later


@dataclass(frozen=True, slots=True)
class Queries:
    """What is asked: the texts, one unit vector each, and the numbers of the ten nearest passages, exactly."""

    texts: list[str]
    vectors: Floats
    nearest: Ints


@dataclass(frozen=True, slots=True)
class Passages:
    """Texts and their unit vectors, shape ``(len(texts), DIMENSION)``; a passage's id is ``p`` and its number."""

    texts: list[str]
    vectors: Floats
    first: int = 0

    @property
    def ids(self) -> list[str]:
        return [passage_id(self.first + number) for number in range(len(self.texts))]


def passage_id(number: int) -> str:
    return f"p{number}"


def made(folder: Path, passages: int) -> bool:
    """Whether the collection of that size is there already, whole and of this version."""
    try:
        return bool(json.loads((folder / "collection.json").read_text()) == _description(passages))
    except (OSError, ValueError):
        return False


def make(folder: Path, passages: int, chunk: int = CHUNK) -> None:
    """Writes the collection into ``folder``: some minutes and 2.2 GB on disk for a million passages.

    Drawn are ``chunk`` passages at a time; another number makes another collection.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "collection.json").unlink(missing_ok=True)
    targets = np.sort(_random("targets").choice(passages, min(QUERIES + WARM_UP, passages), replace=False))
    asked: list[str] = []
    vectors = np.lib.format.open_memmap(
        folder / "embeddings.npy", mode="w+", dtype=np.float32, shape=(passages, DIMENSION)
    )
    with (folder / "passages.jsonl").open("w", encoding="utf-8") as file:
        for start in range(0, passages, chunk):
            words, rows = _chunk(start // chunk, chunk)
            count = min(chunk, passages - start)
            vectors[start : start + count] = rows[:count]
            _write(file, start, words[:count])
            inside = targets[(targets >= start) & (targets < start + count)]
            asked += [_query(words[target - start], int(target)) for target in inside]
    vectors.flush()
    _write_queries(folder, asked, vectors, targets)
    words, rows = _chunk(_ADDED_CHUNK, ADDED)
    np.save(folder / "added.npy", rows)
    with (folder / "added.jsonl").open("w", encoding="utf-8") as file:
        _write(file, passages, words)
    (folder / "collection.json").write_text(json.dumps(_description(passages)))


def load_passages(folder: Path) -> Passages:
    """All passages; the vectors are mapped from the file and read once, so that they are in memory."""
    vectors = np.load(folder / "embeddings.npy", mmap_mode="r")
    for start in range(0, len(vectors), CHUNK):
        vectors[start : start + CHUNK].sum()
    return Passages(_texts(folder / "passages.jsonl"), vectors)


def load_added(folder: Path, passages: int) -> Passages:
    """The passages that are added to a collection of that size."""
    return Passages(_texts(folder / "added.jsonl"), np.load(folder / "added.npy"), passages)


def load_queries(folder: Path, count: int) -> tuple[Queries, Queries]:
    """Queries to warm up with, and ``count`` others to measure with: none is asked twice."""
    texts, vectors = _texts(folder / "queries.jsonl"), np.load(folder / "queries.npy")
    nearest = np.load(folder / "nearest.npy")
    order = _random("order").permutation(len(texts))  # they lie in the order of their passages
    warm_up = min(WARM_UP, len(texts) // 2)
    return tuple(
        Queries([texts[i] for i in chosen], vectors[chosen], nearest[chosen])
        for chosen in (order[:warm_up], order[warm_up : warm_up + count])
    )  # type: ignore[return-value]


def profile(vectors: Floats, sample: int = 400) -> dict[str, float]:
    """What makes nearest neighbours hard to find: the neighbours' cosines and the local intrinsic dimension.

    The last is the maximum-likelihood estimate of Levina and Bickel (2004) over 100 neighbours, its median.
    """
    chosen = _random("profile").choice(len(vectors), sample, replace=False)
    cosines = vectors[chosen] @ np.asarray(vectors).T
    cosines[np.arange(sample), chosen] = -2
    best = -np.sort(-cosines, axis=1)[:, :100]
    radii = np.sqrt(np.maximum(2 - 2 * best, 1e-9))
    dimension = 1 / np.mean(np.log(radii[:, 99:] / radii[:, :99]), axis=1)
    names = {"nearest": 0, "tenth": 9, "hundredth": 99}
    cuts = {name: float(np.median(best[:, place])) for name, place in names.items()}
    return {"pair": float(cosines[cosines > -2].mean()), **cuts, "intrinsic dimension": float(np.median(dimension))}


def _description(passages: int) -> dict[str, Any]:
    return {"version": VERSION, "passages": passages, "dimension": DIMENSION, "seed": _SEED}


def _random(*purpose: str | int) -> np.random.Generator:
    numbers = [part if isinstance(part, int) else int.from_bytes(part.encode(), "big") for part in purpose]
    return np.random.default_rng([_SEED, *numbers])


def _texts(path: Path) -> list[str]:
    with path.open(encoding="utf-8") as file:
        return [json.loads(line)["text"] for line in file]


def _write(file: Any, first: int, passages: Iterable[Ints]) -> None:
    names = _vocabulary()
    for number, words in enumerate(passages, first):
        text = " ".join(map(names.__getitem__, words.tolist()))
        file.write(f'{{"id": "{passage_id(number)}", "text": "{text}"}}\n')


def _write_queries(folder: Path, asked: list[str], vectors: Floats, targets: Ints) -> None:
    rows = np.asarray(vectors[targets])
    noise = _random("noise").standard_normal((2, *rows.shape), dtype=np.float32)
    noise[0] *= _spectrum()
    noise[1] /= np.sqrt(DIMENSION, dtype=np.float32)
    rows = _unit(rows + np.float32(_QUERY_NOISE / np.sqrt(2)) * noise.sum(axis=0))
    np.save(folder / "queries.npy", rows)
    np.save(folder / "nearest.npy", nearest(vectors, rows, NEAREST))
    lines = (json.dumps({"id": f"q{number}", "text": text}) for number, text in enumerate(asked))
    (folder / "queries.jsonl").write_text("\n".join(lines) + "\n")


def nearest(vectors: Floats, queries: Floats, k: int) -> Ints:
    """The numbers of the ``k`` rows with the highest inner product, best first, shape ``(len(queries), k)``; exact."""
    scores = np.zeros((len(queries), 0), dtype=np.float32)
    numbers = np.zeros((len(queries), 0), dtype=np.int64)
    for start in range(0, len(vectors), CHUNK):
        products = queries @ np.asarray(vectors[start : start + CHUNK]).T
        block = np.argpartition(-products, min(k, products.shape[1]) - 1, axis=1)[:, :k]
        scores = np.hstack((scores, np.take_along_axis(products, block, 1)))
        numbers = np.hstack((numbers, block + start))
        best = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        scores, numbers = np.take_along_axis(scores, best, 1), np.take_along_axis(numbers, best, 1)
    return numbers


def _chunk(number: int, count: int) -> tuple[list[Ints], Floats]:
    """Words (as places in the vocabulary, the commonest first) and vectors of one chunk's passages."""
    random = _random("chunk", number)
    topics = random.choice(_TOPICS, count, p=_zipf(_TOPICS, 20))
    return list(_words(random, topics)), _vectors(random, topics)


def _words(random: np.random.Generator, topics: Ints) -> Iterator[Ints]:
    shape = (len(topics), _LONGEST)
    lengths = random.integers(_SHORTEST, _LONGEST + 1, len(topics))
    words = np.searchsorted(np.cumsum(_zipf(_VOCABULARY, 3)), random.random(shape))
    own = np.searchsorted(np.cumsum(_zipf(_TOPIC_WORDS, 5)), random.random(shape))
    own = np.take_along_axis(_topic_words()[topics], np.minimum(own, _TOPIC_WORDS - 1), axis=1)
    mixed = np.where(random.random(shape) < _TOPIC_SHARE, own, np.minimum(words, _VOCABULARY - 1))
    for row, length in zip(mixed, lengths, strict=True):
        yield row[:length]


def _vectors(random: np.random.Generator, topics: Ints) -> Floats:
    mean, centroids, planes = _geometry()
    rows = np.float32(_MEAN) * mean + np.float32(_TOPIC) * centroids[topics]
    rows += np.float32(_SPREAD) * _spectrum() * random.standard_normal(rows.shape, dtype=np.float32)
    rows += np.float32(_EVERYWHERE / np.sqrt(DIMENSION)) * random.standard_normal(rows.shape, dtype=np.float32)
    within = np.float32(_LOCAL) * random.standard_normal((len(topics), _PLANE), dtype=np.float32)
    for plane in range(_PLANES):
        there = topics % _PLANES == plane
        rows[there] += within[there] @ planes[plane]
    return _unit(rows)


def _query(words: Ints, target: int) -> str:
    random = _random("query", target)
    different = np.unique(words)  # ascending, hence the commonest first
    chosen = np.concatenate((random.choice(different[-20:], 5, replace=False), random.choice(different[:10], 3)))
    return " ".join(_vocabulary()[word] for word in random.permutation(chosen))


def _unit(rows: Floats) -> Floats:
    found: Floats = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return found.astype(np.float32)


@functools.cache
def _spectrum() -> Floats:
    scale = 1 / (1 + np.arange(DIMENSION) / 20)
    return (scale / np.linalg.norm(scale)).astype(np.float32)


@functools.cache
def _geometry() -> tuple[Floats, Floats, Floats]:
    random = _random("geometry")
    mean = random.standard_normal(DIMENSION)
    centroids = random.standard_normal((_TOPICS, DIMENSION)) * _spectrum()
    planes = random.standard_normal((_PLANES, _PLANE, DIMENSION)) / np.sqrt(_PLANE * DIMENSION)
    return (mean / np.linalg.norm(mean)).astype(np.float32), centroids.astype(np.float32), planes.astype(np.float32)


@functools.cache
def _zipf(count: int, offset: int) -> NDArray[np.float64]:
    """Shares of the first, second, … of ``count`` things: as ``1 / (rank + offset)``, in sum one."""
    shares = 1 / (np.arange(1, count + 1) + offset)
    found: NDArray[np.float64] = shares / shares.sum()
    return found


@functools.cache
def _topic_words() -> Ints:
    random = _random("topics")
    return random.integers(200, _VOCABULARY, size=(_TOPICS, _TOPIC_WORDS))


@functools.cache
def _vocabulary() -> list[str]:
    """Invented words, short ones first: no stemmer knows the ending ``-k``, and no stop word has it."""
    random = _random("vocabulary")
    syllables = [consonant + vowel for consonant in "bdfghjklmnprstvz" for vowel in "aeiou"]
    drawn = random.integers(len(syllables), size=(2 * _VOCABULARY, 4)).tolist()
    lengths = random.integers(2, 5, len(drawn))
    lengths[:1_000] = 2
    words = ("".join([syllables[i] for i in row[:length]]) + "k" for row, length in zip(drawn, lengths, strict=True))
    return list(dict.fromkeys(words))[:_VOCABULARY]
