"""What is kept of a conversation, where it lies in LangGraph's store, and what a turn of it is handed."""

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Self, TypeVar
from urllib.parse import quote, unquote

from langgraph.store.base import PutOp, SearchItem

from selfright.domain.answers import Citation, Message
from selfright.domain.errors import InputError, SettingsError, StoreError
from selfright.domain.judgements import StopReason
from selfright.domain.turns import joined

T = TypeVar("T")

_SECONDS_A_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Retention:
    """How much is kept: turns of a session, days since a session was last used, and sessions in all."""

    session_turns: int = 200
    sessions_days: float = 90.0
    max_sessions: int = 10_000

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not (math.isfinite(value) and value > 0):
                raise SettingsError(f"{field.name} must be a number above 0, but is {value!r}")

    @property
    def seconds(self) -> float:
        """``sessions_days`` in seconds."""
        return self.sessions_days * _SECONDS_A_DAY


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """A finished turn. ``standalone`` is the question as it was searched for, ``at`` the end in Unix seconds (UTC).

    ``documents`` are the ids of the documents that the answer cites, ``citations`` are what it cites of them.
    """

    question: str
    standalone: str
    answer: str
    stop_reason: StopReason
    documents: tuple[str, ...] = ()
    trace_id: str = ""
    at: float = 0.0
    citations: tuple[Citation, ...] = ()

    def messages(self) -> tuple[Message, Message]:
        """What was said: the question as the user put it, and the answer."""
        return Message("user", self.question), Message(
            "assistant", self.answer, self.citations, self.standalone if self.citations else ""
        )

    def stored(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {
            **_plain(asdict(self)),
            "stop_reason": self.stop_reason.value,
            "documents": [_clean(d) for d in self.documents],
            "citations": [_plain(asdict(citation)) for citation in self.citations],
        }

    @classmethod
    def restored(cls, stored: Mapping[str, Any]) -> Self:
        """From what was stored. Raises ``StoreError`` when it was something else."""
        return _restored(cls, stored, {"stop_reason": StopReason, "documents": tuple, "citations": _citations})


@dataclass(frozen=True, slots=True)
class RunningTurn:
    """A turn that was begun: kept so that it can be gone on with after a crash. ``number`` counts from 0.

    ``collections`` are those that it may search, None for all of them.
    """

    number: int
    question: str
    preset: str = ""
    trace_id: str = ""
    started: float = 0.0
    collections: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Head:
    """What is kept of a session besides its turns.

    ``summarised`` counts the messages, from the very first, that are in ``summary``. ``first`` is the number of the
    oldest turn that is still kept, ``turns`` how many have been finished in all. ``running`` is the turn begun last,
    which is unfinished when its number is ``turns``. ``collections`` are those that finished turns searched, None for
    all of them: so it is, too, with a session kept before this was. Times are Unix seconds.
    """

    created: float
    updated: float
    summary: str = ""
    summarised: int = 0
    first: int = 0
    turns: int = 0
    running: RunningTurn | None = None
    collections: tuple[str, ...] | None = None

    @property
    def searched(self) -> tuple[str, ...] | None:
        """The collections that any turn searched, the unfinished one included; None for all of them."""
        left = self.unfinished
        return joined(self.collections, left.collections if left else ())

    @property
    def unfinished(self) -> RunningTurn | None:
        """The turn that was begun last, unless it was finished."""
        return self.running if self.running is not None and self.running.number == self.turns else None

    @property
    def unsummarised(self) -> range:
        """The numbers of the turns of which at least one message is not in the summary."""
        return range(max(self.first, self.summarised // 2), self.turns)

    @property
    def next_message(self) -> int:
        """The number of the oldest message that is kept and not in the summary; two make a turn."""
        return max(self.summarised, 2 * self.first)

    def moved_on(self, turn: RunningTurn, now: float, summary: str | None, covered: int) -> Self:
        """The head after ``turn``; a new summary covers ``covered`` messages more.

        ``running`` stays: it names the thread whose checkpoints are yet to be deleted.
        """
        collections = joined(self.collections, turn.collections)
        head = replace(self, updated=now, turns=turn.number + 1, collections=collections)
        return head if summary is None else replace(head, summary=summary, summarised=self.next_message + covered)

    def within(self, most: int) -> tuple[Self, range]:
        """The head of a session that keeps its last ``most`` turns, and the numbers of the turns that go."""
        first = max(self.first, self.turns - most)
        return replace(self, first=first), range(self.first, first)

    def stored(self) -> dict[str, Any]:
        """As JSON can hold it."""
        plain = asdict(self)
        running = {key: _clean(v) if isinstance(v, str) else v for key, v in (plain["running"] or {}).items()}
        return {**plain, "summary": _clean(self.summary), "running": running or None}

    @classmethod
    def restored(cls, stored: Mapping[str, Any]) -> Self:
        """From what was stored. Raises ``StoreError`` when it was something else."""
        return _restored(cls, stored, {"running": _running, "collections": _names})


@dataclass(frozen=True, slots=True)
class Conversation:
    """What a turn needs of the turns before it.

    ``messages`` are those that are not in ``summary`` yet, oldest first. ``turns`` counts the finished turns, those no
    longer kept included. ``unfinished`` is a turn that a crash broke off, None while it runs.
    """

    summary: str = ""
    messages: tuple[Message, ...] = ()
    turns: int = 0
    unfinished: RunningTurn | None = None


@dataclass(frozen=True, slots=True)
class TurnHandle:
    """The right to run one turn of a session: give it back with ``finish``, ``abandon`` or ``suspend``.

    ``thread_id`` is for LangGraph's configuration. ``resumable``: there is a checkpoint to go on from, so the graph is
    run with None as its input instead of a start state.
    """

    user: str
    session: str
    thread_id: str
    turn: RunningTurn
    conversation: Conversation
    head: Head
    resumable: bool = False


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """A line in a list of sessions. Times are Unix seconds."""

    session: str
    turns: int
    created: float
    updated: float
    unfinished: bool


def _restored(kind: type[T], stored: Mapping[str, Any], convert: Mapping[str, Callable[[Any], Any]]) -> T:
    known = {field.name for field in fields(kind)}  # type: ignore[arg-type]  # all of them are dataclasses
    try:
        return kind(**{key: convert.get(key, _as_is)(value) for key, value in stored.items() if key in known})
    except (TypeError, ValueError, AttributeError) as error:
        raise StoreError(
            f"a {kind.__name__} was expected among the stored sessions, but something else is there; "
            "forget that session to go on"
        ) from error


def _running(value: Any) -> RunningTurn | None:
    return None if value is None else _restored(RunningTurn, value, {"collections": _names})


def _citations(value: Any) -> tuple[Citation, ...]:
    return tuple(_restored(Citation, one, {}) for one in value)


def _plain(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _clean(value) if isinstance(value, str) else value for key, value in fields.items()}


def _names(value: Any) -> tuple[str, ...] | None:
    return None if value is None else tuple(str(name) for name in value)


def _as_is(value: Any) -> Any:
    return value


def _clean(text: str) -> str:
    """The text without lone surrogates, which neither JSON nor SQLite takes."""
    return text.encode("utf-8", "replace").decode()


MAX_NAME = 200
HEADS, TURNS = "heads", "turns"


def info(item: SearchItem) -> SessionInfo:
    """What a session's stored head says of it."""
    head = Head.restored(item.value)
    return SessionInfo(unlabel(item.key), head.turns, head.created, head.updated, head.unfinished is not None)


def owner(item: SearchItem) -> tuple[str, str]:
    """The user and the session that a stored head belongs to."""
    return unlabel(item.namespace[1]), unlabel(item.key)


def put_head(user: str, session: str, head: Head | None) -> PutOp:
    """Writes a session's head, or deletes it."""
    return PutOp((HEADS, label(user)), label(session), None if head is None else head.stored())


def turns_of(user: str, session: str) -> tuple[str, ...]:
    """The namespace of a session's turns."""
    return (TURNS, label(user), label(session))


def turn_key(number: int) -> str:
    """The key of a turn's record."""
    return f"{number:08d}"


def lock_key(user: str, session: str) -> str:
    """The key of the lock on a session."""
    return f"{label(user)}/{label(session)}"


def thread_id(user: str, session: str, turn: RunningTurn) -> str:
    """The thread of a turn's checkpoints."""
    return f"{lock_key(user, session)}/{turn.number}"


def label(name: str) -> str:
    """The name as LangGraph takes it in a namespace, where dots separate; different names stay different."""
    return quote(name, safe="", errors="surrogatepass").replace(".", "%2E")


def unlabel(label: str) -> str:
    """The name that ``label`` made a label of."""
    return unquote(label, errors="surrogatepass")


def check_name(what: str, name: str) -> None:
    """Raises ``InputError`` for a name that is empty or too long."""
    if not 0 < len(name) <= MAX_NAME:
        raise InputError(f"the name of a {what} must have 1 to {MAX_NAME} characters, but has {len(name):,}")
