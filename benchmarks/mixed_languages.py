"""Search in an index of Korean and English passages on the same things: which language comes first, and what is found.

    python -m benchmarks.mixed_languages --data DIR [--limit 200] [--cache DIR]

``DIR`` holds ``belebele_ko_en``. Every second passage is there in both languages, the others only in the one that the
questions are not in. Of questions whose passage is there in both, *own* is the share in which the passage in the
question's language stands before its translation, *first* the share in which it is the first hit. Of those whose
passage is there in the other language only, *1*, *3* and *10* are the shares that have it among so many hits. Each row
is measured as search is, and without the two things it does for passages in another language (``docs/search.md``).
"""

import argparse
import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.retrieval_quality import documents, judgements, rows, whole
from selfright.domain.passages import Document, Language
from selfright.domain.ports import Retriever
from selfright.llm.embedding_cache import CachedEmbedder
from selfright.models.encoder import E5
from selfright.retrieval.fusion import AdaptiveFusion
from selfright.retrieval.stores.embedded import EmbeddedStore
from selfright.retrieval.tokenizer import BilingualTokenizer

DEPTH = 10
OTHER: dict[Language, Language] = {"ko": "en", "en": "ko"}


class Unaware(AdaptiveFusion):
    """Weighs a foreign passage like any other."""

    tells_languages = False


class Switched(CachedEmbedder):
    """Makes queries lean only while ``leaning``."""

    leaning = True

    def cross_language_penalty(self, vector: NDArray[np.float32], language: Language) -> NDArray[np.float32]:
        return super().cross_language_penalty(vector, language) if self.leaning else vector


@dataclass(frozen=True)
class Question:
    """A question and the passage that answers it; ``both`` tells whether that is there in its own language too."""

    text: str
    passage: str
    both: bool


def corpus(data: Path, language: Language) -> list[Document]:
    found = documents(data / "belebele_ko_en" / language / "corpus.jsonl", "benchmark")
    return [replace(document, id=f"{language}/{document.id}", language=language) for document in found]


def questions(data: Path, language: Language, limit: int, kept: set[str]) -> list[Question]:
    folder = data / "belebele_ko_en" / language / "dev"
    qrels = judgements(folder / "qrels.tsv")
    asked = [(row["text"], next(iter(qrels[row["_id"]]))) for row in rows(folder / "queries.jsonl")]
    return [Question(text, passage, f"{language}/{passage}" in kept) for text, passage in asked][:limit]


async def measure(search: Retriever, asked: Sequence[Question], language: Language) -> dict[str, float]:
    """The shares of one row."""
    own, places = [], []
    for question in asked:
        hits = (await search.search(question.text, DEPTH, ())).hits
        found = [hit.passage.document_id for hit in hits]
        wanted = [f"{name}/{question.passage}" for name in (language, OTHER[language])]
        ranks = [found.index(name) if name in found else DEPTH for name in wanted]
        if question.both:
            own.append(ranks)
        else:
            places.append(ranks[1])
    both, alone = np.array(own), np.array(places)
    return {
        "own": float((both[:, 0] < both[:, 1]).mean()),
        "first": float((both[:, 0] == 0).mean()),
        **{str(depth): float((alone < depth).mean()) for depth in (1, 3, DEPTH)},
    }


def run(language: Language, data: Path, limit: int, cache: Path) -> dict[str, dict[str, float]]:
    """Both rows for questions in ``language``: as search is, and without."""
    embedder = Switched(E5(), cache / "vectors.sqlite")
    kept = corpus(data, language)[::2]
    asked = questions(data, language, limit, {document.id for document in kept})
    found = {}
    with (
        tempfile.TemporaryDirectory() as place,
        EmbeddedStore.create(Path(place) / "index", BilingualTokenizer(), embedder) as store,
    ):
        store.put([(document, whole(document)) for document in [*kept, *corpus(data, OTHER[language])]])
        store.commit()
        for name, leaning, search in (("as it is", True, store), ("without", False, store.with_fusion(Unaware()))):
            embedder.leaning = leaning
            found[name] = asyncio.run(measure(search, asked, language))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=200, help="questions of each language")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "selfright-bench")
    options = parser.parse_args()
    print(f"{'questions':12}{'search':10}{'own':>8}{'first':>8}{'1':>8}{'3':>8}{'10':>8}")
    for language in OTHER:
        for name, shares in run(language, options.data, options.limit, options.cache).items():
            print(f"{language:12}{name:10}{''.join(f'{share:8.3f}' for share in shares.values())}", flush=True)


if __name__ == "__main__":
    main()
