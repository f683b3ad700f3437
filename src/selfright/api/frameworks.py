"""``Selfright`` as parts of LangChain and LangGraph: the retriever, the turn as a runnable, the compiled graph."""

from collections.abc import AsyncGenerator, Sequence
from typing import TYPE_CHECKING, Unpack

from selfright.background import LoopThread
from selfright.domain.events import TurnEvent
from selfright.domain.text import several
from selfright.domain.turns import TurnOptions, check_question

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableLambda

    from selfright.domain.answers import Answer
    from selfright.flow.compile import Graph
    from selfright.retrieval.stores.langchain import SelfrightRetriever
    from selfright.wiring.engine import Engine
    from selfright.wiring.turns import GraphArguments, TurnInput, TurnService


class FrameworkMethods:
    """What other frameworks can use of it."""

    _engine: "Engine"
    _loop: LoopThread
    _turns: "TurnService"

    def as_retriever(self, k: int = 10, collections: str | Sequence[str] = ()) -> "SelfrightRetriever":
        """The search as a LangChain retriever, for chains and ensembles."""
        from selfright.retrieval.stores.langchain import SelfrightRetriever

        return SelfrightRetriever(searcher=self, k=k, collections=several(collections))

    def as_runnable(self, **options: Unpack[TurnOptions]) -> "RunnableLambda[TurnInput, Answer]":
        """A whole turn as a LangChain runnable: a question, or a mapping with ``question`` and options → ``Answer``.

        ``options`` hold for every call; those of a mapping override them. Callbacks get the turn's events as custom
        events. It raises what ``ask`` raises, and ``InputError`` for any other input.
        """
        from selfright.wiring.turns import turn_runnable

        def events(question: str, given: TurnOptions) -> AsyncGenerator[TurnEvent, None]:
            return self._turns.stream(check_question(question), given, listen=True)

        return turn_runnable(events, self._loop, options)

    def graph(self, preset: str | None = None) -> "Graph":
        """The compiled LangGraph graph of a preset (default: the setting ``preset``); run it with ``graph_arguments``.

        Raises ``UnknownName``.
        """
        return self._engine.graph(preset)

    def graph_arguments(self, question: str, **options: Unpack[TurnOptions]) -> "GraphArguments":
        """What a preset's graph runs with: ``await graph.ainvoke(**selfright.graph_arguments(text, preset=name))``.

        Each run needs new ones: they hold the turn's budget. Raises ``UsageError`` for the options ``session`` and
        ``record``, because no session and no trace of such a run is stored.
        """
        return self._turns.graph_arguments(check_question(question), options)
