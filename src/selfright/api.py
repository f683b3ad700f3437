"""``Selfright``: the public class. Everything runs on coroutines; ``ask``, ``search`` and the like are sync wrappers.

Long because: every public operation is a method here, and each only delegates.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack

from selfright.background import LoopThread
from selfright.domain.answers import Answer
from selfright.domain.errors import InputError, UsageError
from selfright.domain.events import TurnEvent, TurnFinished
from selfright.domain.flags import Flags
from selfright.domain.passages import Document, DocumentInfo, Hit, Language, Origin, Retrieval, StoreInfo
from selfright.domain.ports import BatchRetriever
from selfright.domain.ratings import LabelledRows, Rating
from selfright.domain.routing import Collection
from selfright.domain.scopes import Scope
from selfright.domain.several import several
from selfright.domain.slots import Fact, Profile, SlotKind
from selfright.domain.turns import DEFAULT_USER, Erased, TurnOptions
from selfright.settings import Settings, load_settings

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel
    from langchain_core.retrievers import RetrieverLike
    from langgraph.store.base import BaseStore

    from selfright.assembly.calibrating import Progress as CalibrationProgress
    from selfright.assembly.engine import Engine
    from selfright.assembly.overrides import Overrides
    from selfright.assembly.reembedding import ReembedReport
    from selfright.assembly.uploads import UploadReport
    from selfright.domain.examining import Examined, Judge
    from selfright.domain.ports import Embedder, PairJudge, ProfileStore
    from selfright.domain.traces import Replay, ReplayOptions, Trace
    from selfright.domain.upkeep import Finding
    from selfright.ingest.copying import CopyReport
    from selfright.ingest.exporting import ExportReport
    from selfright.ingest.importing import ImportReport
    from selfright.ingest.pipeline import Progress, Report
    from selfright.ingest.syncing import SyncKeywords
    from selfright.memory.conversation import Conversation, SessionInfo, TurnRecord
    from selfright.retrieval.stores.langchain import SelfrightRetriever
    from selfright.roles.calibration.claims import ClaimReport
    from selfright.roles.calibration.refit import CalibrationReport

MAX_QUESTION_CHARACTERS = 10_000


class Selfright:
    """A self-correcting chat over an index of your documents.

    >>> selfright = Selfright.open("my-index")        # doctest: +SKIP
    >>> selfright.add(["docs/"])                       # doctest: +SKIP
    >>> print(selfright.ask("How do I install it?").answer)  # doctest: +SKIP
    """

    def __init__(
        self,
        settings: Settings,
        given: "Overrides | None" = None,
    ) -> None:
        from selfright.assembly.engine import build_engine
        from selfright.assembly.ratings import RatingService
        from selfright.assembly.traces import TraceService
        from selfright.assembly.turns import TurnService

        self.settings = settings
        self._engine: Engine = build_engine(settings, given)
        self._traces = TraceService(self._engine)
        self._turns = TurnService(self._engine, self._traces)
        self._ratings = RatingService(self._engine)
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
        profiles: "BaseStore | ProfileStore | None" = None,
        passage_judge: "str | PairJudge | None" = None,
        claim_judge: "str | PairJudge | None" = None,
        **values: Any,
    ) -> Self:
        """Opens the index at ``path`` (default: the setting ``index``); ``values`` are settings and flags by name.

        ``llm`` is ``offline``, ``provider:model`` or a LangChain chat model; ``models`` the same for single jobs. The
        index is opened at its first use, and created by the first ``add``. ``profiles`` replaces the profile store in
        the home folder with a LangGraph store or a custom ``ProfileStore``. ``passage_judge`` and ``claim_judge`` are
        folders or hub names of models, or objects that implement ``PairJudge``. Raises ``UnknownName`` for an unknown
        setting, flag or preset, and ``MissingExtra`` for a provider whose package is not installed.
        """
        from selfright.assembly.overrides import Overrides

        if path is not None and retriever is not None:
            raise UsageError("an index folder and a retriever were given; give the one that is to be searched")
        named = {job: model for job, model in (models or {}).items() if isinstance(model, str)}
        objects = {job: model for job, model in (models or {}).items() if not isinstance(model, str)}
        judges = {"passage_judge": passage_judge, "claim_judge": claim_judge}
        judges_named = {name: judge for name, judge in judges.items() if isinstance(judge, str)}
        said = {"index": path, "llm": llm if isinstance(llm, str) else None, "models": named or None, **judges_named}
        settings = load_settings({**values, **{name: value for name, value in said.items() if value is not None}})
        handed = None if isinstance(llm, str) else llm
        own = [None if isinstance(judge, str) else judge for judge in judges.values()]
        return cls(settings, Overrides(retriever, embeddings, handed, objects, profiles, *own))

    def ask(self, question: str, **options: Unpack[TurnOptions]) -> Answer:
        """Answers a question, or refuses; ``options`` are those of ``TurnOptions``.

        Raises ``InputError`` for an empty or overlong question, ``IndexNotFound`` when there is no index, and
        ``SessionBusy`` while another turn of the same session runs.
        """
        return self._loop.run(self.aask(question, **options))

    async def aask(self, question: str, **options: Unpack[TurnOptions]) -> Answer:
        """``ask`` as a coroutine."""
        async for event in self._turns.stream(_checked(question), options, listen=False):
            if isinstance(event, TurnFinished):
                return event.answer
        raise RuntimeError("a turn ended without an answer")  # the graph always reaches finalize

    def examine(self, question: str, judge: "Judge" = "local", **options: Unpack[TurnOptions]) -> "Examined":
        """Runs a turn for evaluation: the answer, what each pass used, and an independent second judgement.

        Raises what ``ask`` raises, and ``UsageError`` for the judge ``model`` when no model is configured.
        """
        return self._loop.run(self.aexamine(question, judge, **options))

    async def aexamine(self, question: str, judge: "Judge" = "local", **options: Unpack[TurnOptions]) -> "Examined":
        """``examine`` as a coroutine."""
        from selfright.assembly.examining import examine

        return await examine(self._engine, _checked(question), options, judge)

    def flags(self, preset: str | None = None, given: Mapping[str, object] | None = None) -> Flags:
        """The flags of a turn: the preset's, overridden by the settings', overridden by the call's."""
        return self._engine.flags(preset, given or {})

    def stream(self, question: str, **options: Unpack[TurnOptions]) -> Iterator[TurnEvent]:
        """``astream`` for callers without an event loop."""
        return self._loop.iterate(self.astream(question, **options))

    async def astream(self, question: str, **options: Unpack[TurnOptions]) -> AsyncGenerator[TurnEvent, None]:
        """The events of a turn: nodes, verdicts, the answer's tokens, corrections; the last is ``TurnFinished``."""
        async with aclosing(self._turns.stream(_checked(question), options, listen=True)) as events:
            async for event in events:
                yield event

    def sessions(self, user: str | Scope = DEFAULT_USER) -> "tuple[SessionInfo, ...]":
        """The user's stored conversations, the most recently used first.

        Here and in all methods that show or delete stored turns, a ``Scope`` instead of a user excludes what was found
        outside its collections.
        """
        return self._loop.run(self.asessions(user))

    async def asessions(self, user: str | Scope = DEFAULT_USER) -> "tuple[SessionInfo, ...]":
        """``sessions`` as a coroutine."""
        return await (await self._turns.sessions()).list(user)

    def conversation(self, session: str, user: str | Scope = DEFAULT_USER) -> "Conversation":
        """The messages of a session, and the question that a crash left unanswered."""
        return self._loop.run(self.aconversation(session, user))

    async def aconversation(self, session: str, user: str | Scope = DEFAULT_USER) -> "Conversation":
        """``conversation`` as a coroutine."""
        return await (await self._turns.sessions()).conversation(user, session)

    def turns(self, session: str, user: str | Scope = DEFAULT_USER) -> "tuple[TurnRecord, ...]":
        """The stored finished turns of a session, oldest first."""
        return self._loop.run(self.aturns(session, user))

    async def aturns(self, session: str, user: str | Scope = DEFAULT_USER) -> "tuple[TurnRecord, ...]":
        """``turns`` as a coroutine."""
        return await (await self._turns.sessions()).records(user, session)

    def forget(self, session: str | None = None, user: str | Scope = DEFAULT_USER) -> int:
        """Deletes a session, or all sessions of the user; returns how many there were."""
        return self._loop.run(self.aforget(session, user))

    async def aforget(self, session: str | None = None, user: str | Scope = DEFAULT_USER) -> int:
        """``forget`` as a coroutine."""
        return await (await self._turns.sessions()).forget(user, session)

    def search(
        self,
        query: str,
        k: int = 10,
        collections: str | Sequence[str] = (),
        flags: Mapping[str, object] | None = None,
    ) -> tuple[Hit, ...]:
        """The ``k`` best passages for a query, best first; from all collections when none is named.

        ``flags`` override the settings'; only ``fusion`` and ``rrf_k`` have an effect here.
        """
        return self._loop.run(self.asearch(query, k, collections, flags))

    async def asearch(
        self,
        query: str,
        k: int = 10,
        collections: str | Sequence[str] = (),
        flags: Mapping[str, object] | None = None,
    ) -> tuple[Hit, ...]:
        """``search`` as a coroutine."""
        return (await self.aretrieve(query, k, collections, flags)).hits

    def retrieve(
        self,
        query: str,
        k: int = 10,
        collections: str | Sequence[str] = (),
        flags: Mapping[str, object] | None = None,
    ) -> Retrieval:
        """``search``, with ``trust``: whether words, meaning or both were used, even if nothing was found."""
        return self._loop.run(self.aretrieve(query, k, collections, flags))

    async def aretrieve(
        self,
        query: str,
        k: int = 10,
        collections: str | Sequence[str] = (),
        flags: Mapping[str, object] | None = None,
    ) -> Retrieval:
        """``retrieve`` as a coroutine."""
        if k < 1:
            raise InputError(f"k must be at least 1, but is {k}")
        index = self._engine.index
        searcher = index.searcher(self.settings.flags.with_values(flags or {}))
        return await searcher.search(_checked(query), k, index.named(collections))

    def search_many(
        self,
        queries: str | Sequence[str],
        k: int = 10,
        collections: str | Sequence[str] = (),
        flags: Mapping[str, object] | None = None,
    ) -> list[tuple[Hit, ...]]:
        """The hits of each query, in order; several queries run at the same time."""
        return self._loop.run(self.asearch_many(queries, k, collections, flags))

    async def asearch_many(
        self,
        queries: str | Sequence[str],
        k: int = 10,
        collections: str | Sequence[str] = (),
        flags: Mapping[str, object] | None = None,
    ) -> list[tuple[Hit, ...]]:
        """``search_many`` as a coroutine."""
        if k < 1:
            raise InputError(f"k must be at least 1, but is {k}")
        checked = [_checked(query) for query in several(queries)]
        index = self._engine.index
        searcher, named = index.searcher(self.settings.flags.with_values(flags or {})), index.named(collections)
        if isinstance(searcher, BatchRetriever):
            return [found.hits for found in await searcher.search_many(checked, k, named)]
        return [(await searcher.search(query, k, named)).hits for query in checked]

    def traces(self, limit: int = 50, user: str | Scope | None = None) -> "list[Trace]":
        """The stored traces of turns, newest first; with ``user``, only that user's."""
        return self._traces.traces(limit, Scope.of(user))

    def trace(self, trace_id: str, user: str | Scope | None = None) -> "Trace":
        """The trace of a turn, by its id or the beginning of it. Raises ``InputError`` when there is none."""
        return self._traces.trace(trace_id, Scope.of(user))

    def profile(self, user: str = DEFAULT_USER) -> Profile:
        """The current profile of a user: facts read from messages, and facts set by hand."""
        return self._loop.run(self.aprofile(user))

    async def aprofile(self, user: str = DEFAULT_USER) -> Profile:
        """``profile`` as a coroutine."""
        return await self._engine.profiles.profile(user)

    def profile_summary(self, user: str = DEFAULT_USER, language: Language = "en") -> str:
        """The profile in one line, as used in prompts."""
        return self._engine.pack.summary(self.profile(user), language)

    def set_profile(self, facts: Mapping[str, object], user: str = DEFAULT_USER) -> Profile:
        """Corrects a profile, ``{"age": 60, "conditions": ["gout"]}``: the values replace all current ones of a kind.

        An empty value removes them. Raises ``UnknownName`` for a kind that the pack does not have.
        """
        return self._loop.run(self.aset_profile(facts, user))

    async def aset_profile(self, facts: Mapping[str, object], user: str = DEFAULT_USER) -> Profile:
        """``set_profile`` as a coroutine."""
        from selfright.assembly.packs import corrected

        return await corrected(self._engine.profiles, self._engine.pack, user, facts)

    def forget_profile(self, user: str = DEFAULT_USER, name: str | None = None, value: str | None = None) -> int:
        """Erases a user's profile with its history, or one kind or value of it; returns the number of erased facts."""
        return self._loop.run(self.aforget_profile(user, name, value))

    async def aforget_profile(self, user: str = DEFAULT_USER, name: str | None = None, value: str | None = None) -> int:
        """``forget_profile`` as a coroutine."""
        return await self._engine.profiles.forget(user, name, value)

    def profile_history(self, user: str = DEFAULT_USER) -> tuple[Fact, ...]:
        """All stored facts of a user, oldest first: current, superseded and contradicted ones."""
        return self._loop.run(self.aprofile_history(user))

    async def aprofile_history(self, user: str = DEFAULT_USER) -> tuple[Fact, ...]:
        """``profile_history`` as a coroutine."""
        return await self._engine.profiles.history(user)

    def profile_kinds(self) -> tuple[SlotKind, ...]:
        """The pack's kinds of facts, in display order; empty without a pack."""
        return self._engine.pack.kinds

    def profile_users(self) -> tuple[str, ...]:
        """The names of the users with stored facts."""
        return self._loop.run(self._engine.profiles.users())

    def forget_traces(self, user: str | Scope | None = None, trace_id: str | None = None) -> int:
        """Deletes a user's traces, one trace, or all; returns how many there were."""
        return self._traces.forget(Scope.of(user), trace_id)

    def replay(self, trace_id: str, user: str | Scope | None = None, **options: Unpack["ReplayOptions"]) -> "Replay":
        """Replays a recorded turn with its recorded judge and model replies; ``options`` are ``ReplayOptions``.

        No model is called unless ``live``, and nothing is saved. Raises ``InputError`` for a trace without a recording,
        and ``UsageError`` for an invalid preset, flag or node.
        """
        return self._loop.run(self.areplay(trace_id, user, **options))

    async def areplay(
        self, trace_id: str, user: str | Scope | None = None, **options: Unpack["ReplayOptions"]
    ) -> "Replay":
        """``replay`` as a coroutine."""
        return await self._traces.replay(trace_id, options, Scope.of(user))

    def erase(self, user: str = DEFAULT_USER) -> Erased:
        """Erases all stored data of a user: conversations, unfinished turns, profile, traces, ratings.

        Raises ``SessionBusy`` while a turn of the user is running; everything else is erased in that case.
        """
        return self._loop.run(self.aerase(user))

    async def aerase(self, user: str = DEFAULT_USER) -> Erased:
        """``erase`` as a coroutine."""
        facts = await self.aforget_profile(user)
        traces = await asyncio.to_thread(self.forget_traces, user)
        ratings = await asyncio.to_thread(self._ratings.forget, user)
        return Erased(await self.aforget(None, user), facts, traces, ratings)

    def rate(
        self,
        trace_id: str,
        question: str,
        helpful: bool,
        places: Iterable[tuple[str, int, int]] = (),
        user: str | Scope = DEFAULT_USER,
    ) -> Rating:
        """Stores whether the answer of a turn helped; ``places`` (document id, start, end) are its evidence.

        Raises ``InputError`` for places that are not in the index, or are outside a ``Scope``.
        """
        return self._ratings.rate(trace_id, _checked(question), helpful, list(places), Scope.of(user))

    def unrate(self, trace_id: str, user: str = DEFAULT_USER) -> bool:
        """Deletes a rating; false if there was none."""
        return self._ratings.forget(user, trace_id) > 0

    def labelled(self, user: str | Scope | None = None) -> LabelledRows:
        """Ratings as rows for ``calibrate``, of one user or all; passages that have changed are left out."""
        return self._ratings.rows(Scope.of(user))

    def prepare(self) -> None:
        """Preloads index, tokenizer and judges for the first question. Raises ``IndexNotFound``."""
        self._loop.run(self.aprepare())

    async def areachable(self) -> None:
        """Checks that the ``database``, if one is set, responds. Raises ``StoreError``."""
        await self._turns.reachable()

    async def aprepare(self) -> None:
        """``prepare`` as a coroutine."""
        await asyncio.to_thread(self._engine.turn, None, {}, Scope(DEFAULT_USER))
        await self.asearch("ready?", 1)

    async def aexamples(
        self, language: Language = "en", collections: str | Sequence[str] = (), count: int = 3
    ) -> list[str]:
        """Example questions on the documents; those in ``language`` first."""
        from selfright.assembly.examples import example_questions

        scope = Scope(None, self._engine.index.named(collections) or None)
        return await example_questions(self._engine.index, scope, language, count)

    @property
    def has_model(self) -> bool:
        """Whether a language model writes the answers."""
        return self._engine.has_writer

    def urgent(self, text: str) -> str:
        """The pack's urgent advice for a message; empty for most messages."""
        from selfright.domain.text import language_of

        return self._engine.pack.urgent(text, language_of(text))

    def as_retriever(self, k: int = 10, collections: str | Sequence[str] = ()) -> "SelfrightRetriever":
        """The search as a LangChain retriever, for chains and ensembles."""
        from selfright.retrieval.stores.langchain import SelfrightRetriever

        return SelfrightRetriever(searcher=self, k=k, collections=several(collections))

    def add(
        self,
        paths: str | Path | Iterable[str | Path],
        *,
        collection: str = "default",
        origin: Origin = "index",
        progress: "Progress | None" = None,
        ray: str | None = None,
    ) -> "Report":
        """Adds files, folders or JSONL to the index, and creates it if needed. Unchanged files are skipped.

        ``origin`` sets the trust: documents by ``upload`` or from the ``web`` rank behind your own (``index``). ``ray``
        does the work on a cluster: ``local`` (this machine's cores), ``auto``, or ``host:port``.
        """
        return self._engine.index.add([Path(path) for path in several(paths)], collection, progress, ray, origin)

    def sync(
        self,
        paths: str | Path | Iterable[str | Path],
        *,
        progress: "Progress | None" = None,
        **options: Unpack["SyncKeywords"],
    ) -> "Report":
        """Syncs the index with folders: adds and replaces like ``add``, and removes documents whose files are gone.

        ``options`` are those of ``SyncOptions``; ``dry_run=True`` only reports. Raises ``InputError`` for a missing
        folder, or an empty one that the index has documents from.
        """
        from selfright.ingest.syncing import SyncOptions

        return self._engine.index.sync([Path(path) for path in several(paths)], SyncOptions(**options), progress)

    def take_in(
        self, path: str | Path, name: str, *, collection: str = "default", apart: bool = False
    ) -> "UploadReport":
        """Adds one uploaded file under ``name``; documents of other collections are never replaced.

        With ``apart`` the document is named ``collection/name``, so names reveal nothing about other collections. The
        file is not needed afterwards. Raises ``UnreadableFile``.
        """
        return self._engine.index.take_in(Path(path), _readable(name), _readable(collection), apart)

    def collections(self) -> list[Collection]:
        """The collections of the index with their descriptions, ordered by name."""
        return self._engine.index.collections()

    def describe_collection(
        self, name: str, description: str, *, classes: str | Sequence[str] = (), slots: str | Sequence[str] = ()
    ) -> Collection:
        """Describes a collection for routing questions to it; replaces the previous description.

        Raises ``UnknownName`` for an unknown query class, and ``InputError`` for a text that is too long.
        """
        return self._engine.index.describe(
            Collection.described(_readable(name), _readable(description), several(classes), several(slots))
        )

    def import_corpus(
        self,
        corpus: str | Path,
        faiss: str | Path | None = None,
        meta: str | Path | None = None,
        *,
        collection: str | None = None,
        progress: "Progress | None" = None,
    ) -> "ImportReport":
        """Imports an index made elsewhere, JSON Lines and FAISS vectors, atomically. The vectors are used unchanged.

        ``meta`` names the row of each vector, line by line; without ``faiss`` the texts are embedded here.
        """
        vectors, lines = Path(faiss) if faiss else None, Path(meta) if meta else None
        return self._engine.index.import_corpus(Path(corpus), vectors, lines, collection, progress)

    def export(
        self,
        folder: str | Path,
        *,
        passages: bool = False,
        vectors: bool = False,
        force: bool = False,
        progress: "Progress | None" = None,
    ) -> "ExportReport":
        """Writes the documents (or passages) as BEIR's ``corpus.jsonl`` into a new or empty folder."""
        return self._engine.index.export(
            Path(folder), passages=passages, vectors=vectors, force=force, progress=progress
        )

    def copy_index(self, to: str | Path, *, into: bool = False, progress: "Progress | None" = None) -> "CopyReport":
        """Copies the index to another folder or server address without embedding, and compares the two.

        The same call resumes an interrupted copy, and later updates it. Raises ``NotAnIndex`` if the target holds
        something else (``into`` adds to it instead), and ``StoreError`` if the two differ at the end.
        """
        return self._engine.index.copy(str(to), into=into, progress=progress)

    def reembed(self, to: str | Path | None = None, *, progress: "Progress | None" = None) -> "ReembedReport":
        """Embeds every passage again with the configured embedder; everything else stays.

        In a folder, the new vectors replace the old ones in one step. ``to`` builds an index in another place instead,
        and is required for an index on a server. The same call resumes an interrupted run. Raises ``UsageError`` if
        ``to`` is missing or there is no embedder, and ``StoreError`` when a disk is full.
        """
        return self._engine.reembed(None if to is None else str(to), progress)

    def calibrate(
        self, labelled: str | Path, *, risk: float = 0.1, progress: "CalibrationProgress | None" = None
    ) -> "tuple[CalibrationReport | ClaimReport, Path]":
        """Fits the grader to labelled pairs, rows ``{"question", "passage", "label": 0|1}``, and stores the result.

        Rows with ``claim`` instead of ``question`` fit the evaluator. Returns the figures and the file. ``risk`` is the
        allowed share of wrong verdicts among those called correct. Raises ``InputError`` for a bad row, with its line,
        and for too few rows.
        """
        return self._engine.calibrate(Path(labelled), risk, progress)

    @property
    def judges(self) -> dict[str, str]:
        """What judging uses besides the shipped weights: custom judges by name, calibrations by date."""
        return self._engine.judges

    def remove(self, document_ids: str | Sequence[str]) -> list[str]:
        """Removes documents; returns the ids that existed."""
        return self._engine.index.remove(several(document_ids))

    def document(self, document_id: str) -> Document | None:
        """A stored document with its text, or None."""
        return self._engine.index.library().document(document_id)

    def documents(self) -> list[DocumentInfo]:
        """All documents, ordered by id."""
        return list(self._engine.index.library().documents())

    def document_page(
        self, after: str = "", limit: int = 100, collections: Sequence[str] = (), named: str = ""
    ) -> list[DocumentInfo]:
        """At most ``limit`` documents with an id greater than ``after``, ordered by id, from the named collections.

        With ``named``, only those whose title or id contains it, ignoring case.
        """
        part = named.strip().casefold()
        listed = self._engine.index.library().documents(after, collections)
        wanted = (one for one in listed if part in one.title.casefold() or part in one.id.casefold())
        return list(islice(wanted if part else listed, limit))

    def info(self) -> StoreInfo:
        """Sizes, tokenizer and embedder of the index."""
        return self._engine.index.library().info()

    def verify(self, *, repair: bool = False) -> "list[Finding]":
        """Checks every record, vector and file of the index; ``repair`` fixes what can be fixed."""
        return self._engine.index.verify(repair=repair)

    def compact(self) -> None:
        """Frees the space of replaced and removed documents, and rebuilds the search indexes."""
        self._engine.index.compact()

    async def aclose(self) -> None:
        """Closes the sessions of the running event loop, then everything else."""
        await self._turns.close()
        self.close()

    def close(self) -> None:
        """Closes the index; the object cannot be used afterwards."""
        if self._loop.started:
            self._loop.run(self._turns.close())
        self._loop.close()
        self._traces.close()
        self._ratings.close()
        self._engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def mermaid(preset: str) -> str:
    """The graph of a preset as Mermaid text, drawn from the compiled graph."""
    from selfright.flow.compile import mermaid as draw
    from selfright.flow.presets import find_preset

    return draw(find_preset(preset))


def _checked(question: str) -> str:
    # Places of facts are counted in the message, and the same message has to be the same question.
    question = _readable(question).strip()
    if not question:
        raise InputError("the question is empty; ask something, for example: selfright ask 'What is this about?'")
    if len(question) > MAX_QUESTION_CHARACTERS:
        raise InputError(
            f"the question has {len(question):,} characters; at most {MAX_QUESTION_CHARACTERS:,} are taken. "
            "Put long text into a document and add it to the index"
        )
    return question


def _readable(text: str) -> str:
    """Restores text that Python, without a UTF-8 locale, passed from the command line as lone surrogates."""
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode("utf-8")
