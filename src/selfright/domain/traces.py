"""What is kept of a turn after it: its outline, and what a replay of it gives; and a turn watched from outside.

What is watched is what each pass looked at and how it was judged, and what a judge from outside says.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict

from selfright.domain.answers import Answer, Cost, Step
from selfright.domain.flags import Flags
from selfright.domain.judgements import Evaluation, StopReason, Verdict
from selfright.domain.passages import Passage

Judge = Literal["none", "local", "model"]
"""Who judges the answer once more: nobody, the offline judge, or the language model that evaluates."""


@dataclass(slots=True)
class WatchedPass:
    """One pass of the loop: the passages the draft was judged or written from, and the turn's own judgement of it.

    ``found`` are the ten best passages of the pass's search, best first; ``graded`` those that were kept of them and
    graded; ``strips`` the texts that the draft was written from; ``draft`` its text, empty when it is a refusal.
    """

    passages: tuple[Passage, ...] = ()
    evaluation: Evaluation | None = None
    found: tuple[Passage, ...] = ()
    graded: tuple[Passage, ...] = ()
    strips: tuple[str, ...] = ()
    draft: str = ""


@dataclass(frozen=True, slots=True)
class Examination:
    """An answer with its passes and the flags it was made under.

    ``judged`` is a second judgement of the final answer against all that the turn looked at, the same for every
    preset; None when nobody was asked or the judge failed. ``judge_cost`` is not part of the answer's own cost.
    ``final`` is the draft that was chosen as the answer, before the turn decided whether to give it or to refuse.
    """

    answer: Answer
    passes: tuple[WatchedPass, ...]
    flags: Flags
    judged: Evaluation | None = None
    judge_cost: Cost = field(default_factory=Cost)
    final: str = ""


Rating = Literal["up", "down"]
"""What a reader says of an answer."""
TraceKind = Literal["off", "outline", "full"]
TRACE_KINDS: tuple[TraceKind, ...] = ("off", "outline", "full")


@dataclass(frozen=True, slots=True)
class Pass:
    """One pass of the loop without its content: ``documents`` counts what was found, scores lie in 0…1."""

    verdict: Verdict | None
    overall: float | None
    documents: int
    improvement: float | None = None
    duplicate_share: float | None = None


@dataclass(frozen=True, slots=True)
class TurnSetup:
    """What a turn ran on. ``models`` are ``provider:model`` by job, ``modes`` how each was known to give objects.

    ``worse`` are the jobs in which a check had found the model no better than the offline role. ``flags`` are those in
    force, ``chosen`` those among them that somebody set. ``index`` is the index in figures, ``web`` whether there was a
    web to ask.
    """

    preset: str
    flags: Mapping[str, Any]
    chosen: Mapping[str, Any] = field(default_factory=dict)
    models: Mapping[str, str] = field(default_factory=dict)
    modes: Mapping[str, str] = field(default_factory=dict)
    worse: Sequence[str] = field(default_factory=list)
    versions: Mapping[str, str] = field(default_factory=dict)
    index: Mapping[str, Any] = field(default_factory=dict)
    web: bool = False


@dataclass(frozen=True, slots=True)
class Trace:
    """A turn as it is kept. ``at`` is its beginning in Unix seconds (UTC), ``user`` who asked.

    An outline holds no word of question, passages, answer or profile. ``answer`` is ``ask --json``'s object, and None
    unless content was asked for (``kind`` is ``full``). ``scores`` are the evaluation's numbers (0…1), ``quality`` its
    label and ``judge`` who gave it. ``web`` is what the web was to the answer (``WebUse.effect``), empty where it was
    not asked. ``error`` names the class of the error that ended the turn. ``collections`` are those that were searched,
    None for all of them. ``rating`` is what a reader said of the answer, None where nobody did.
    """

    id: str
    at: float
    kind: TraceKind
    user: str
    origins: TurnSetup
    steps: tuple[Step, ...] = ()
    passes: tuple[Pass, ...] = ()
    verdict: Verdict | None = None
    scores: Mapping[str, float] = field(default_factory=dict)
    quality: str = ""
    judge: str = ""
    stop_reason: StopReason = StopReason.ERROR
    abstained: bool = False
    degraded: bool = False
    language: str = ""
    cost: Cost = field(default_factory=Cost)
    web: str = ""
    error: str = ""
    answer: Mapping[str, Any] | None = None
    collections: tuple[str, ...] | None = None
    rating: Rating | None = None


class ReplayOptions(TypedDict, total=False):
    """How to replay a turn.

    ``preset`` takes the place of the recorded one, ``flags`` go over those that the turn was asked with. ``start_at``
    is the node from which they count, or ``node:2`` for its second visit; before it all is as it was. ``live`` lets
    models and the web be asked for what was not recorded.
    """

    preset: str | None
    flags: Mapping[str, object] | None
    start_at: str | None
    live: bool


@dataclass(frozen=True, slots=True)
class Replay:
    """A turn run again from its recording.

    ``answer.cost`` is what the replay itself cost, ``fresh`` what a run without the recording would have. ``reused``
    and ``asked`` count, by port, the calls that the recording answered and those that were made anew. ``missing`` names
    the calls that were neither: the answer is then not what a fresh run would give. ``notes`` tell what has changed
    since.
    """

    of: Trace
    answer: Answer
    fresh: Cost
    reused: Mapping[str, int]
    asked: Mapping[str, int]
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def faithful(self) -> bool:
        """Whether nothing was missing: the answer is what a fresh run gives."""
        return not self.missing
