"""How quickly documents become an index when the work is done on a Ray cluster, and whether it is the same index.

    python -m benchmarks.bulk --data DIR [--set bioasq] [--documents 2000] [--workers 1 2] [--remove-node]

``DIR`` holds BEIR-layout folders; the whole corpus goes in unless ``--documents`` says otherwise. It goes in without a
cluster first, then with one of as many cores as workers, which is started here and warm (each worker has loaded its
encoder) before the clock runs. With ``--remove-node`` it goes in once more, on two nodes of one core each, of which one
is removed when half of the documents are written. Each index is held against the one made without a cluster: the same
documents and passages, vectors that differ by rounding at most, and the same ten best passages for the set's dev
queries. The exit code is 1 when one is not equal.

The encoder runs on two threads in one process, and on one in a worker: with fewer cores than workers nothing is won.
"""

import argparse
import importlib
import itertools
import json
import logging
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from benchmarks.retrieval_quality import rows
from selfright.background import LoopThread
from selfright.ingest.pipeline import Report, ingest
from selfright.ingest.ray_cluster import RayCluster
from selfright.models.encoder import E5
from selfright.processes import usable_cpus
from selfright.retrieval.stores.embedded import EmbeddedStore
from selfright.retrieval.tokenizer import BilingualTokenizer
from selfright.wiring.bulk import BulkTarget, add_to

_ROUNDED = 1e-5  # between vectors: the encoder rounds by the company that a text has
_QUERIES = 200
_BEST = 10
_MEMORY = 200_000_000  # of each node, for tasks and results on their way
_STEPS = 16
"""Batches that a corpus has at least: half of a small one could not be told otherwise."""


@dataclass(frozen=True)
class Corpus:
    """What goes in, and what is asked of it."""

    path: Path
    documents: int
    queries: list[str]


def main() -> None:
    options = arguments()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        corpus = taken(options.data / options.set, folder, options.documents)
        print(f"{options.set}, {corpus.documents:,} documents, {usable_cpus()} cores, load {os.getloadavg()[0]:.1f}")
        alone(corpus, folder / "alone")
        runs = [(f"{workers} workers", [workers], False) for workers in options.workers]
        runs += [("2 nodes, one removed", [1, 1], True)] if options.remove_node else []
        equal = [clustered(name, corpus, folder, cores, remove) for name, cores, remove in runs]
    sys.exit(0 if all(equal) else 1)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--set", default="bioasq")
    parser.add_argument("--documents", type=int)
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--remove-node", action="store_true")
    return parser.parse_args()


def taken(data: Path, folder: Path, count: int | None) -> Corpus:
    """The first documents of a set, and its first dev queries."""
    path = folder / "corpus.jsonl"
    documents = subset(data / "corpus.jsonl", path, count)
    queries = [row["text"] for row in itertools.islice(rows(data / "dev" / "queries.jsonl"), _QUERIES)]
    return Corpus(path, documents, queries)


def subset(corpus: Path, target: Path, count: int | None) -> int:
    with target.open("w", encoding="utf-8") as file:
        return sum(
            file.write(json.dumps(row, ensure_ascii=False) + "\n") > 0 for row in itertools.islice(rows(corpus), count)
        )


# Without a cluster, and with one


def alone(corpus: Corpus, folder: Path) -> None:
    embedder = E5()
    embedder.embed(["warm"])
    with EmbeddedStore.create(folder, BilingualTokenizer(), embedder) as store:
        began = time.perf_counter()
        report = ingest([corpus.path], store, store)
        told("no cluster", report, time.perf_counter() - began)


def clustered(name: str, corpus: Corpus, folder: Path, nodes: list[int], remove: bool) -> bool:
    """Takes in the corpus on nodes of so many cores each; says whether the index is the one made without them."""
    target = folder / name.replace(" ", "-")
    began = time.perf_counter()
    with started(nodes) as remove_last, RayCluster() as cluster:
        warm = folder / "warm.jsonl"
        subset(corpus.path, warm, 256 * sum(nodes))
        add_to(cluster, place(folder / f"warm-{target.name}"), [warm], "default")
        print(f"{name}: started and warm in {time.perf_counter() - began:.1f} s")
        with written(corpus.documents, remove_last if remove else None):
            began = time.perf_counter()
            report = add_to(cluster, place(target), [corpus.path], "default")
            told(name, report, time.perf_counter() - began)
    return compared(folder / "alone", target, corpus.queries)


def place(folder: Path) -> BulkTarget:
    return BulkTarget(folder, BilingualTokenizer(), E5(), "e5")


@contextmanager
def started(nodes: list[int]) -> Iterator[Callable[[], None]]:
    """A cluster of local nodes; gives what removes the last of them at once."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_worker_niceness", "0")  # as the run without a cluster
    ray: Any = importlib.import_module("ray")
    made: Any = importlib.import_module("ray.cluster_utils").Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": nodes[0], "include_dashboard": False, "object_store_memory": _MEMORY},
    )
    try:
        others = [made.add_node(num_cpus=cores, object_store_memory=_MEMORY) for cores in nodes[1:]]
        ray.init(made.address, log_to_driver=False, logging_level=logging.ERROR)
        yield lambda: made.remove_node(others[-1], allow_graceful=False)
    finally:
        ray.shutdown()
        made.shutdown()


@contextmanager
def written(documents: int, halfway: Callable[[], None] | None) -> Iterator[None]:
    """Has something happen when half of the documents are in the store; nothing for None."""
    if halfway is None:
        yield
        return
    put, seen = EmbeddedStore.put, 0

    def counted(store: EmbeddedStore, batch: Any, **given: Any) -> None:
        nonlocal seen
        put(store, batch, **given)
        before, seen = seen, seen + len(batch)
        if before < documents / 2 <= seen:
            print(f"{seen:,} of {documents:,} documents are written: a node is removed")
            halfway()

    size = max(1, min(256, documents // _STEPS))
    with mock.patch.object(EmbeddedStore, "put", counted), mock.patch.object(RayCluster, "batch", size):
        yield
    if seen < documents / 2:
        sys.exit("no node was removed: most documents were there already")


def told(what: str, report: Report, seconds: float) -> None:
    print(
        f"{what:21}{report.added:8,} documents{report.passages:8,} passages{seconds:8.1f} s"
        f"{report.passages / seconds:8.1f} passages/s",
        flush=True,
    )


# The same index?


def compared(one: Path, other: Path, queries: list[str]) -> bool:
    """Says whether two indexes hold and find the same."""
    tokenizer, embedder = BilingualTokenizer(), E5()
    with EmbeddedStore.open(one, tokenizer, embedder) as source, EmbeddedStore.open(other, tokenizer, embedder) as made:
        names = [[info.id for info in store.documents()] for store in (source, made)]
        wrong = [name for name in names[0] if not equal(source, made, name)]
        same = alike(best(source, queries), best(made, queries))
        sound = names[0] == names[1] and not wrong and same == len(queries)
    print(
        f"  {'' if sound else 'NOT '}equal to the index made without a cluster: {len(names[1]):,} documents, "
        f"{len(wrong):,} of which differ (vectors by more than {_ROUNDED:.0e}); the same ten best for {same} of "
        f"{len(queries)} dev queries",
        flush=True,
    )
    return sound


def equal(source: EmbeddedStore, made: EmbeddedStore, name: str) -> bool:
    """Whether both hold the same document with the same passages, and vectors that differ by rounding at most."""
    one, other = source.vectors_of(name), made.vectors_of(name)
    return (
        (source.document(name), source.passages_of(name)) == (made.document(name), made.passages_of(name))
        and one.keys() == other.keys()
        and all(np.allclose(one[key], other[key], rtol=0, atol=_ROUNDED) for key in one)
    )


def best(store: EmbeddedStore, queries: list[str]) -> list[list[str]]:
    loop = LoopThread()
    try:
        found = [loop.run(store.search(query, _BEST)) for query in queries]
    finally:
        loop.close()
    return [[hit.passage.id for hit in one.hits] for one in found]


def alike(one: list[list[str]], other: list[list[str]]) -> int:
    return sum(a == b for a, b in zip(one, other, strict=True))


if __name__ == "__main__":
    main()
