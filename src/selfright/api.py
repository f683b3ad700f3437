"""``Selfright``: the one object that users hold. All runs on coroutines; ``ask`` and ``search`` are the sync door."""

import asyncio
import threading
from collections.abc import AsyncIterator, Coroutine, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from selfright.domain.answers import Answer, Message, TurnEvent, TurnFinished
from selfright.domain.errors import InputError
from selfright.domain.passages import Document, DocumentInfo, Hit, StoreInfo
from selfright.domain.slots import Profile
from selfright.settings import Settings, load_settings

if TYPE_CHECKING:
    from selfright.assembly import Engine
    from selfright.ingest.pipeline import Progress, Report

MAX_QUESTION_CHARACTERS = 10_000

T = TypeVar("T")


class Selfright:
    """A self-correcting chat over an index of one's own documents.

    >>> selfright = Selfright.open("my-index")        # doctest: +SKIP
    >>> selfright.add(["docs/"])                       # doctest: +SKIP
    >>> print(selfright.ask("How do I install it?").answer)  # doctest: +SKIP
    """

    def __init__(self, settings: Settings) -> None:
        from selfright.assembly import build_engine

        self.settings = settings
        self._engine: Engine = build_engine(settings)
        self._loop = _LoopThread()

    @classmethod
    def open(cls, path: str | Path | None = None, **values: Any) -> Self:
        """Opens the index at ``path`` (default: the setting ``index``); ``values`` are settings and flags by name.

        The index itself is opened when it is first used, and made by the first ``add``. Raises ``UnknownName`` for a
        name that is no setting, flag or preset.
        """
        settings = load_settings({**values, **({"index": path} if path is not None else {})})
        return cls(settings)

    def ask(
        self,
        question: str,
        *,
        preset: str | None = None,
        flags: Mapping[str, object] | None = None,
        history: Sequence[Message | Mapping[str, str]] = (),
        profile: Mapping[str, object] | None = None,
    ) -> Answer:
        """Answers a question, or says plainly that it cannot.

        Raises ``InputError`` for an empty or overlong question and ``IndexNotFound`` when there is no index.
        """
        return self._loop.run(self.aask(question, preset=preset, flags=flags, history=history, profile=profile))

    async def aask(
        self,
        question: str,
        *,
        preset: str | None = None,
        flags: Mapping[str, object] | None = None,
        history: Sequence[Message | Mapping[str, str]] = (),
        profile: Mapping[str, object] | None = None,
    ) -> Answer:
        """``ask`` as a coroutine."""
        async for event in self.astream(question, preset=preset, flags=flags, history=history, profile=profile):
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
            "iteration_count": 0,
            "retry_count": 0,
        }
        async for event in run(turn, start):
            yield event

    def search(self, query: str, k: int = 10) -> tuple[Hit, ...]:
        """The ``k`` best passages for a query, best first."""
        if k < 1:
            raise InputError(f"k must be at least 1, but is {k}")
        return self._loop.run(self._engine.retriever().search(_checked(query), k)).hits

    def add(
        self,
        paths: Iterable[str | Path],
        *,
        collection: str = "default",
        progress: "Progress | None" = None,
    ) -> "Report":
        """Adds files, folders or JSONL to the index, which is made when there is none. Unchanged files are skipped."""
        return self._engine.add([Path(path) for path in paths], collection, progress)

    def remove(self, document_ids: Sequence[str]) -> list[str]:
        """Removes documents; gives back the ids that were there."""
        return self._engine.remove(document_ids)

    def document(self, document_id: str) -> Document | None:
        """A stored document with its text, or None."""
        return self._engine.library().document(document_id)

    def documents(self) -> list[DocumentInfo]:
        """All documents, ordered by id."""
        return list(self._engine.library().documents())

    def info(self) -> StoreInfo:
        """The index in figures."""
        return self._engine.library().info()

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


class _LoopThread:
    """An event loop on a thread of its own, so that the sync door also works where a loop is running already."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        future = asyncio.run_coroutine_threadsafe(work, self._started())
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def close(self) -> None:
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is not None and thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=_serve, args=(self._loop,), name="selfright", daemon=True)
                self._thread.start()
            return self._loop


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(loop.shutdown_default_executor())
    finally:
        loop.close()


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
