"""How quickly documents become an index, and how quickly that index opens, changes and answers.

    python -m benchmarks.ingest_speed --data DIR [--set squad2] [--documents 500] [--no-dense]

``DIR`` holds BEIR-layout folders. Each phase is timed by itself, then as the store does it.
"""

import argparse
import asyncio
import itertools
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.peers.measures import memory
from benchmarks.retrieval_quality import documents, rows
from selfright.domain.passages import Document, Passage
from selfright.ingest.splitting import split
from selfright.models.encoder import E5
from selfright.retrieval.preparing import text_to_index
from selfright.retrieval.stores.embedded import EmbeddedStore
from selfright.retrieval.tokenizer import BilingualTokenizer

Cut = list[tuple[Document, list[Passage]]]


def report(what: str, seconds: float, count: int, unit: str) -> None:
    print(f"{what:34}{seconds * 1e3:10.1f} ms{count / seconds:12.0f} {unit}/s")


def timed(what: str, work: Callable[[], object], count: int = 1, unit: str = "times") -> None:
    started = time.perf_counter()
    work()
    report(what, time.perf_counter() - started, count, unit)


def phases(sources: Sequence[Document], batch: Cut, tokenizer: BilingualTokenizer, embedder: E5 | None) -> None:
    texts = [text_to_index(passage) for _, passages in batch for passage in passages]
    characters = sum(map(len, texts))
    timed("split", lambda: [split(source) for source in sources], characters, "characters")
    tokenizer.tokens("처음")  # loads the morphemes
    timed("tokenize", lambda: [tokenizer.tokens(text) for text in texts], characters, "characters")
    if embedder:
        before = memory().get("rss_mb", 0.0)
        timed("load the encoder", lambda: embedder.embed(["first"]))
        print(f"{'the encoder in memory':34}{memory().get('rss_mb', 0.0) - before:10.1f} MB")
        known = [text_to_index(p) for _, cut in batch for p in cut]
        timed("embed", lambda: embedder.embed(known), len(known), "passages")
        questions = [text[:60] for text in known[:200]]
        timed("embed questions, one by one", lambda: [embedder.embed_query(one) for one in questions], len(questions))


def store_work(folder: Path, batch: Cut, queries: Sequence[str], embedder: E5 | None) -> None:
    passages = sum(len(cut) for _, cut in batch)
    with EmbeddedStore.create(folder, BilingualTokenizer(), embedder) as store:
        timed("put", lambda: store.put(batch), passages, "passages")
        timed("commit", store.commit, passages, "passages")

        def replace_one() -> None:
            store.put(batch[:1])
            store.commit()

        timed("replace one document and commit", replace_one)
        print(f"{'size on disk':34}{store.info().bytes / 1e6:10.1f} MB")
    started = time.perf_counter()
    with EmbeddedStore.open(folder, BilingualTokenizer(), embedder) as store:
        report("open", time.perf_counter() - started, 1, "times")
        asyncio.run(searches(store, queries))


async def searches(store: EmbeddedStore, queries: Sequence[str]) -> None:
    seconds = []
    for query in queries:
        started = time.perf_counter()
        await store.search(query, 8)
        seconds.append(time.perf_counter() - started)
    middle, slow = statistics.median(seconds), statistics.quantiles(seconds, n=20)[-1]
    print(f"{'search, median and 95 %':34}{middle * 1e3:10.1f} ms{slow * 1e3:10.1f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--set", default="squad2")
    parser.add_argument("--documents", type=int, default=500)
    parser.add_argument("--no-dense", action="store_true", help="words only")
    options = parser.parse_args()
    folder = options.data / options.set
    embedder = None if options.no_dense else E5()
    sources = list(itertools.islice(documents(folder / "corpus.jsonl", "benchmark"), options.documents))
    queries = [row["text"] for row in itertools.islice(rows(folder / "dev" / "queries.jsonl"), 200)]
    batch = [(source, split(source)) for source in sources]
    passages = sum(len(cut) for _, cut in batch)
    print(
        f"{options.set}: {len(sources)} documents, {passages} passages, {sum(len(d.text) for d in sources)} characters"
    )
    phases(sources, batch, BilingualTokenizer(), embedder)
    with tempfile.TemporaryDirectory() as place:
        store_work(Path(place) / "index", batch, queries, embedder)


if __name__ == "__main__":
    main()
