"""The corrective graph of the public tutorial that this project started from, built as it is listed there.

Retrieve four passages, one call that grades them all together, one call for each passage that condenses it, one call
that answers: six calls, each waiting for the one before. Its vector store is replaced by a retriever that is handed
over, and its web search by a function: neither is what is measured, and neither costs it a network call here.
"""

from collections.abc import Callable
from typing import Any, Literal, TypedDict

from langchain_core.documents import Document
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, StateGraph
from pydantic import SecretStr

GRADES_ALL = "Judge the search as a whole"
_GRADE = GRADES_ALL + " against the question. Say one word: correct, incorrect or ambiguous."
_CONDENSE = "Keep only what this document says on the question, and leave out the rest."
_ANSWER = "Use this context to answer the question.\n\n{context}"

Grade = Literal["correct", "incorrect", "ambiguous"]
Search = Callable[[str], list[Document]]


class State(TypedDict, total=False):
    """What the nodes hand on."""

    question: str
    documents: list[Document]
    web_results: list[Document]
    grade: str
    generation: str


def tutorial_graph(base_url: str, retriever: BaseRetriever, web: Search = lambda _question: []) -> Any:
    """The compiled graph over the model at ``base_url``; ``invoke({"question": …})["generation"]`` is the answer."""
    model = ChatOpenAI(model="scripted", base_url=base_url, api_key=SecretStr("none"), temperature=0)
    nodes = _Nodes(model, retriever, web)
    graph = StateGraph(State)
    for name in ("retrieve", "grade_documents", "knowledge_refinement", "web_search", "generate"):
        graph.add_node(name, getattr(nodes, name))
    graph.add_edge(START, "retrieve")
    graph.add_edge("retrieve", "grade_documents")
    graph.add_conditional_edges(
        "grade_documents",
        _by_grade,
        {"correct": "knowledge_refinement", "incorrect": "web_search", "ambiguous": "knowledge_refinement"},
    )
    graph.add_edge("knowledge_refinement", "generate")
    graph.add_edge("web_search", "generate")
    graph.add_edge("generate", END)
    return graph.compile()


def _by_grade(state: State) -> Grade:
    grade = state.get("grade", "incorrect")
    return grade if grade in ("correct", "ambiguous") else "incorrect"  # type: ignore[return-value]


class _Nodes:
    def __init__(self, model: ChatOpenAI, retriever: BaseRetriever, web: Search) -> None:
        self._retriever, self._web = retriever, web
        self._grader = _chain(model, _GRADE, "Question: {question}\n\nFound:\n{documents}")
        self._condenser = _chain(model, _CONDENSE, "Question: {question}\n\nDocument: {document}")
        self._writer = _chain(model, _ANSWER, "{question}")

    def retrieve(self, state: State) -> State:
        return {"documents": self._retriever.invoke(state["question"])}

    def grade_documents(self, state: State) -> State:
        texts = "\n---\n".join(document.page_content for document in state["documents"])
        said = self._grader.invoke({"question": state["question"], "documents": texts})
        return {"grade": said.strip().lower()}

    def knowledge_refinement(self, state: State) -> State:
        kept = []
        for document in state["documents"]:
            said = self._condenser.invoke({"question": state["question"], "document": document.page_content})
            if said.strip():
                kept.append(Document(page_content=said, metadata=document.metadata))
        return {"documents": kept}

    def web_search(self, state: State) -> State:
        return {"web_results": self._web(state["question"])}

    def generate(self, state: State) -> State:
        documents = state.get("documents", []) + state.get("web_results", [])
        context = "\n\n".join(document.page_content for document in documents)
        return {"generation": self._writer.invoke({"context": context, "question": state["question"]})}


def _chain(model: ChatOpenAI, system: str, human: str) -> Any:
    return ChatPromptTemplate.from_messages([("system", system), ("human", human)]) | model | StrOutputParser()
