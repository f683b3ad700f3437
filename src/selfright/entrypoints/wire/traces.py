"""Turns as they are kept, and run again."""

from typing import Any

from pydantic import Field

from selfright.answer_form import AnswerReply, Cost, NodeOutcome, Reply
from selfright.entrypoints.wire.answers import Flag
from selfright.entrypoints.wire.base import Request


class StepLine(Reply):
    """A visited node, the seconds it took, and what it decided, in words and as facts."""

    node: str
    seconds: float
    said: str
    outcome: NodeOutcome


class PassLine(Reply):
    """One pass of the loop; ``documents`` counts what was found."""

    verdict: str | None
    overall: float | None
    documents: int
    improvement: float | None
    duplicate_share: float | None


class OriginsReply(Reply):
    """What the turn ran on; ``chosen`` are the flags that somebody set."""

    preset: str
    flags: dict[str, Any]
    chosen: dict[str, Any]
    models: dict[str, str]
    versions: dict[str, str]
    web: bool


class TraceReply(Reply):
    """The path of a turn. ``kind`` is ``outline``, or ``full`` where content was kept: then there is an ``answer``.

    ``collections`` are those that were searched, null for all of them.
    """

    id: str
    at: float
    kind: str
    user: str
    collections: list[str] | None = None
    origins: OriginsReply
    steps: list[StepLine]
    passes: list[PassLine]
    verdict: str | None
    scores: dict[str, float]
    quality: str
    judge: str
    stop_reason: str
    abstained: bool
    degraded: bool
    language: str
    cost: Cost
    error: str
    answer: AnswerReply | None


class TracesReply(Reply):
    """Traces, the newest first."""

    traces: list[TraceReply]


class ReplayRequest(Request):
    """How to run a turn again; ``flags`` count from the node ``start_at`` on (``node:2``: its second visit)."""

    preset: str | None = None
    flags: dict[str, Flag] = Field(default_factory=dict)
    start_at: str | None = Field(None, max_length=100)


class ReplayReply(Reply):
    """What came of it; ``missing`` names what the recording could not answer, ``fresh_cost`` is what it saved."""

    of: str
    faithful: bool
    answer: AnswerReply
    fresh_cost: Cost
    reused: dict[str, int]
    missing: list[str]
    notes: list[str]
