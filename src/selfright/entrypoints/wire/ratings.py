"""Ratings of answers, and example questions."""

from typing import Annotated

from pydantic import Field

from selfright.entrypoints.wire.answers import Name
from selfright.entrypoints.wire.base import Reply, Request


class RatedPassage(Request):
    """A passage that an answer was written from: its place in the document."""

    document_id: str = Field(min_length=1, max_length=1_000)
    start: int = Field(ge=0)
    end: int = Field(ge=1)


class RatingRequest(Request):
    """The body of ``PUT /v1/ratings/{trace_id}``; ``question`` is the answer's, as it was searched for."""

    question: str = Field(min_length=1, max_length=10_000)
    helpful: bool
    passages: Annotated[list[RatedPassage], Field(max_length=50)] = Field(default_factory=list)


class RatedReply(Reply):
    """What is kept: of how many passages."""

    trace_id: Name
    helpful: bool
    passages: int


class LabelledLine(Reply):
    """A row for calibration: 1 where the passage helped to answer, 0 where it did not."""

    question: str
    passage: str
    label: int


class LabelledReply(Reply):
    """Rows for calibration; ``left_out`` counts passages that are no longer in the index as they were rated."""

    rows: list[LabelledLine]
    left_out: int


class ExamplesReply(Reply):
    """Questions that the documents the caller may search have something on."""

    questions: list[str]
