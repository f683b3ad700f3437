"""The parts of the hybrid benchmark that decide what its table says."""

import argparse
import contextlib
import json
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks import hybrid
from benchmarks.peers import collection, measures, reporting
from benchmarks.peers.collection import Passages
from benchmarks.peers.worker import Worker

SIZE, CHUNK = 120, 100


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("collection")
    collection.make(folder, SIZE, CHUNK)
    return folder


def test_a_collection_is_the_beginning_of_a_larger_one(made: Path, tmp_path: Path) -> None:
    collection.make(tmp_path, SIZE + 50, CHUNK)
    small, large = collection.load_passages(made), collection.load_passages(tmp_path)
    assert large.texts[:SIZE] == small.texts
    assert np.array_equal(large.vectors[:SIZE], small.vectors)
    assert collection.made(made, SIZE)
    assert not collection.made(made, SIZE + 50)


def test_a_collection_holds_what_it_promises(made: Path) -> None:
    passages, (warm_up, queries) = collection.load_passages(made), collection.load_queries(made, 50)
    assert {len(text.split()) for text in passages.texts} <= set(range(60, 101))
    assert len(set(passages.texts)) == SIZE
    for vectors in (passages.vectors, queries.vectors):
        assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert not set(warm_up.texts) & set(queries.texts)
    exact = np.argmax(queries.vectors @ passages.vectors.T, axis=1)
    assert queries.nearest[:, 0].tolist() == exact.tolist()
    words = [set(passages.texts[number].split()) for number in exact]
    own = [set(text.split()) <= there for text, there in zip(queries.texts, words, strict=True)]
    assert np.mean(own) > 0.8  # most vectors lead to the passage that the words were taken from


@given(st.integers(1, 12), st.integers(1, 60), st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_nearest_is_exact_across_blocks(k: int, rows: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    vectors = random.standard_normal((rows, 8)).astype(np.float32)
    queries = random.standard_normal((3, 8)).astype(np.float32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(collection, "CHUNK", 7)
        found = collection.nearest(vectors, queries, k)
    products = queries @ vectors.T
    expected = -np.sort(-products, axis=1)[:, :k]
    assert np.allclose(np.take_along_axis(products, found, 1), expected, atol=1e-5)
    assert all(len(set(row)) == min(k, rows) for row in found.tolist())


def test_shared_is_the_mean_share_of_what_was_expected() -> None:
    found, expected = [["a", "b"], ["x", "c", "d"], ["e"]], [["b", "a"], ["c", "y", "z", "x"], []]
    assert measures.shared(found, expected) == pytest.approx((1 + 0.5) / 2)
    with pytest.raises(ValueError, match="expected ids"):
        measures.shared([["a"]], [[]])


class Backwards:
    """An exact system for dense vectors alone, that reads its file when it is opened, and adds what comes."""

    def __init__(self, vectors: dict[str, np.ndarray], depth: int) -> None:
        self.depth, self._known = depth, vectors

    def build(self, _folder: Path, passages: Passages) -> None:
        self._ids, self._texts, self._rows = passages.ids, list(passages.texts), np.array(passages.vectors)

    def save(self, folder: Path) -> bool:
        np.save(folder / "rows.npy", self._rows)
        (folder / "texts.json").write_text(json.dumps([self._ids, self._texts]))
        return True

    def open(self, folder: Path) -> None:
        self._rows = np.load(folder / "rows.npy")
        self._ids, self._texts = json.loads((folder / "texts.json").read_text())

    async def search(self, text: str, vector: np.ndarray, k: int) -> list[tuple[str, str]]:
        assert np.array_equal(self._known[text], vector)
        return [(self._ids[i], self._texts[i]) for i in np.argsort(-(self._rows @ vector))[:k]]

    async def dense(self, text: str, vector: np.ndarray, k: int) -> list[str]:
        found = await self.search(text, vector, k)
        return ["missed", *(name for name, _ in found[1:])]

    def add(self, passages: Passages) -> None:
        self._ids += passages.ids
        self._texts += passages.texts
        self._rows = np.vstack((self._rows, passages.vectors))


@pytest.mark.parametrize(("lives", "phase"), [("memory", "build"), ("disk", "open")])
def test_a_worker_records_each_step(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lives: str, phase: str
) -> None:
    module = types.ModuleType("backwards")
    module.Backwards = Backwards
    monkeypatch.setitem(sys.modules, "backwards", module)
    options = argparse.Namespace(data=made, index=tmp_path, out=tmp_path / "record.json", driver="backwards:Backwards")
    options.__dict__.update(lives=lives, passages=SIZE, queries=40, depth=10, seconds=20)
    record = {}
    for step in ("build", "open"):
        with contextlib.closing(Worker(options)) as worker:
            getattr(worker, step)()
        record[step] = json.loads(options.out.read_text())
    assert record["build"]["saved"]
    assert record["build"]["disk_mb"] > 0
    assert record["open"]["open_s"] > 0
    measured = record[phase]
    assert measured["asked"] == 40
    assert measured["recall"] == pytest.approx(0.9)  # it always misses the best
    assert measured["added_found"]
    assert "p50_ms" not in record["open" if phase == "build" else "build"]


def test_an_overlap_needs_the_reference_of_the_same_depth(tmp_path: Path) -> None:
    reference = {"references": {"10": [["a", "b"]], "100": [["a", "c"]]}, "hits": [["a", "b"]], "depth": 10}
    assert hybrid._overlap(reference, tmp_path) == 1.0
    assert hybrid._overlap({"hits": [["b", "a"]], "depth": 100}, tmp_path) == 0.5
    assert hybrid._overlap({"hits": [["b", "a"]], "depth": 20}, tmp_path) is None
    assert hybrid._overlap({"error": "failed"}, tmp_path) is None


@pytest.mark.parametrize(
    ("code", "seconds", "limit", "problem"),
    [
        ("pass", 20, 1000, ""),
        ("raise SystemExit(3)", 20, 1000, "failed with exit code 3"),
        ("import time; time.sleep(60)", 0.3, 1000, "stopped after"),
        ("import time; held = b'x' * 80_000_000; time.sleep(60)", 20, 60, "of memory"),
    ],
)
def test_a_worker_is_held_to_its_limits(code: str, seconds: float, limit: float, problem: str) -> None:
    with subprocess.Popen([sys.executable, "-S", "-c", code]) as worker:
        found, highest = hybrid._watch(worker, seconds, limit)
    assert problem in found
    assert bool(found) == bool(problem)
    assert worker.returncode is not None
    assert (highest > limit) == ("memory" in problem)


def record(system: str, passages: int, **values: object) -> dict[str, object]:
    about = {"machine": "two cores", "date": "2026-01-02", "versions": "one 1.0"}
    return {"system": system, "passages": passages, **about, **values}


RECORDS = [
    record("selfright", 100, p50_ms=1.5, p99_ms=2.0, build_s=3.25, saved=True, save_s=0.5, recall=0.98765),
    record("lancedb", 100, p50_ms=6.0, import_s=1.0, open_s=0.25, rss_mb=1234.5, anonymous_mb=400.0),
    record("haystack", 100, error="build: stopped at 18 GB of memory"),
    record("selfright", 1000, p50_ms=3.0),
]


def test_the_table_compares_with_ours_and_says_why_a_cell_is_empty() -> None:
    lines = reporting.table(RECORDS[:3], 100).splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    columns = {name: [row[place] for row in cells[2:]] for place, name in enumerate(cells[0])}
    assert columns["p50 ms"] == ["1.50", "6.00", "–"]  # the quickest first
    assert columns["p50 / ours"] == ["1.00×", "4.00×", "–"]
    assert columns["build s"] == ["3.25 + 0.50", "–", "–"]
    assert columns["cold open s"] == ["–", "1.00 + 0.25", "–"]
    assert columns["memory MB"] == ["–", "1,234 (400)", "–"]
    assert columns["recall@10"][0] == "0.988"
    assert lines[-1] == "Haystack in-memory + RRF joiner: build: stopped at 18 GB of memory."
