"""LangChain's embedding models behind our port: checked vectors, honest names, both sides of an asymmetric model."""

import math
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings
from pydantic import SecretStr

from selfright.domain.errors import EmbeddingFailed
from selfright.llm import embedders
from selfright.llm.embedders import LangChainEmbedder


class Given(Embeddings):
    """Answers every request for documents, and for a query, with the same value."""

    def __init__(self, rows: Any, row: Any = (0.0, 1.0), **attributes: Any) -> None:
        self.rows = rows
        self.row = row
        self.asked: list[list[str]] = []
        vars(self).update(attributes)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.asked.append(texts)
        answer = self.rows(texts) if callable(self.rows) else self.rows
        if isinstance(answer, Exception):
            raise answer
        return answer

    def embed_query(self, text: str) -> list[float]:
        return self.row


def ones(texts: list[str]) -> list[list[float]]:
    return [[1.0, 0.0]] * len(texts)


def test_vectors_are_the_model_s_own_brought_to_length_one() -> None:
    model = DeterministicFakeEmbedding(size=12)
    embedder = LangChainEmbedder(model)
    texts = ["a lamp", "등대", "a lamp"]
    vectors = embedder.embed(texts)
    raw = np.array(model.embed_documents(texts))
    assert vectors.dtype == np.float32
    assert vectors == pytest.approx(raw / np.linalg.norm(raw, axis=1, keepdims=True), abs=1e-6)
    assert embedder.embed_query("a lamp") == pytest.approx(vectors[0])
    assert embedder.dimension == 12
    assert embedder.embed([]).shape == (0, 12)


def test_a_query_is_embedded_as_a_query() -> None:
    embedder = LangChainEmbedder(Given(ones, row=[0.0, 5.0]))
    assert embedder.embed(["a"]).tolist() == [[1.0, 0.0]]
    assert embedder.embed_query("a").tolist() == [0.0, 1.0]


def test_the_dimension_is_asked_for_once_and_not_at_all_when_it_is_given() -> None:
    asked, told = Given(ones), Given(ones)
    embedder = LangChainEmbedder(asked)
    assert asked.asked == []
    assert [embedder.dimension, embedder.dimension, *embedder.embed(["a"]).shape] == [2, 2, 1, 2]
    assert len(asked.asked) == 2
    assert LangChainEmbedder(told, dimension=2).dimension == 2
    assert told.asked == []


def test_many_texts_go_in_bounded_batches_and_come_back_in_order() -> None:
    model = Given(lambda texts: [[float(text), 1.0] for text in texts])
    vectors = LangChainEmbedder(model, dimension=2).embed([str(n) for n in range(600)])
    assert vectors[:, 0] / vectors[:, 1] == pytest.approx(np.arange(600), rel=1e-4)
    assert max(map(len, model.asked)) <= 256


def test_a_blank_text_is_not_sent_as_it_is() -> None:
    model = Given(ones)
    assert LangChainEmbedder(model, dimension=2).embed(["", " \n", "x"]).shape == (3, 2)
    assert all(text.strip() for text in model.asked[0])


BAD_ANSWERS = {
    "too few": ([[1.0, 0.0]], "2 finite vectors"),
    "too many": ([[1.0, 0.0]] * 3, r"\(3, 2\)"),
    "nothing": ([], "shape"),
    "None": (None, "2 finite vectors"),
    "not numbers": ([["a", "b"]] * 2, "numbers of one length"),
    "a missing row": ([[1.0, 0.0], None], "numbers of one length"),
    "ragged": ([[1.0, 0.0], [1.0]], "numbers of one length"),
    "flat": ([1.0, 0.0], r"shape \(2,\)"),
    "empty rows": ([[], []], r"\(2, 0\)"),
    "NaN": ([[1.0, 0.0], [math.nan, 0.0]], "NaN"),
    "infinity": ([[1.0, 0.0], [math.inf, 0.0]], "infinity"),
    "zeros": ([[1.0, 0.0], [0.0, 0.0]], "zeros"),
    "another dimension": ([[1.0, 0.0, 0.0]] * 2, "vectors of 2 numbers, but gave 3"),
}


@pytest.mark.parametrize(("rows", "says"), BAD_ANSWERS.values(), ids=BAD_ANSWERS.keys())
def test_what_are_no_vectors_is_refused(rows: Any, says: str) -> None:
    with pytest.raises(EmbeddingFailed, match=says):
        LangChainEmbedder(Given(rows), dimension=2).embed(["a", "b"])


@pytest.mark.parametrize("row", [[math.nan, 1.0], [0.0, 0.0], [1.0], None, [[1.0, 0.0]]])
def test_what_is_no_query_vector_is_refused(row: Any) -> None:
    with pytest.raises(EmbeddingFailed):
        LangChainEmbedder(Given(ones, row=row), dimension=2).embed_query("a")


@given(st.lists(st.floats(-1e300, 1e300).filter(lambda x: abs(x) > 1e-9), min_size=2, max_size=2))
def test_any_finite_row_gets_length_one(row: list[float]) -> None:
    vector = LangChainEmbedder(Given([row])).embed(["a"])[0]
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)
    assert np.sign(vector[np.argmax(np.abs(vector))]) == np.sign(max(row, key=abs))


def test_a_failure_names_the_model_and_its_kind_but_not_what_the_provider_said() -> None:
    failing = LangChainEmbedder(Given(ConnectionError("https://user:hunter2@host"), model="m-1"), dimension=2)
    with pytest.raises(EmbeddingFailed, match=r"langchain:Given:m-1.*ConnectionError") as caught:
        failing.embed(["a"])
    assert "hunter2" not in str(caught.value)
    assert isinstance(caught.value.__cause__, ConnectionError)


class Failing(Given):
    """Answers a question with what comes next: an error is raised."""

    def __init__(self, *replies: Any) -> None:
        super().__init__(ones)
        self.replies = list(replies)

    def embed_query(self, text: str) -> list[float]:
        reply: Any = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return list(reply)


def test_a_question_is_asked_again_where_that_costs_nothing() -> None:
    model = Failing(ConnectionError(), [0.0, 3.0], *[ConnectionError()] * 3, [0.0, 3.0])
    embedder = LangChainEmbedder(ones_at_hand := Given(ones), dimension=2, questions=model)
    assert embedder.embed_query("a").tolist() == [0.0, 1.0]
    with pytest.raises(EmbeddingFailed):
        embedder.embed_query("b")
    assert embedder.embed_query("b").tolist() == [0.0, 1.0]
    assert (embedder.embed(["c"]).shape, ones_at_hand.asked) == ((1, 2), [["c"]])


def test_a_model_that_kept_a_question_waiting_is_left_alone_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedders, "_AT_ONCE_S", -1.0)
    monkeypatch.setattr(embedders, "_REST_S", 0.2)
    model = Failing(TimeoutError(), [0.0, 3.0])
    embedder = LangChainEmbedder(model, dimension=2)
    for said in ("TimeoutError", "left alone"):
        with pytest.raises(EmbeddingFailed, match=said):
            embedder.embed_query("a")
    time.sleep(0.25)
    assert embedder.embed_query("a").tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("attributes", "name"),
    [
        ({"model": "text-embedding-3-small"}, "langchain:Given:text-embedding-3-small"),
        ({"model_name": "intfloat/multilingual-e5-small"}, "langchain:Given:intfloat/multilingual-e5-small"),
        ({"model": object(), "model_id": "m"}, "langchain:Given:m"),
        ({"model": "https://me:secret@models.example:80/e5?key=secret"}, "langchain:Given:models.example/e5"),
        ({"model": "http://[host"}, "langchain:Given:host"),
        ({"model": "/srv/private/models/e5"}, "langchain:Given:e5"),
        ({"model": SecretStr("secret"), "api_key": "secret"}, "langchain:Given"),
        ({}, "langchain:Given"),
    ],
)
def test_the_name_tells_the_model_and_nothing_private(attributes: dict[str, Any], name: str) -> None:
    embedder = LangChainEmbedder(Given(ones, **attributes))
    assert embedder.name == name
    assert embedder.identified == (name != "langchain:Given")


def test_a_name_can_be_given() -> None:
    embedder = LangChainEmbedder(Given(ones, model="m"), name="ours")
    assert (embedder.name, embedder.identified) == ("ours", True)
