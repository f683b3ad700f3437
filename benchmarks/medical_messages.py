"""Patient messages: what searching with the focused query gains over searching with the message as it is, nDCG@10.

    python -m benchmarks.medical_messages --data DIR [--no-dense] [--cache FOLDER] [--verbose]

``DIR`` holds ``medquad_liveqa`` (messages with graded passages) and ``meqsum`` (messages with experts' questions). On
LiveQA columns are the message, the focused query and the expert's question. MeQSum has no graded passages: what
experts' questions bring first is taken for relevant, so its figures are only comparable with one another.
"""

import argparse
import asyncio
import random
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmarks.retrieval_quality import by_place, fill, judgements, kept_vectors, ndcg, rows, whole
from selfright.domain.ports import Embedder
from selfright.retrieval.stores.embedded import EmbeddedStore
from selfright.retrieval.tokenizer import BilingualTokenizer
from selfright.roles.analysis import TextAnalyzer
from selfright.roles.rewrite.offline import OfflineRewriter
from selfright_medical.pack import MEDICAL

Ranking = Sequence[str]
_TAKEN = 3


class Search:
    """Ranks documents for a text by words (``bm25``), and by all that there is (``adaptive``)."""

    def __init__(self, store: EmbeddedStore) -> None:
        self._store = store

    async def __call__(self, text: str) -> dict[str, Ranking]:
        hits = (await self._store.search(text, 100)).hits
        fused = list(dict.fromkeys(hit.passage.document_id for hit in hits))
        return {"bm25": by_place(hits, lambda hit: hit.bm25), "adaptive": fused}


async def focused(message: str, rewriter: OfflineRewriter) -> str:
    """The query that a turn of the preset ``full`` would search for first."""
    return (await rewriter.focus(message, MEDICAL)).query


async def liveqa(folder: Path, search: Search, rewriter: OfflineRewriter, *, verbose: bool) -> None:
    qrels = judgements(folder / "dev" / "liveqa_qrels.tsv")
    asked = [name for name, grades in qrels.items() if any(grade > 0 for grade in grades.values())]
    messages, summaries = (_texts(folder / "dev" / f"liveqa_queries_{kind}.jsonl") for kind in ("message", "summary"))
    scores: dict[str, list[dict[str, float]]] = {"message": [], "focused": [], "expert": []}
    for name in asked:
        texts = {"message": messages[name], "focused": await focused(messages[name], rewriter)}
        for kind, text in {**texts, "expert": summaries[name]}.items():
            ranked = await search(text)
            scores[kind].append({column: ndcg(ranking, qrels[name]) for column, ranking in ranked.items()})
        if verbose:
            before, after = (scores[kind][-1]["adaptive"] for kind in ("message", "focused"))
            print(f"{name} {before:.2f} -> {after:.2f}  {texts['focused']}")
    _told("LiveQA", scores)


async def meqsum(path: Path, search: Search, rewriter: OfflineRewriter) -> None:
    scores: dict[str, list[dict[str, float]]] = {"message": [], "focused": []}
    for row in rows(path):
        wanted = await search(row["summary"])
        texts = {"message": row["message"], "focused": await focused(row["message"], rewriter)}
        for kind, text in texts.items():
            ranked = await search(text)
            scores[kind].append({c: ndcg(ranked[c], dict.fromkeys(wanted[c][:_TAKEN], 1)) for c in ranked if wanted[c]})
    _told("MeQSum", scores)


def _told(name: str, scores: Mapping[str, list[dict[str, float]]]) -> None:
    for column in ("bm25", "adaptive"):
        means = {kind: _mean(values, column) for kind, values in scores.items()}
        gains = [
            b[column] - a[column] for a, b in zip(scores["message"], scores["focused"], strict=True) if column in a
        ]
        low, high = _interval(gains)
        shown = ", ".join(f"{kind} {mean:.3f}" for kind, mean in means.items())
        gain = sum(gains) / len(gains)
        print(f"{name:7} {column:9} n={len(gains)}: {shown}; gain {gain:+.3f} [{low:+.3f}, {high:+.3f}]")


def _mean(values: Sequence[Mapping[str, float]], column: str) -> float:
    found = [value[column] for value in values if column in value]
    return sum(found) / len(found)


def _interval(gains: Sequence[float], draws: int = 2_000) -> tuple[float, float]:
    """95 % bootstrap interval of the mean."""
    chance = random.Random(0)
    means = sorted(sum(chance.choices(gains, k=len(gains))) / len(gains) for _ in range(draws))
    return means[int(0.025 * draws)], means[int(0.975 * draws)]


def _texts(path: Path) -> dict[str, str]:
    return {row["_id"]: row["text"] for row in rows(path)}


def with_store(data: Path, embedder: Embedder | None, use: Callable[[EmbeddedStore], None]) -> None:
    """Indexes the passages of MedQuAD for as long as they are used."""
    with (
        tempfile.TemporaryDirectory() as place,
        EmbeddedStore.create(Path(place) / "index", BilingualTokenizer(), embedder) as store,
    ):
        fill(store, data / "medquad_liveqa" / "corpus.jsonl", whole)
        use(store)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--no-dense", action="store_true", help="words only")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "selfright-bench")
    parser.add_argument("--verbose", action="store_true", help="each query with its gain")
    options = parser.parse_args()
    embedder = None if options.no_dense else kept_vectors(options.cache)

    def use(store: EmbeddedStore) -> None:
        rewriter = OfflineRewriter(TextAnalyzer(BilingualTokenizer(), store))
        search = Search(store)
        asyncio.run(liveqa(options.data / "medquad_liveqa", search, rewriter, verbose=options.verbose))
        asyncio.run(meqsum(options.data / "meqsum" / "dev" / "rewrite.jsonl", search, rewriter))

    with_store(options.data, embedder, use)


if __name__ == "__main__":
    main()
