"""nDCG@10 of BM25, dense, plain RRF and adaptive fusion on BEIR-layout sets, against reference figures.

    python -m benchmarks.retrieval_quality --data DIR [--limit 500] [--sets covidqa,mtrag] [--split] [--no-dense]

``DIR`` holds one folder per set (``corpus.jsonl``, ``dev/queries.jsonl``, ``dev/qrels.tsv``). Each corpus row is one
passage, or is split like an ingested document with ``--split``; documents are ranked by their best passage. Vectors are
kept between runs under ``--cache``.
"""

import argparse
import asyncio
import json
import math
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from selfright.domain.passages import Document, Hit, Passage, Ranked
from selfright.domain.ports import Embedder
from selfright.domain.text import language_of
from selfright.ingest.splitting import split
from selfright.llm.embedding_cache import CachedEmbedder
from selfright.models.encoder import E5
from selfright.retrieval.fusion import ReciprocalRankFusion
from selfright.retrieval.stores.embedded import EmbeddedStore
from selfright.retrieval.tokenizer import BilingualTokenizer

COLUMNS = ("bm25", "dense", "rrf", "adaptive")
RIVALS = COLUMNS[:3]
KEPT_BYTES = 8_000_000_000
DEPTH = 100  # of this many fused hits none is missing that is among the ten best of either half


@dataclass(frozen=True)
class BenchmarkSet:
    """One task; ``corpus`` differs from ``folder`` when questions in one language meet passages in another.

    ``floor`` is BM25 (k1 = 0.9, b = 0.4, whole set); ``reference`` is BM25, dense and plain RRF on the dev half.
    """

    name: str
    folder: str
    queries: str = "queries.jsonl"
    qrels: str = "qrels.tsv"
    corpus: str = ""
    floor: float | None = None
    reference: tuple[float, float, float] | None = None


SETS = (
    BenchmarkSet("bioasq", "bioasq", floor=0.734, reference=(0.778, 0.745, 0.838)),
    BenchmarkSet("covidqa", "covidqa", floor=0.670, reference=(0.653, 0.406, 0.582)),
    BenchmarkSet("medquad", "medquad_liveqa", floor=0.601, reference=(0.619, 0.882, 0.816)),
    BenchmarkSet(
        "liveqa_message", "medquad_liveqa", "liveqa_queries_message.jsonl", "liveqa_qrels.tsv", "", 0.224,
        (0.198, 0.390, 0.362),
    ),
    BenchmarkSet(
        "liveqa_summary", "medquad_liveqa", "liveqa_queries_summary.jsonl", "liveqa_qrels.tsv", "", 0.447,
        (0.372, 0.434, 0.533),
    ),
    BenchmarkSet("mtrag", "mtrag", floor=0.497, reference=(0.691, 0.724, 0.762)),
    BenchmarkSet("squad2", "squad2", floor=0.876, reference=(0.865, 0.779, 0.879)),
    BenchmarkSet("pubmedqa", "pubmedqa", floor=0.969, reference=(0.983, 0.992, 0.989)),
    BenchmarkSet("belebele_en", "belebele_ko_en/en", floor=0.874, reference=(0.912, 0.909, 0.947)),
    BenchmarkSet("belebele_ko", "belebele_ko_en/ko", floor=0.878),
    BenchmarkSet("belebele_ko→en", "belebele_ko_en/ko", corpus="belebele_ko_en/en", floor=0.112),
    BenchmarkSet("belebele_en→ko", "belebele_ko_en/en", corpus="belebele_ko_en/ko"),
    BenchmarkSet("korquad", "korquad", floor=0.957),
)  # fmt: skip

ENGLISH = tuple(task.name for task in SETS if not task.name.startswith(("belebele_ko", "belebele_en→ko", "korquad")))

Qrels = dict[str, dict[str, int]]


def kept_vectors(folder: Path) -> CachedEmbedder:
    """The embedder that ships; what it has computed is kept in ``folder``."""
    return CachedEmbedder(E5(), folder / "vectors.sqlite", KEPT_BYTES)


def ndcg(ranking: Sequence[str], grades: Mapping[str, int], k: int = 10) -> float:
    """Normalised discounted cumulative gain with linear gains."""
    found = sum(grades.get(document, 0) / math.log2(place + 2) for place, document in enumerate(ranking[:k]))
    ideal = sorted((grade for grade in grades.values() if grade > 0), reverse=True)[:k]
    return found / sum(grade / math.log2(place + 2) for place, grade in enumerate(ideal))


def rows(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines)


def judgements(path: Path) -> Qrels:
    qrels: Qrels = {}
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        query, document, grade = line.split("\t")
        qrels.setdefault(query, {})[document] = int(grade)
    return qrels


def whole(document: Document) -> list[Passage]:
    """The document as its only passage."""
    passage = Passage(f"{document.id}#0", document.id, document.title, document.text, 0, len(document.text))
    return [replace(passage, language=document.language, collection=document.collection)]


def documents(path: Path, collection: str) -> Iterator[Document]:
    for row in rows(path):
        title, text = row.get("title") or "", row["text"]
        yield Document(row["_id"], title, text, language_of(text), collection=collection)


def fill(store: EmbeddedStore, path: Path, cut: Callable[[Document], list[Passage]]) -> float:
    """Indexes a corpus; the seconds it took."""
    started = time.perf_counter()
    batch: list[tuple[Document, list[Passage]]] = []
    for document in documents(path, "benchmark"):
        batch.append((document, cut(document)))
        if len(batch) == 256:
            store.put(batch)
            batch = []
    store.put(batch)
    store.commit()
    return time.perf_counter() - started


def by_place(hits: Sequence[Hit], place: Callable[[Hit], Ranked | None]) -> list[str]:
    """Documents in the order of one half's ranking, each at its best passage."""
    placed = sorted((ranked.rank, hit.passage.document_id) for hit in hits if (ranked := place(hit)))
    return list(dict.fromkeys(document for _, document in placed))


async def measure(store: EmbeddedStore, queries: Sequence[tuple[str, Mapping[str, int]]]) -> dict[str, float]:
    """Mean nDCG@10 of each column; everything is read off one plain and one adaptive search."""
    plain = store.with_fusion(ReciprocalRankFusion())
    sums = dict.fromkeys(COLUMNS, 0.0)
    for text, grades in queries:
        hits = (await plain.search(text, DEPTH)).hits
        best = (await store.search(text, DEPTH)).hits
        rankings = {
            "bm25": by_place(hits, lambda hit: hit.bm25),
            "dense": by_place(hits, lambda hit: hit.dense),
            "rrf": list(dict.fromkeys(hit.passage.document_id for hit in hits)),
            "adaptive": list(dict.fromkeys(hit.passage.document_id for hit in best)),
        }
        for column, ranking in rankings.items():
            sums[column] += ndcg(ranking, grades) / len(queries)
    return sums


def run(task: BenchmarkSet, data: Path, limit: int, embedder: Embedder | None, *, cut_up: bool) -> dict[str, float]:
    folder = data / task.folder / "dev"
    qrels = judgements(folder / task.qrels)
    asked = [(row["text"], qrels.get(row["_id"], {})) for row in rows(folder / task.queries)]
    queries = [(text, grades) for text, grades in asked if any(grade > 0 for grade in grades.values())][:limit]
    with (
        tempfile.TemporaryDirectory() as place,
        EmbeddedStore.create(Path(place) / "index", BilingualTokenizer(), embedder) as store,
    ):
        seconds = fill(store, data / (task.corpus or task.folder) / "corpus.jsonl", split if cut_up else whole)
        started = time.perf_counter()
        result = asyncio.run(measure(store, queries))
        took = (time.perf_counter() - started) / len(queries) / 2
    print(f"  {len(queries)} queries, indexed in {seconds:.0f} s, {took * 1e3:.1f} ms a search", file=sys.stderr)
    return result


def against_best(result: Mapping[str, float]) -> str:
    """The best of the three rivals, and how far adaptive fusion is from it; marked where it loses more than 0.01."""
    best = max(result[column] for column in RIVALS)
    difference = result["adaptive"] - best
    return f"{best:8.3f}{difference:+8.3f}{'!' if difference < -0.01 else ' '}"


def line(task: BenchmarkSet, result: Mapping[str, float]) -> str:
    """One row: the columns, then the references, marked where we are more than 0.02 under."""
    columns = "".join(f"{result[column]:9.3f}" for column in COLUMNS) + against_best(result)
    expected = [*zip(COLUMNS, task.reference or (), strict=False)]
    references = "".join(
        f"{value:8.3f}{'!' if 0 < result[column] < value - 0.02 else ' '}" for column, value in expected
    )
    floor = "" if task.floor is None else f"{task.floor:8.3f}"
    return f"{task.name:16}{columns}   |{floor:>8} |{references}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=500, help="queries of a set")
    parser.add_argument("--sets", default="", help="names, separated by commas")
    parser.add_argument("--split", action="store_true", help="split documents like ingested ones")
    parser.add_argument("--no-dense", action="store_true", help="words only")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "selfright-bench")
    options = parser.parse_args()
    embedder = None if options.no_dense else kept_vectors(options.cache)
    names = options.sets.split(",") if options.sets else [task.name for task in SETS]
    heads = "".join(f"{column:>9}" for column in COLUMNS)
    print(f"{'set':16}{heads}    best    diff    |   floor | references: bm25, dense, rrf")
    results: dict[str, dict[str, float]] = {}
    tasks = [task for task in SETS if task.name in names]
    for task in tasks:
        result = run(task, options.data, options.limit, embedder, cut_up=options.split)
        print(line(task, result), flush=True)
        results[task.name] = result
    nine = [name for name in results if name in ENGLISH]
    for label, some in ((f"mean of {len(nine)} English", nine), ("mean of all", list(results))):
        if some:
            means = {column: sum(results[name][column] for name in some) / len(some) for column in COLUMNS}
            print(f"{label:18}{''.join(f'{means[column]:9.3f}' for column in COLUMNS)[2:]}")


if __name__ == "__main__":
    main()
