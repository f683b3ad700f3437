"""``Selfright``: the public class. Everything runs on coroutines; ``ask``, ``search`` and the like wrap them."""

import asyncio
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Never, Self, Unpack

from selfright.api.documents import DocumentMethods
from selfright.api.user_data import UserDataMethods
from selfright.background import CLOSED, LoopThread, blocking
from selfright.domain.answers import Answer
from selfright.domain.chat import Job
from selfright.domain.errors import InputError, UsageError
from selfright.domain.events import TurnEvent
from selfright.domain.flags import Flags
from selfright.domain.passages import Hit, Retrieval
from selfright.domain.text import language_of, several
from selfright.domain.turns import DEFAULT_USER, Scope, TurnOptions, check_question
from selfright.flow.presets import find_preset
from selfright.settings import Settings, load_settings

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel
    from langchain_core.retrievers import RetrieverLike
    from langchain_core.runnables import RunnableLambda

    from selfright.domain.ports import Embedder, ProfileStore
    from selfright.domain.traces import Examination, Judge
    from selfright.flow.compile import Graph
    from selfright.retrieval.stores.langchain import SelfrightRetriever
    from selfright.roles.calibration.refit import CalibrationReport
    from selfright.wiring.calibrating import Accept
    from selfright.wiring.calibrating import Progress as CalibrationProgress
    from selfright.wiring.open_index import Overrides
    from selfright.wiring.turns import GraphArguments, TurnInput


class Selfright(DocumentMethods, UserDataMethods):
    """A self-correcting chat over an index of your documents.

    >>> selfright = Selfright.open("my-index")        # doctest: +SKIP
    >>> selfright.add(["docs/"])                       # doctest: +SKIP
    >>> print(selfright.ask("How do I install it?").answer)  # doctest: +SKIP
    """

    def __init__(self, settings: Settings, given: "Overrides | None" = None) -> None:
        from selfright.wiring.engine import Engine
        from selfright.wiring.traces import TraceService
        from selfright.wiring.turns import TurnService

        self.settings = settings
        self._engine = Engine(settings, given)
        self._traces = TraceService(self._engine)
        self._turns = TurnService(self._engine, self._traces)
        self._loop = LoopThread()

    @classmethod
    def open(
        cls,
        path: str | Path | None = None,
        *,
        retriever: "RetrieverLike | None" = None,
        embeddings: "Embeddings | Embedder | None" = None,
        llm: "str | BaseChatModel | None" = None,
        models: "Mapping[str, str | BaseChatModel] | None" = None,
        profiles: "ProfileStore | None" = None,
        **values: Any,
    ) -> Self:
        """Opens the index at ``path`` (default: the setting ``index``); ``values`` are settings and flags by name.

        ``llm`` is ``offline``, ``provider:model`` or a LangChain chat model; ``models`` the same for single jobs. The
        index is opened at its first use, and created by the first ``add``. ``profiles`` replaces the profile store in
        the home folder. Raises ``UnknownName`` for an unknown setting, flag or preset, and ``MissingExtra`` for a
        provider whose package is not installed.
        """
        from selfright.wiring.open_index import Overrides

        if path is not None and retriever is not None:
            raise UsageError("an index folder and a retriever were given; give the one that is to be searched")
        named = {job: model for job, model in (models or {}).items() if isinstance(model, str)}
        objects = {job: model for job, model in (models or {}).items() if not isinstance(model, str)}
        said = {"index": path, "llm": llm if isinstance(llm, str) else None, "models": named or None}
        settings = load_settings({**values, **{name: value for name, value in said.items() if value is not None}})
        handed = None if isinstance(llm, str) else llm
        return cls(settings, Overrides(retriever, embeddings, handed, objects, profiles))

    async def aask(self, question: str, **options: Unpack[TurnOptions]) -> Answer:
        """Answers a question, or refuses; ``options`` are those of ``TurnOptions``.

        Raises ``InputError`` for an empty or overlong question, ``IndexNotFound`` when there is no index, and
        ``SessionBusy`` while another turn of the same session runs.
        """
        return await self._turns.ask(check_question(question), options)

    ask = blocking(aask)

    async def aexamine(self, question: str, judge: "Judge" = "local", **options: Unpack[TurnOptions]) -> "Examination":
        """Runs a turn for evaluation: the answer, what each pass used, and an independent second judgement.

        Raises what ``ask`` raises, and ``UsageError`` for the judge ``model`` when no model is configured.
        """
        from selfright.wiring.examination import examine

        return await examine(self._engine, check_question(question), options, judge)

    examine = blocking(aexamine)

    def flags(self, preset: str | None = None, given: Mapping[str, object] | None = None) -> Flags:
        """The flags of a turn: the preset's, overridden by the settings', overridden by the call's."""
        return self._engine.flags(find_preset(preset or self.settings.preset), given or {})

    def stream(self, question: str, **options: Unpack[TurnOptions]) -> Generator[TurnEvent, None, None]:
        """``astream`` for callers without an event loop."""
        return self._loop.iterate(self.astream(question, **options))

    def astream(self, question: str, **options: Unpack[TurnOptions]) -> AsyncGenerator[TurnEvent, None]:
        """The events of a turn: nodes, verdicts, the answer's tokens, corrections; the last is ``TurnFinished``."""
        return self._turns.stream(check_question(question), options, listen=True)

    async def asearch(
        self,
        query: str,
        k: int = 10,
        collections: str | Sequence[str] = (),
        flags: Mapping[str, object] | None = None,
    ) -> tuple[Hit, ...]:
        """The ``k`` best passages for a query, best first; from all collections when none is named.

        ``flags`` override the settings'; only ``fusion`` and ``rrf_k`` have an effect here.
        """
        return (await self.aretrieve(query, k, collections, flags)).hits

    search = blocking(asearch)

    async def aretrieve(
        self,
        query: str,
        k: int = 10,
        collections: str | Sequence[str] = (),
        flags: Mapping[str, object] | None = None,
    ) -> Retrieval:
        """``search``, with ``trust``: whether words, meaning or both were used, even if nothing was found."""
        if k < 1:
            raise InputError(f"k must be at least 1, but is {k}")
        index = self._engine.index
        searcher = index.searcher(self.settings.flags.with_values(flags or {}))
        return await searcher.search(check_question(query), k, index.check_collections(collections))

    retrieve = blocking(aretrieve)

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

    async def areachable(self) -> None:
        """Checks that the ``database``, if one is set, responds. Raises ``StoreError``."""
        if self._engine.database is not None:
            await self._engine.database.run(lambda connection: connection.execute("SELECT 1"))

    async def aprepare(self) -> None:
        """Preloads index, tokenizer and judges for the first question. Raises ``IndexNotFound``."""
        preset, flags = find_preset(self.settings.preset), self.flags()
        await asyncio.to_thread(self._engine.turn, preset, flags, Scope(DEFAULT_USER))
        await self.asearch("ready?", 1)

    prepare = blocking(aprepare)

    @property
    def has_model(self) -> bool:
        """Whether a language model writes the answers."""
        return Job.ANSWER in self._engine.models.jobs

    def urgent(self, text: str) -> str:
        """The pack's urgent advice for a message; empty for most messages."""
        return self._engine.pack.urgent(text, language_of(text))

    def calibrate(
        self,
        labelled: str | Path,
        *,
        risk: float = 0.1,
        progress: "CalibrationProgress | None" = None,
        accept: "Accept" = False,
    ) -> "tuple[CalibrationReport, Path | None]":
        """Fits the grader to labelled pairs, rows ``{"question", "passage", "label": 0|1}``, and stores the result.

        Returns the figures and the file. ``risk`` is the allowed share of wrong verdicts among those called correct. A
        calibration that makes judging worse, or gives every question the same verdict, is not stored, and the file is
        None, unless ``accept`` is true or, called with the reasons, returns true. Raises ``InputError`` for a bad row,
        with its line, and for too few rows.
        """
        return self._engine.judging.calibrate(Path(labelled), risk, progress, accept)

    @property
    def judges(self) -> dict[str, str]:
        """What judging uses besides the shipped weights: custom judges by name, calibrations by date."""
        return self._engine.judging.facts()

    async def aclose(self) -> None:
        """Closes the sessions of the running event loop, then everything else."""
        if not isinstance(self._engine, _Closed):
            await self._turns.close()
        self.close()

    def close(self) -> None:
        """Closes the index; the object cannot be used afterwards, which every method then says (``UsageError``)."""
        if isinstance(self._engine, _Closed):
            return
        if self._loop.started:
            self._loop.run(self._turns.close())
        self._loop.close()
        self._traces.close()
        self._engine.close()
        # What is opened at its first use would open itself again.
        closed: Any = _Closed()
        self._engine = self._traces = self._turns = closed

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


class _Closed:
    """Stands in for the parts of a closed ``Selfright``."""

    def __getattr__(self, name: str) -> Never:
        raise UsageError(CLOSED)


def mermaid(preset: str) -> str:
    """The graph of a preset as Mermaid text, drawn from the compiled graph."""
    from selfright.flow.compile import mermaid as draw

    return draw(find_preset(preset))
