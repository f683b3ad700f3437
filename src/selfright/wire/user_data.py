"""What is kept of people: sessions, profiles and turns; and how the service is."""

from typing import Annotated

from pydantic import Field

from selfright.domain.traces import Rating
from selfright.memory.conversation import SessionInfo
from selfright.schemas import Reply
from selfright.wire.answers import Request

__all__ = ["SessionInfo"]

_Word = Annotated[str, Field(max_length=1_000)]
FactValue = _Word | bool | int | float | None | Annotated[list[_Word], Field(max_length=100)]


class SessionsReply(Reply):
    """The caller's sessions, the one used last first; ``unfinished``: a crash left a question without an answer."""

    sessions: list[SessionInfo]


class TurnLine(Reply):
    """A finished turn; ``standalone`` is the question as it was searched for, ``documents`` what the answer cites.

    ``urgent`` is what the message called for at once: the answer begins with it.
    """

    question: str
    standalone: str
    answer: str
    stop_reason: str
    documents: list[str]
    trace_id: str
    at: float
    urgent: str = ""


class SessionReply(Reply):
    """A conversation: its kept turns, oldest first. ``turns`` counts all that were finished.

    ``unfinished`` is the question that a crash left without an answer: ask it again, and the turn goes on.
    """

    session: str
    turns: int
    summary: str
    unfinished: str | None
    kept: list[TurnLine]


class DeletedReply(Reply):
    """How much was deleted."""

    deleted: int


class WhoReply(Reply):
    """Who the caller is to the service, and what it offers; an empty list of collections means all of them.

    ``profiles``: a pack says what can be remembered of people. ``model``: a language model is configured.
    """

    user: str
    admin: bool
    collections: list[str]
    presets: list[str]
    default_preset: str
    version: str
    profiles: bool = True
    model: bool = True


class SlotLine(Reply):
    """One fact about a user: ``by_hand`` when it was set, not read from a message."""

    name: str
    value: str
    unit: str | None
    negated: bool
    subject: str
    time: str
    turn: int
    start: int
    end: int
    details: dict[str, str]
    by_hand: bool


class FactLine(SlotLine):
    """A fact with what has become of it (``stands``, ``superseded``, ``contradicted``), said at ``at``."""

    state: str
    at: float


class KindLine(Reply):
    """A kind of fact that can be remembered: its ``label`` for readers, and whether it has ``many`` values."""

    name: str
    label: str
    many: bool


class ProfileReply(Reply):
    """What is remembered of a user; ``disputed`` is what was said otherwise since, ``history`` everything.

    ``kinds`` are those that can be set; with none, any can.
    """

    user: str
    summary: str
    slots: list[SlotLine]
    disputed: list[SlotLine]
    history: list[FactLine]
    kinds: list[KindLine] = Field(default_factory=list)


class Facts(Request):
    """A correction: ``{"age": 60, "products": ["FxStore"]}``; an empty value says that nothing stands."""

    facts: dict[str, FactValue] = Field(min_length=1, max_length=100)


class RatingRequest(Request):
    """The body of ``POST /v1/traces/{trace_id}/rating``."""

    rating: Rating | None


class RatingReply(Reply):
    """What is kept with the trace."""

    trace_id: str
    rating: Rating | None
