"""Batches that are prepared elsewhere: in order, bounded, and committed where they were to be."""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from selfright.domain.errors import MissingExtra, StoreError
from selfright.domain.passages import Document, Passage
from selfright.ingest.bulk import PreparedAhead, Preparing
from selfright.ingest.ray_cluster import RayCluster
from tests.support.passages import by_lines, document


class Shelf:
    """Says what was done, in order."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.terms: dict[str, str] = {}
        self.vectors: dict[str, float] = {}

    def learn(self, terms: Mapping[str, str]) -> None:
        self.terms = dict(terms)

    def put(self, batch: Sequence[tuple[Document, Sequence[Passage]]], vectors: Any = None) -> None:
        for source, passages in batch:
            assert all(self.terms[passage.text] == passage.text.upper() for passage in passages)
            self.done.append(source.id)
        self.vectors.update({name: float(vector[0]) for name, vector in (vectors or {}).items()})

    def commit(self) -> None:
        self.done.append("commit")

    def remove(self, names: Sequence[str]) -> list[str]:
        self.done.append(f"remove {' '.join(names)}")
        return list(names)


class Workers:
    """Does tasks when they are waited for; ``fails`` names texts over which it fails."""

    limit = 4

    def __init__(self, fails: str = "") -> None:
        self.flying: set[int] = set()
        self.most = self.sent = 0
        self.cancelled: list[int] = []
        self._fails = fails

    def submit(self, task: dict[str, Any]) -> int:
        self.sent += 1
        self.flying.add(self.sent)
        self.most = max(self.most, len(self.flying))
        return self.sent

    def result(self, reference: int, task: dict[str, Any], here: Callable[[Any], Any], lost: object = None) -> Any:
        self.flying.remove(reference)
        return here(task) if self._fails in task["texts"] else prepared(task)

    def cancel(self, references: Iterable[int]) -> None:
        self.cancelled += references


def prepared(task: dict[str, Any]) -> tuple[list[str], Any]:
    vectors = np.array([[len(task["texts"][place])] for place in task["embedded"]], dtype=np.float32)
    return [text.upper() for text in task["texts"]], vectors if len(vectors) else None


def writer(shelf: Shelf, workers: Workers) -> PreparedAhead:
    preparing = Preparing(prepared, lambda p: p.text, lambda p: p.language == "en", shelf.learn)
    return PreparedAhead(shelf, preparing, workers)  # type: ignore[arg-type]


def one(name: str, lines: int = 1) -> tuple[Document, list[Passage]]:
    return by_lines(document(name, "\n".join(f"line {number} of {name}" for number in range(lines))))


def test_everything_is_stored_in_the_order_it_came(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("selfright.ingest.bulk._PART", 2)
    shelf, workers = Shelf(), Workers()
    with writer(shelf, workers) as ahead:
        ahead.put([one("a", 3), one("b")])
        ahead.commit()
        ahead.put([by_lines(document("c", "한국어"))])
        assert shelf.done == []
        assert ahead.remove(["a"]) == ["a"]
        ahead.put([(document("empty", ""), [])])
        ahead.put([one("a", 2)])
        ahead.finish()
    assert shelf.done == ["a", "b", "commit", "c", "remove a", "empty", "a", "commit"]
    assert set(shelf.vectors) == {"a#0", "a#1", "a#2", "b#0"}
    assert workers.cancelled == []


def test_few_are_on_their_way_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("selfright.ingest.bulk._PART", 1)
    shelf, workers = Shelf(), Workers()
    with writer(shelf, workers) as ahead:
        for number in range(40):
            ahead.put([one(f"d{number}", 2)])
        assert shelf.done  # what did not fit has been waited for
        ahead.finish()
    assert workers.most <= workers.limit + 2
    assert shelf.done == [*(f"d{number}" for number in range(40)), "commit"]


def test_what_the_workers_cannot_do_is_done_here_and_what_is_left_is_given_up() -> None:
    shelf, workers = Shelf(), Workers(fails="line 0 of b")
    with writer(shelf, workers) as ahead:
        ahead.put([one("a")])
        ahead.put([one("b")])
        ahead.finish()
        ahead.put([one("c")])
    assert shelf.done == ["a", "b", "commit"]
    assert workers.cancelled == [3]


def test_without_ray_the_command_that_installs_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r'pip install "selfright\[ray\]"'):
        RayCluster("local")


def test_where_no_cluster_answers_it_is_said_at_once() -> None:
    pytest.importorskip("ray")
    with pytest.raises(StoreError, match=r"no Ray cluster answers at '127.0.0.1:1' .* --ray local"):
        RayCluster("127.0.0.1:1").__enter__()
