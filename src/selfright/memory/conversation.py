"""What is stored of a conversation, and what a turn of it is handed."""

from dataclasses import dataclass

from selfright.domain.answers import Citation, Message
from selfright.domain.judgements import StopReason


@dataclass(frozen=True, slots=True)
class Retention:
    """How much is kept: turns of a session, days since a session was last used, and sessions in all."""

    session_turns: int = 200
    sessions_days: float = 90.0
    max_sessions: int = 10_000


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


@dataclass(frozen=True, slots=True)
class RunningTurn:
    """A turn that was begun: stored so that it can be gone on with after a crash. ``number`` counts from 0.

    ``collections`` are those that it may search, None for all of them. ``program`` is the version that began it: no
    other one goes on with it, for its state may look different.
    """

    number: int
    question: str
    preset: str = ""
    trace_id: str = ""
    started: float = 0.0
    collections: tuple[str, ...] | None = None
    program: str = ""


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
class SessionInfo:
    """A line in a list of sessions. Times are Unix seconds."""

    session: str
    turns: int
    created: float
    updated: float
    unfinished: bool
