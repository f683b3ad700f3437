import asyncio
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.runnables import RunnableLambda

from selfright import Selfright
from selfright.domain.errors import IncompatibleIndex, UsageError

QUESTION = "Who is the harbour master?"
TEXT = "The harbour master of Port Ellin is Orla Keane. She took the post in 2019."


class Named(DeterministicFakeEmbedding):
    model: str = "m-1"


def test_a_langchain_retriever_in_place_of_an_index() -> None:
    found = [Document(page_content=TEXT, metadata={"source": "harbour.md"})]
    with Selfright.open(retriever=RunnableLambda(lambda _question: found)) as selfright:
        answer = selfright.ask(QUESTION)
        assert "Orla Keane" in answer.answer
        (citation,) = answer.citations
        document = selfright.document(citation.document_id)
        assert document is not None
        assert document.text[citation.start : citation.end] == citation.text
        for attempt in (selfright.info, lambda: selfright.add(["."]), lambda: selfright.remove(["a"])):
            with pytest.raises(UsageError, match="LangChain retriever"):
                attempt()
    with pytest.raises(UsageError, match="give the one"):
        Selfright.open("index", retriever=RunnableLambda(lambda _question: found))


def test_langchain_embeddings_are_remembered_by_the_index_and_kept_for_the_next(
    documents: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Selfright.open(tmp_path / "a", embeddings=Named(size=16)) as selfright:
        selfright.add([documents])
        assert selfright.info().embedder == "langchain:Named:m-1"
        assert any(hit.dense for hit in selfright.search(QUESTION))
        assert "Orla Keane" in selfright.ask(QUESTION).answer
    asked: list[str] = []
    embed = Named.embed_documents
    monkeypatch.setattr(Named, "embed_documents", lambda model, texts: asked.extend(texts) or embed(model, texts))
    with Selfright.open(tmp_path / "b", embeddings=Named(size=16)) as selfright:
        selfright.add([documents])
        assert any(hit.dense for hit in selfright.search(QUESTION))
    assert asked == ["dimension"]
    with Selfright.open(tmp_path / "a") as selfright, pytest.raises(IncompatibleIndex):
        selfright.search(QUESTION)


def test_selfright_as_a_langchain_retriever(indexed: Path) -> None:
    with Selfright.open(indexed) as selfright:
        chain = selfright.as_retriever(k=2) | RunnableLambda(lambda found: [d.metadata["document_id"] for d in found])

        async def inside() -> tuple[Any, Any]:
            return chain.invoke(QUESTION), await chain.ainvoke(QUESTION)

        expected = [hit.passage.document_id for hit in selfright.search(QUESTION, 2)]
        assert asyncio.run(inside()) == (expected, expected)
