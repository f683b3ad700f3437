import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.runnables import RunnableLambda

from selfright import Selfright
from selfright.api.selfright import mermaid
from selfright.domain.answers import Answer
from selfright.domain.errors import IncompatibleIndex, InputError, UnknownName, UsageError
from selfright.flow.presets import PRESETS
from selfright.wiring.engine import langchain_listens

QUESTION = "Who is the harbour master?"
TEXT = "The harbour master of Port Ellin is Orla Keane. She took the post in 2019."


class Named(DeterministicFakeEmbedding):
    model: str = "m-1"


def test_a_langchain_retriever_in_place_of_an_index() -> None:
    found = [Document(page_content=TEXT, metadata={"source": "harbour.md"})]
    with Selfright.open(retriever=RunnableLambda(lambda _question: found)) as selfright:
        answer = selfright.ask(QUESTION)
        assert "Orla Keane" in answer.answer
        assert (answer.verdict, answer.abstained) == ("correct", False)
        assert selfright.ask("Who painted the Mona Lisa?").abstained
        (citation,) = answer.citations
        document = selfright.document(citation.document_id)
        assert document is not None
        assert document.text[citation.start : citation.end] == citation.text
        for attempt in (selfright.info, lambda: selfright.add(["."]), lambda: selfright.remove(["a"])):
            with pytest.raises(UsageError, match="LangChain retriever"):
                attempt()
    with pytest.raises(UsageError, match="give the one"):
        Selfright.open("index", retriever=RunnableLambda(lambda _question: found))


def test_beside_a_retriever_the_index_folder_is_left_alone(
    indexed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The setting ``index`` names one all the same, which nobody means then."""
    monkeypatch.setenv("SELFRIGHT_INDEX", str(indexed))
    with Selfright.open(retriever=RunnableLambda(lambda _question: [])) as selfright:
        for attempt in (
            *(selfright.compact, selfright.verify, selfright.reembed),
            *(lambda: selfright.verify(repair=True), lambda: selfright.export(tmp_path / "out")),
            lambda: selfright.sync([tmp_path]),
            lambda: selfright.describe_collection("default", "Ships."),
        ):
            with pytest.raises(UsageError, match="works on an index of Selfright's own only"):
                attempt()
        assert selfright.collections() == []


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


async def test_selfright_as_a_langchain_retriever(indexed: Path) -> None:
    with Selfright.open(indexed) as selfright:
        chain = selfright.as_retriever(k=2) | RunnableLambda(lambda found: [d.metadata["document_id"] for d in found])
        expected = [hit.passage.document_id for hit in selfright.search(QUESTION, 2)]
        assert chain.invoke(QUESTION) == expected
        assert await chain.ainvoke(QUESTION) == expected


def test_a_turn_as_a_langchain_runnable(indexed: Path, tmp_path: Path) -> None:
    with Selfright.open(indexed, home=tmp_path) as selfright:
        turn = selfright.as_runnable(preset="crag")
        chain = turn | RunnableLambda(lambda answer: (answer.answer, answer.preset))

        async def inside() -> list[Any]:
            return [chain.invoke(QUESTION), await chain.ainvoke(QUESTION), *await chain.abatch([QUESTION, QUESTION])]

        expected = (selfright.ask(QUESTION, preset="crag").answer, "crag")
        assert "Orla Keane" in expected[0]
        assert asyncio.run(inside()) == [expected] * 4
        assert list(chain.stream(QUESTION)) == [expected]
        assert turn.bind(preset="basic").invoke({"question": QUESTION, "preset": "full"}).preset == "basic"
        said = turn.invoke({"question": QUESTION, "preset": "full", "session": "s", "user": "ana"})
        assert (said.preset, len(selfright.turns("s", user="ana"))) == ("full", 1)


async def test_callbacks_hear_what_happens_in_a_turn(indexed: Path) -> None:
    with Selfright.open(indexed) as selfright:
        events: list[Any] = [one async for one in selfright.as_runnable().astream_events(QUESTION, version="v2")]
    told = [event for event in events if event["event"] == "on_custom_event"]
    assert {"NodeFinished", "VerdictReached", "AnswerToken"} <= {event["name"] for event in told}
    answer = events[-1]["data"]["output"]
    assert isinstance(answer, Answer)
    nodes = [event["data"].node for event in told if event["name"] == "NodeFinished"]
    assert nodes == [step.node for step in answer.trace]
    begun = [event["name"] for event in events if event["event"] == "on_chain_start"]
    assert [name for name in begun if name in nodes] == nodes  # LangGraph's own runs, nested in the chain's


def test_whoever_watches_with_langchain_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("LANGSMITH_", "LANGCHAIN_")):
            monkeypatch.delenv(name)
    assert not langchain_listens()

    class Listener(BaseCallbackHandler):
        pass

    asks = RunnableLambda(lambda _: langchain_listens())
    assert not asks.invoke("")
    assert asks.invoke("", {"callbacks": [Listener()]})
    ask = "from selfright.wiring.engine import langchain_listens; print(langchain_listens())"
    traced = {"LANGSMITH_TRACING": "true", "LANGSMITH_ENDPOINT": "http://127.0.0.1:9", "LANGSMITH_API_KEY": "none"}
    for more, expected in (({}, "False"), (traced, "True")):
        probe = [sys.executable, "-c", ask]
        done = subprocess.run(probe, capture_output=True, text=True, check=False, env={**os.environ, **more})
        assert done.stdout.strip() == expected, done.stderr


@pytest.mark.parametrize("given", [7, {"query": "?"}, {"question": 7}, " "])
def test_a_runnable_says_what_it_takes(given: Any, indexed: Path) -> None:
    with Selfright.open(indexed) as selfright:
        with pytest.raises(InputError, match="question"):
            selfright.as_runnable().invoke(given)
        with pytest.raises(UnknownName, match="option of a turn"):
            selfright.as_runnable().invoke({"question": QUESTION, "sesion": "s"})


@pytest.mark.parametrize("preset", list(PRESETS))
async def test_the_compiled_graph_runs_by_itself(preset: str, indexed: Path) -> None:
    with Selfright.open(indexed) as selfright:
        graph = selfright.graph(preset)
        assert graph.get_graph().draw_mermaid() == mermaid(preset)
        if preset == "llm":
            return  # needs a model
        expected = selfright.ask(QUESTION, preset=preset)
        arguments = selfright.graph_arguments(QUESTION, preset=preset)
        parts: list[Any] = [part async for part in graph.astream(**arguments, stream_mode=["values", "custom"])]
        state = await graph.ainvoke(**selfright.graph_arguments(QUESTION, preset=preset))
    assert (state["answer"], state["stop_reason"]) == (expected.answer, expected.stop_reason)
    assert [step.node for step in state["trace"]] == [step.node for step in expected.trace]
    assert [part for mode, part in parts if mode == "values"][-1]["answer"] == expected.answer


def test_the_graph_is_a_copy_and_refuses_what_it_cannot_keep(indexed: Path) -> None:
    with Selfright.open(indexed, preset="crag") as selfright:
        graph = selfright.graph()
        assert graph.name == "crag"
        graph.checkpointer = False
        assert selfright.graph().checkpointer is None
        with pytest.raises(UsageError, match="session"):
            selfright.graph_arguments(QUESTION, session="s")
        with pytest.raises(UsageError, match="record"):
            selfright.graph_arguments(QUESTION, record=True)
        with pytest.raises(UnknownName, match="preset"):
            selfright.graph("ful")
