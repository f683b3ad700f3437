"""Batches that are embedded elsewhere: in order, one ahead, and committed where they were to be."""

import sys
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from selfright.domain.errors import MissingExtra, StoreError
from selfright.domain.passages import Document, Passage
from selfright.ingest.ray_cluster import Embed, Embedding, EmbeddingWriter, RayCluster
from tests.support.passages import by_lines, document


class Shelf:
    """Says what was done, in order."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.vectors: dict[str, float] = {}

    def put(self, batch: Sequence[tuple[Document, Sequence[Passage]]], vectors: Any = None) -> None:
        self.done += [source.id for source, _ in batch]
        self.vectors.update({name: float(vector[0]) for name, vector in (vectors or {}).items()})

    def commit(self) -> None:
        self.done.append("commit")

    def remove(self, names: Sequence[str]) -> list[str]:
        self.done.append(f"remove {' '.join(names)}")
        return list(names)


class Cluster:
    """Does tasks when they are waited for; ``fails`` names a text over which it fails."""

    def __init__(self, fails: str = "") -> None:
        self.flying: set[int] = set()
        self.most = self.sent = 0
        self.cancelled: list[int] = []
        self._fails = fails

    def submit(self, entry: str, encoder: str, texts: Sequence[str]) -> int:
        assert (entry, encoder) == ("a:b", "e5")
        self.sent += 1
        self.flying.add(self.sent)
        self.most = max(self.most, len(self.flying))
        return self.sent

    def result(self, reference: int, texts: Sequence[str], here: Embed) -> NDArray[np.float32]:
        self.flying.remove(reference)
        return here(texts) if self._fails in texts else embed(texts)

    def cancel(self, references: Iterable[int]) -> None:
        self.cancelled += references


def embed(texts: Sequence[str]) -> NDArray[np.float32]:
    return np.array([[len(text)] for text in texts], dtype=np.float32)


def writer(shelf: Shelf, cluster: Cluster) -> EmbeddingWriter:
    embedding = Embedding("a:b", "e5", embed, lambda p: p.text, lambda p: p.language == "en")
    return EmbeddingWriter(shelf, cluster, embedding)


def one(name: str, lines: int = 1) -> tuple[Document, list[Passage]]:
    return by_lines(document(name, "\n".join(f"line {number} of {name}" for number in range(lines))))


def test_everything_is_stored_in_the_order_it_came(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("selfright.ingest.ray_cluster._PART", 2)
    shelf, cluster = Shelf(), Cluster()
    with writer(shelf, cluster) as ahead:
        ahead.put([one("a", 3), one("b")])
        ahead.commit()
        assert shelf.done == []
        ahead.put([by_lines(document("c", "한국어"))])
        assert shelf.done == ["a", "b", "commit"]
        assert ahead.remove(["a"]) == ["a"]
        ahead.put([(document("empty", ""), [])])
        ahead.put([one("a", 2)])
        ahead.finish()
    assert shelf.done == ["a", "b", "commit", "c", "remove a", "empty", "a", "commit"]
    assert shelf.vectors == dict.fromkeys(("a#0", "a#1", "a#2", "b#0"), 11.0)
    assert cluster.cancelled == []


def test_few_are_on_their_way_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("selfright.ingest.ray_cluster._PART", 1)
    shelf, cluster = Shelf(), Cluster()
    with writer(shelf, cluster) as ahead:
        for number in range(40):
            ahead.put([one(f"d{number}", 2)])
        assert shelf.done  # what was sent before has been waited for
        ahead.finish()
    assert cluster.most <= 4
    assert shelf.done == [*(f"d{number}" for number in range(40)), "commit"]


def test_what_the_cluster_cannot_do_is_done_here_and_what_is_left_is_given_up() -> None:
    shelf, cluster = Shelf(), Cluster(fails="line 0 of b")
    with writer(shelf, cluster) as ahead:
        ahead.put([one("a")])
        ahead.put([one("b")])
        ahead.finish()
        ahead.put([one("c")])
    assert shelf.done == ["a", "b", "commit"]
    assert cluster.cancelled == [3]


def test_without_ray_the_command_that_installs_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r'pip install "selfright\[ray\]"'):
        RayCluster("local")


def test_where_no_cluster_answers_it_is_said_at_once() -> None:
    pytest.importorskip("ray")
    with pytest.raises(StoreError, match=r"no Ray cluster answers at '127.0.0.1:1' .* --ray local"):
        RayCluster("127.0.0.1:1").__enter__()
