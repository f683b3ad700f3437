"""What may be said with a question, and what is left of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

from selfright.domain.answers import Message

DEFAULT_USER = "local"


@dataclass(frozen=True, slots=True)
class Erased:
    """How much of a user was erased."""

    sessions: int
    facts: int
    traces: int


class TurnOptions(TypedDict, total=False):
    """What may be said with a question.

    ``preset`` and ``flags`` go over the settings. ``history`` is a conversation that the caller keeps; ``session``
    names one that is kept here, for ``user``. ``profile`` says who asks, ``collections`` where to search. ``record``
    keeps the turn's trace with all that is needed to replay it.
    """

    preset: str | None
    flags: Mapping[str, object] | None
    history: Sequence[Message | Mapping[str, str]]
    profile: Mapping[str, object] | None
    collections: str | Sequence[str]
    session: str | None
    user: str | None
    record: bool
