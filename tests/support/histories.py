"""Random histories of an index: what it should hold, how that changes, and the index built from it at once.

A model is ``{document id: text}``. Texts are short and of few words, so that scores tie often; each carries a marker
that no other text ever had, so that what was lost and what came back can be told apart.
"""

import asyncio
import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from selfright.domain.passages import Document, Hit, Passage
from selfright.retrieval.korean import HangulBigrams
from selfright.retrieval.stores.embedded import EmbeddedStore
from selfright.retrieval.tokenizer import BilingualTokenizer
from tests.support.embedders import WordHashes
from tests.support.passages import by_lines, document

Model = Mapping[str, str]
Batch = list[tuple[Document, list[Passage]]]

ENGLISH = ("keel", "sail", "wind", "oar", "boat", "harbour", "tide", "rope")
KOREAN = ("바람", "돛단배", "항구", "밧줄", "파도", "등대")
QUERIES = ("keel wind", "boat", "harbour rope tide", "sail oar oar", "바람 항구", "파도", "boat 등대 wind")
TOKENIZER = BilingualTokenizer(HangulBigrams())

# Consonants that no stemmer takes for an ending, so that a marker is one word in every language.
_MARKER_LETTERS = "bcfhjkmpqrtvwxz"
_EVERYTHING = 1_000  # more passages than any index here has
_TOLERANCE = 2e-4  # scores that differ by less are ties


def marker(number: int) -> str:
    """A word that stands for ``number`` and is found in no other text."""
    letters = ""
    while number or len(letters) < 3:
        number, place = divmod(number, len(_MARKER_LETTERS))
        letters = _MARKER_LETTERS[place] + letters
    return f"q{letters}"


def random_text(chance: random.Random, number: int) -> str:
    """One to three lines in English or Korean, each with the marker of ``number``; sometimes lines repeat."""
    words = chance.choice((ENGLISH, ENGLISH, KOREAN))
    lines = [
        " ".join([marker(number), *chance.choices(words, k=chance.randint(1, 6))]) for _ in range(chance.randint(1, 3))
    ]
    return "\n".join(lines)


def batch(model: Model) -> Batch:
    """The documents of a model, cut into passages; every second one is in a collection of its own."""
    return [
        by_lines(document(name, text, collection="odd" if sum(name.encode()) % 2 else "even"))
        for name, text in model.items()
    ]


def open_store(folder: Path, embedder: WordHashes | None = None) -> EmbeddedStore:
    """The index in ``folder``, as all histories open it."""
    return EmbeddedStore.open(folder, TOKENIZER, embedder or WordHashes())


def create_store(folder: Path) -> EmbeddedStore:
    """A new index in ``folder``."""
    return EmbeddedStore.create(folder, TOKENIZER, WordHashes())


def built_at_once(folder: Path, model: Model) -> EmbeddedStore:
    """A new index of the model's documents, put in one go and in an order of its own."""
    store = create_store(folder)
    names = sorted(model, key=lambda name: (model[name][::-1], name))
    store.put(batch({name: model[name] for name in names}))
    store.commit()
    return store


def find(store: EmbeddedStore, query: str, collections: Sequence[str] = ()) -> tuple[Hit, ...]:
    """Every hit of a query."""
    return asyncio.run(store.search(query, _EVERYTHING, collections)).hits


# Does an index rank like one that was built at once?

Half = list[tuple[str, float]]
"""Passage ids with their scores in one ranking, best first."""


def halves(hits: Iterable[Hit]) -> dict[str, Half]:
    """The lexical, the dense and the fused ranking behind some hits."""
    every = list(hits)
    rankings: dict[str, Half] = {"fused": [(hit.passage.id, hit.rrf_score) for hit in every]}
    for name in ("bm25", "dense"):
        places = [(place.rank, hit.passage.id, place.score) for hit in every if (place := getattr(hit, name))]
        rankings[name] = [(passage, score) for _, passage, score in sorted(places)]
    return rankings


def out_of_order(found: Half, expected: Half, depth: int = 20) -> str | None:
    """Where the first ``depth`` places of a ranking differ from the expected by more than a swap of ties; else None."""
    scores = dict(expected)
    if len({passage for passage, _ in found[:depth]}) < min(depth, len(expected)):
        return f"{len(found)} different passages instead of {len(expected)}"
    for place, ((passage, _), (wanted, score)) in enumerate(zip(found[:depth], expected, strict=False), start=1):
        if passage not in scores or abs(scores[passage] - score) > _TOLERANCE:
            return f"place {place} has {passage} ({scores.get(passage)}) instead of {wanted} ({score})"
    return None


def misranked(store: EmbeddedStore, reference: EmbeddedStore) -> str | None:
    """The first ranking of ``store`` that is not the reference's, within ties; None when there is none.

    Fused scores hang on ranks: where ties of one half stand in another order the fused order may rightly differ, so it
    is compared where both halves are the same to the letter. An approximate dense index may miss neighbours,
    the more so as tiny a one as here: half of the ten nearest must be found, and every score be exact.
    """
    exact = store.info().dense_kind in ("exact", "flat", "none")
    for query in QUERIES:
        for collections in ((), ("odd",)):
            found, expected = (halves(find(one, query, collections)) for one in (store, reference))
            same = all(_ids(found[half]) == _ids(expected[half]) for half in ("bm25", "dense"))
            wrong = out_of_order(found["bm25"], expected["bm25"])
            wrong = wrong or (out_of_order if exact else _missed)(found["dense"], expected["dense"])
            wrong = wrong or (out_of_order(found["fused"], expected["fused"]) if same else None)
            if wrong:
                return f"'{query}' in {collections or 'all'}: {wrong}"
    return None


def _missed(found: Half, expected: Half) -> str | None:
    scores = dict(expected)
    wrong = next((passage for passage, score in found if abs(score - scores.get(passage, 9.0)) > 1e-5), None)
    if wrong is not None:
        return f"the score of {wrong} is not {scores.get(wrong)}"
    nearest = expected[:10]
    near = sum(score > nearest[-1][1] - _TOLERANCE for _, score in found[:10]) if nearest else 0
    return f"{near} of the {len(nearest)} nearest" if 2 * near < len(nearest) else None


def _ids(ranking: Half) -> list[str]:
    return [passage for passage, _ in ranking]


def misscored(store: EmbeddedStore, reference: EmbeddedStore) -> str | None:
    """The first difference of order, or of a score by more than 1e-6; None when there is none."""
    for query in QUERIES:
        found, expected = (halves(find(one, query)) for one in (store, reference))
        for half, ranking in expected.items():
            if _ids(found[half]) != _ids(ranking):
                return f"{half} order of '{query}': {found[half][:5]} instead of {ranking[:5]}"
            off = max((abs(a - b) for (_, a), (_, b) in zip(found[half], ranking, strict=True)), default=0.0)
            if off > 1e-6:
                return f"{half} scores of '{query}' differ by {off:.2e}"
    return None
