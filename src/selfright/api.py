"""``Selfright``: the one object that users hold. All runs on coroutines; ``ask`` and ``search`` are the sync door."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from selfright.background import LoopThread
from selfright.domain.answers import Answer, Message, TurnEvent, TurnFinished
from selfright.domain.errors import InputError, UsageError
from selfright.domain.passages import Document, DocumentInfo, Hit, StoreInfo
from selfright.domain.routing import Collection
from selfright.domain.slots import Profile
from selfright.settings import Settings, load_settings

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.retrievers import RetrieverLike

    from selfright.assembly.engine import Engine
    from selfright.domain.ports import Embedder
    from selfright.domain.upkeep import Finding
    from selfright.ingest.exporting import ExportReport
    from selfright.ingest.importing import ImportReport
    from selfright.ingest.pipeline import Progress, Report
    from selfright.retrieval.stores.langchain import SelfrightRetriever

MAX_QUESTION_CHARACTERS = 10_000


class Selfright:
    """A self-correcting chat over an index of one's own documents.

    >>> selfright = Selfright.open("my-index")        # doctest: +SKIP
    >>> selfright.add(["docs/"])                       # doctest: +SKIP
    >>> print(selfright.ask("How do I install it?").answer)  # doctest: +SKIP
    """

    def __init__(
        self,
        settings: Settings,
        *,
        retriever: "RetrieverLike | None" = None,
        embeddings: "Embeddings | Embedder | None" = None,
    ) -> None:
        from selfright.assembly.engine import build_engine
        from selfright.assembly.index import Given

        self.settings = settings
        self._engine: Engine = build_engine(settings, Given(retriever, embeddings))
        self._loop = LoopThread()

    @classmethod
    def open(
        cls,
        path: str | Path | None = None,
        *,
        retriever: "RetrieverLike | None" = None,
        embeddings: "Embeddings | Embedder | None" = None,
        **values: Any,
    ) -> Self:
        """Opens the index at ``path`` (default: the setting ``index``); ``values`` are settings and flags by name.

        The index itself is opened when it is first used, and made by the first ``add``. Raises ``UnknownName`` for a
        name that is no setting, flag or preset.
        """
        settings = load_settings({**values, **({"index": path} if path is not None else {})})
        if path is not None and retriever is not None:
            raise UsageError("an index folder and a retriever were given; give the one that is to be searched")
        return cls(settings, retriever=retriever, embeddings=embeddings)

    def ask(
        self,
        question: str,
        *,
        preset: str | None = None,
        flags: Mapping[str, object] | None = None,
        history: Sequence[Message | Mapping[str, str]] = (),
        profile: Mapping[str, object] | None = None,
        collections: Sequence[str] = (),
    ) -> Answer:
        """Answers a question, or says plainly that it cannot.

        Raises ``InputError`` for an empty or overlong question and ``IndexNotFound`` when there is no index.
        """
        return self._loop.run(
            self.aask(question, preset=preset, flags=flags, history=history, profile=profile, collections=collections)
        )

    async def aask(
        self,
        question: str,
        *,
        preset: str | None = None,
        flags: Mapping[str, object] | None = None,
        history: Sequence[Message | Mapping[str, str]] = (),
        profile: Mapping[str, object] | None = None,
        collections: Sequence[str] = (),
    ) -> Answer:
        """``ask`` as a coroutine."""
        async for event in self.astream(
            question, preset=preset, flags=flags, history=history, profile=profile, collections=collections
        ):
            if isinstance(event, TurnFinished):
                return event.answer
        raise RuntimeError("a turn ended without an answer")  # the graph always reaches finalize

    async def astream(
        self,
        question: str,
        *,
        preset: str | None = None,
        flags: Mapping[str, object] | None = None,
        history: Sequence[Message | Mapping[str, str]] = (),
        profile: Mapping[str, object] | None = None,
        collections: Sequence[str] = (),
    ) -> AsyncIterator[TurnEvent]:
        """The turn as it happens: ``NodeFinished`` for each node, ``TurnFinished`` with the answer at the end."""
        from selfright.flow.run import run

        turn = self._engine.turn(preset or self.settings.preset, flags or {})
        start = {
            "user_text": _checked(question),
            "mode": turn.preset.mode,
            "messages": tuple(_message(message) for message in history),
            "user": "local",
            "given_profile": Profile.of(profile or {}),
            "given_collections": self._engine.index.named(collections),
            "iteration_count": 0,
            "retry_count": 0,
        }
        async for event in run(turn, start):
            yield event

    def search(self, query: str, k: int = 10, collections: Sequence[str] = ()) -> tuple[Hit, ...]:
        """The ``k`` best passages for a query, best first; from all collections when none is named."""
        return self._loop.run(self.asearch(query, k, collections))

    async def asearch(self, query: str, k: int = 10, collections: Sequence[str] = ()) -> tuple[Hit, ...]:
        """``search`` as a coroutine."""
        if k < 1:
            raise InputError(f"k must be at least 1, but is {k}")
        return (
            await self._engine.index.retriever().search(_checked(query), k, self._engine.index.named(collections))
        ).hits

    def as_retriever(self, k: int = 10, collections: Sequence[str] = ()) -> "SelfrightRetriever":
        """The search as a LangChain retriever, for chains and ensembles."""
        from selfright.retrieval.stores.langchain import SelfrightRetriever

        return SelfrightRetriever(searcher=self, k=k, collections=tuple(collections))

    def add(
        self,
        paths: Iterable[str | Path],
        *,
        collection: str = "default",
        progress: "Progress | None" = None,
    ) -> "Report":
        """Adds files, folders or JSONL to the index, which is made when there is none. Unchanged files are skipped."""
        return self._engine.index.add([Path(path) for path in paths], collection, progress)

    def collections(self) -> list[Collection]:
        """The named parts of the index with what is said of them, ordered by name."""
        return self._engine.index.collections()

    def describe_collection(
        self, name: str, description: str, *, classes: Sequence[str] = (), slots: Sequence[str] = ()
    ) -> Collection:
        """Says what a collection holds, so that fitting questions are sent to it; replaces what was said before.

        Raises ``UnknownName`` for a query class that there is not, ``InputError`` for too long a text.
        """
        return self._engine.index.describe(
            Collection.described(_readable(name), _readable(description), classes, slots)
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
        """Takes in an index made elsewhere: JSON Lines, and its FAISS vectors as they are. All of it, or nothing.

        ``meta`` says line by line which row each vector is of; without ``faiss`` the texts are embedded here.
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

    def remove(self, document_ids: Sequence[str]) -> list[str]:
        """Removes documents; gives back the ids that were there."""
        return self._engine.index.remove(document_ids)

    def document(self, document_id: str) -> Document | None:
        """A stored document with its text, or None."""
        return self._engine.index.library().document(document_id)

    def documents(self) -> list[DocumentInfo]:
        """All documents, ordered by id."""
        return list(self._engine.index.library().documents())

    def info(self) -> StoreInfo:
        """The index in figures."""
        return self._engine.index.library().info()

    def verify(self, *, repair: bool = False) -> "list[Finding]":
        """Reads and checks every record, vector and file of the index; with ``repair`` puts right what can be."""
        return self._engine.index.verify(repair=repair)

    def compact(self) -> None:
        """Frees the space of replaced and removed documents and makes the search indexes anew."""
        self._engine.index.compact()

    def close(self) -> None:
        """Closes the index; using the object afterwards is an error."""
        self._loop.close()
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
    question = _readable(question)
    if not question.strip():
        raise InputError("the question is empty; ask something, for example: selfright ask 'What is this about?'")
    if len(question) > MAX_QUESTION_CHARACTERS:
        raise InputError(
            f"the question has {len(question):,} characters; at most {MAX_QUESTION_CHARACTERS:,} are taken. "
            "Put long text into a document and add it to the index"
        )
    return question


def _readable(text: str) -> str:
    """Text again where Python, for want of a UTF-8 locale, handed bytes of the command line on as lone surrogates."""
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode("utf-8")


def _message(message: Message | Mapping[str, str]) -> Message:
    if isinstance(message, Message):
        return message
    try:
        return Message(message["role"], message["content"])
    except (KeyError, TypeError):
        raise InputError("a message of the history needs 'role' and 'content'") from None
