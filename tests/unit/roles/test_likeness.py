"""How near sentences are to a question in meaning."""

import threading

import numpy as np
import pytest
from numpy.typing import NDArray

from selfright.domain.errors import ModelUnavailable
from selfright.domain.passages import Passage
from selfright.roles import similarity
from selfright.roles.similarity import SentenceSimilarity, sentences


class Letters:
    """Vectors of how often each of three letters occurs; counts what it is asked for."""

    name, dimension = "letters", 3

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: list[str]) -> NDArray[np.float32]:
        self.asked += texts
        rows = np.array([[text.count(letter) for letter in "abc"] for text in texts], np.float32)
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


class Broken(Letters):
    def embed(self, texts: list[str]) -> NDArray[np.float32]:
        raise ModelUnavailable("the encoder is out of order")


def passage(name: str, text: str) -> Passage:
    return Passage(name, name, "", text, 0, len(text), language="en")


def test_the_nearest_sentence_counts_wherever_it_stands() -> None:
    first = passage("p", "bbb ccc. Then bc. At last aaa.")
    second = passage("q", "A bit of abc. More bbb.")
    near, far = SentenceSimilarity(Letters()).best("aaaa", [first, second]) or []
    assert near == pytest.approx(1.0)
    assert far < near


def test_a_passage_without_sentences_is_like_nothing() -> None:
    assert SentenceSimilarity(Letters()).best("a", [passage("p", "")]) == [0.0]


def test_what_was_embedded_is_kept_and_the_oldest_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(similarity, "KEPT", 2)
    embedder = Letters()
    one = SentenceSimilarity(embedder)
    one.cosines("a", ["a", "b"])
    one.cosines("a", ["a", "b"])
    assert embedder.asked == ["a", "a", "b"]  # the question, and each text once
    one.cosines("a", ["c"])
    one.cosines("a", ["a"])
    assert embedder.asked[3:] == ["c", "a"]


def test_threads_share_it() -> None:
    shared = SentenceSimilarity(Letters())
    found: list[list[float] | None] = []
    threads = [threading.Thread(target=lambda: found.append(shared.cosines("abc", ["a", "b", "c"]))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({tuple(one or ()) for one in found}) == 1


def test_without_its_encoder_nothing_is_known(caplog: pytest.LogCaptureFixture) -> None:
    assert SentenceSimilarity(Broken()).cosines("a", ["a"]) is None
    assert "out of order" in caplog.text


def test_entries_of_lists_and_tables_are_sentences_of_their_own() -> None:
    text = "Rooms:\n\n- Hall: 40 seats\n- Loft: 12 seats\n\n| Room | Fee |\n|---|---|\n| Hall | 90 |\n"
    assert sentences(passage("p", text)) == ("Hall: 40 seats", "Loft: 12 seats", "Room: Hall; Fee: 90")
