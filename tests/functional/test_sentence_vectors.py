"""``selfright index embed-sentences``: afterwards a question embeds nothing but itself."""

import json
from pathlib import Path

import pytest
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from selfright import Selfright
from selfright.domain.errors import IncompatibleIndex, UsageError
from selfright.models.encoder import E5
from tests.functional.conftest import Cli

DOCUMENTS = {
    "lamp.md": "# Lamp\n\nThe lamp is changed every 90 days. Anna Kim keeps it.\n\n- oil: 2 litres\n- wick: linen\n",
    "boat.md": "# 배\n\n배는 아홉 시에 떠납니다. 열두 명이 탈 수 있습니다.\n\n| 항구 | 시간 |\n|-|-|\n| 부산 | 3 |\n",
    "fog.md": "# Fog\n\nIn fog the horn sounds twice a minute. It is heard 5 miles away. The keeper starts it.\n",
}
QUESTIONS = ("How often is the lamp changed?", "배는 몇 시에 떠나나요?", "How far is the horn heard?")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "documents"
    place.mkdir()
    for name, text in DOCUMENTS.items():
        (place / name).write_text(text, encoding="utf-8")
    return place


@pytest.fixture
def embedded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the encoder computed, as it comes."""
    texts: list[str] = []
    real = E5._encode
    monkeypatch.setattr(E5, "_encode", lambda self, some: (texts.extend(some), real(self, some))[1])
    return texts


def opened(tmp_path: Path, **settings: object) -> Selfright:
    return Selfright.open(tmp_path / "index", home=tmp_path / "home", **settings)


def test_a_question_then_embeds_no_sentence_of_a_document(folder: Path, tmp_path: Path, embedded: list[str]) -> None:
    with opened(tmp_path) as selfright:
        selfright.add([folder])
        report = selfright.embed_sentences()
        assert (report.documents, report.of) == (3, 3)
        assert report.sentences >= 9
    embedded.clear()
    with opened(tmp_path) as selfright:  # another process would find the same file
        assert selfright.embed_sentences().sentences == report.sentences
        assert embedded == []
        answers = [selfright.ask(question) for question in QUESTIONS]
    single = ("The lamp is changed every 90 days.", "배는 아홉 시에 떠납니다.", "It is heard 5 miles away.")
    assert not {f"passage: {sentence}" for sentence in single} & set(embedded)
    assert all(answer.citations for answer in answers)


def test_answers_are_the_same_without_it(folder: Path, tmp_path: Path) -> None:
    found = []
    for name, prepares in (("a", False), ("b", True)):
        with Selfright.open(tmp_path / name, home=tmp_path / f"home-{name}") as selfright:
            selfright.add([folder])
            if prepares:
                selfright.embed_sentences()
            found.append([selfright.ask(question).answer for question in QUESTIONS])
    assert found[0] == found[1]


def test_a_cache_that_is_too_small_is_said(cli: Cli, folder: Path, tmp_path: Path) -> None:
    options = ("--index", str(tmp_path / "index"))
    assert cli("index", "add", str(folder), *options).code == 0
    done = cli("index", "embed-sentences", *options, "--json")
    assert (done.code, json.loads(done.out)["documents"]) == (0, 3)
    for value in ("embedding_cache=0", "embedder=none"):
        refused = cli("index", "embed-sentences", *options, "--set", value)
        assert refused.code == 2
        assert "built-in encoder" in refused.err or "embedding_cache" in refused.err


def test_nothing_is_embedded_for_an_index_that_takes_no_questions(
    folder: Path, tmp_path: Path, embedded: list[str]
) -> None:
    with opened(tmp_path, embedder="none") as selfright:
        selfright.add([folder])
    with opened(tmp_path) as selfright, pytest.raises(IncompatibleIndex, match="reembed"):
        selfright.embed_sentences()
    assert embedded == []


def test_a_retriever_of_the_user_has_no_sentences_to_embed(tmp_path: Path) -> None:
    class Nothing(BaseRetriever):
        def _get_relevant_documents(self, query: str, *, run_manager: object) -> list[Document]:
            return []

    with Selfright.open(home=tmp_path / "home", retriever=Nothing()) as selfright, pytest.raises(UsageError):
        selfright.embed_sentences()


def test_it_stops_where_the_cache_would_be_full(folder: Path, tmp_path: Path) -> None:
    from selfright.assembly.sentence_vectors import embed_sentences

    with opened(tmp_path) as selfright:
        selfright.add([folder])
        index = selfright._engine.index
        report = embed_sentences(index._opened, index.cached_embedder, 12_000, None)
        assert 0 < report.documents < report.of
        with pytest.raises(UsageError):
            embed_sentences(index._opened, None, 12_000, None)
