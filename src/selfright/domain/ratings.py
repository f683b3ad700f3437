"""What readers say of answers: whether one helped, and where the passages stand that it was written from.

Places are kept, not texts: a document that is changed or deleted takes its part of every rating with it.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypedDict

from selfright.domain.errors import InputError

MAX_NAME = 200
MAX_QUESTION = 10_000
MAX_PLACES = 50
MAX_RATINGS = 20_000


@dataclass(frozen=True, slots=True)
class Place:
    """A part of a document, ``text[start:end]``, and the digest of what stood there when it was rated."""

    document_id: str
    start: int
    end: int
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Rating:
    """What ``user`` said at ``at`` (Unix seconds) of the turn ``trace_id``; one per user and turn, the last counts."""

    user: str
    trace_id: str
    at: float
    question: str
    helpful: bool
    places: tuple[Place, ...] = ()


class LabelledRow(TypedDict):
    """A row for ``selfright calibrate``: 1 where the passage helped to answer, 0 where it did not."""

    question: str
    passage: str
    label: int


@dataclass(frozen=True, slots=True)
class LabelledRows:
    """The rows that ratings yield; ``left_out`` counts passages that are no longer there as they were rated."""

    rows: tuple[LabelledRow, ...]
    left_out: int = 0


class RatingStore(Protocol):
    """Keeps ratings, at most ``MAX_RATINGS``; the oldest of who has the most go. Raises ``StoreError``."""

    def put(self, rating: Rating) -> None:
        """Keeps a rating in the place of the user's earlier one of the same turn."""
        ...

    def listed(self, user: str | None = None) -> Sequence[Rating]:
        """A user's ratings, or everybody's, the newest first."""
        ...

    def forget(self, user: str | None, trace_id: str | None = None) -> int:
        """Erases a user's ratings, or everybody's, or those of one turn; gives back how many."""
        ...

    def close(self) -> None:
        """Closes what is open."""
        ...


def digest_of(text: str) -> str:
    """What tells whether a place still holds what it held: the first half of the text's SHA-256, in hex."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def checked(rating: Rating) -> Rating:
    """The rating. Raises ``InputError`` for names and questions that are empty or too long, or too many places."""
    for what, said, most in (
        ("name of the user", rating.user, MAX_NAME),
        ("id of the turn", rating.trace_id, MAX_NAME),
        ("question", rating.question, MAX_QUESTION),
    ):
        if not 0 < len(said.strip()) <= most:
            raise InputError(f"the {what} of a rating must have 1 to {most:,} characters, but has {len(said):,}")
    if len(rating.places) > MAX_PLACES:
        raise InputError(f"a rating names at most {MAX_PLACES} passages, but has {len(rating.places)}")
    return rating
