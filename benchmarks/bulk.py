"""How quickly documents become an index when the work is done on a Ray cluster, by the number of its workers.

    python -m benchmarks.bulk --data DIR [--set bioasq] [--documents 2000] [--workers 1 2]

``DIR`` holds BEIR-layout folders. The same documents go in without a cluster first. The cluster is started here, with
as many cores as workers, and is warm (each worker has loaded its encoder) before the clock runs. The encoder runs on
two threads in one process and shares the machine's cores with everything else: with fewer cores than workers nothing
is won.
"""

import argparse
import importlib
import itertools
import json
import logging
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.retrieval_quality import rows
from selfright.assembly.bulk import Place, add_to
from selfright.ingest.pipeline import ingest
from selfright.ingest.ray_cluster import RayCluster
from selfright.llm.minilm import MiniLM
from selfright.processes import usable_cpus
from selfright.retrieval.stores.embedded import EmbeddedStore
from selfright.retrieval.tokenizer import BilingualTokenizer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--set", default="bioasq")
    parser.add_argument("--documents", type=int, default=2_000)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    options = parser.parse_args()
    print(f"{options.set}, {options.documents:,} documents, {usable_cpus()} cores, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        corpus = subset(options.data / options.set / "corpus.jsonl", folder / "corpus.jsonl", options.documents)
        warm = subset(corpus, folder / "warm.jsonl", 64 * max(options.workers))
        alone(corpus, folder / "alone")
        for workers in options.workers:
            clustered(corpus, warm, folder, workers)


def subset(corpus: Path, target: Path, count: int) -> Path:
    with target.open("w", encoding="utf-8") as file:
        for row in itertools.islice(rows(corpus), count):
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return target


def alone(corpus: Path, folder: Path) -> None:
    embedder = MiniLM()
    embedder.embed(["warm"])
    with EmbeddedStore.create(folder, BilingualTokenizer(), embedder) as store:
        began = time.perf_counter()
        report = ingest([corpus], store, store)
        told("no cluster", report.added, report.passages, time.perf_counter() - began)


def clustered(corpus: Path, warm: Path, folder: Path, workers: int) -> None:
    ray: Any = importlib.import_module("ray")
    os.environ.setdefault("RAY_worker_niceness", "0")  # as the run without a cluster
    began = time.perf_counter()
    ray.init("local", num_cpus=workers, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
    try:
        with RayCluster() as cluster:
            place = Place(folder / f"index-{workers}", BilingualTokenizer(), MiniLM(), "auto")
            add_to(cluster, place, [warm], "warm")
            print(f"cluster of {workers}: started and warm in {time.perf_counter() - began:.1f} s")
            began = time.perf_counter()
            report = add_to(cluster, place, [corpus], "default")
            told(f"{workers} workers", report.added + report.replaced, report.passages, time.perf_counter() - began)
    finally:
        ray.shutdown()


def told(what: str, documents: int, passages: int, seconds: float) -> None:
    print(
        f"{what:12}{documents:8,} documents{passages:8,} passages{seconds:8.1f} s{passages / seconds:8.1f} passages/s"
    )


if __name__ == "__main__":
    main()
