"""The results of an evaluation: one frozen form for answers, ablations and retrieval; what reports are made from.

A ``Study`` is what one command measured, a ``RunResult`` one system of it (a preset with its flags, or a way to
search), a ``Row`` one question asked of one system. ``study.json`` holds the whole study as these classes say, with
their field names as keys; ``None`` is null, tuples are lists, and no number is ever NaN. ``rows.csv`` beside it has a
line for each row: ``system, question_id``, the turn's own figures, and a column for each metric.

* ``Study.form`` is ``selfright.study/1``. Fields may be added under the same number.
* ``Study.kind`` is ``answers``, ``ablation`` or ``retrieval``. Rows of ``retrieval`` have no ``turn``.
* What produced it: ``data`` (name, format, SHA-256 of the file, questions), ``index``, ``judge``, ``seed``,
  ``versions``; for each run its ``preset``, all ``flags`` it ran under, ``models`` by job (``offline`` without one).
* ``Row.metrics`` maps a metric's name to its value with the reason; ``None`` where the metric does not apply.
* ``RunResult.summary`` has for each metric the mean over the rows where it applies, with a 95 % interval.
* ``Comparison`` holds two systems of the study against each other over the questions that both were asked.

Ratios lie in 0…1, seconds are wall time, intervals are percentile bootstraps over questions.

Long because: it is one form, and whoever reads or writes it should find all of it in one place.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from selfright.domain.answers import Citation

if TYPE_CHECKING:
    from pydantic import TypeAdapter

FORM = "selfright.study/1"

Kind = Literal["answers", "ablation", "retrieval"]


@dataclass(frozen=True, slots=True)
class Value:
    """What a metric says of one question: a number, or None where it does not apply, and why."""

    value: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """The scores of an evaluation without its prose; ``source`` is llm, local or heuristic."""

    overall: float
    grounding: float
    completeness: float
    accuracy: float
    answer_quality: str
    confidence: float
    source: str


@dataclass(frozen=True, slots=True)
class Pass:
    """One pass of the loop. ``brought`` are the items missing before it that its passages hold, ``new`` those of them
    that the pass before had not already held.
    """

    query: str
    verdict: str | None
    overall: float | None
    grounding: float | None
    documents: tuple[str, ...]
    improvement: float | None = None
    duplicate_share: float | None = None
    missing_info: tuple[str, ...] = ()
    brought: tuple[str, ...] = ()
    new: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Visit:
    """A node of the turn's path, and what it decided, in a few words; ``stop`` is why it ended the loop."""

    node: str
    said: str
    stop: str = ""


@dataclass(frozen=True, slots=True)
class Retrieved:
    """Whether a gold answer stood in what each step of a turn passed on; of several passes any.

    ``found``: the ten best hits of the search. ``looked``: the passages the turn went on with, the web's among them.
    ``strips``: what the draft was written from. ``draft``: the draft. ``final``: the answer, before the turn decided
    whether to give it.
    """

    found: bool
    looked: bool
    strips: bool
    draft: bool
    final: bool


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn as it went. ``evaluation`` is the turn's own, ``judged`` that of the study's judge (see ``Study``).

    ``judge_calls`` are not among ``llm_calls``. ``held`` is None where no gold answer is known.
    """

    answer: str
    abstained: bool
    language: str
    verdict: str | None
    stop_reason: str
    degraded: bool
    evaluation: Judgement | None
    judged: Judgement | None
    passes: tuple[Pass, ...]
    path: tuple[Visit, ...]
    citations: tuple[Citation, ...]
    removed_claims: tuple[str, ...]
    notes: tuple[str, ...]
    llm_calls: int
    prompt_tokens: int
    completion_tokens: int
    web_requests: int
    seconds: float
    judge_calls: int = 0
    held: Retrieved | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One question asked of one system; ``error`` says why there is no turn where one was wanted."""

    question_id: str
    question: str
    answers: tuple[str, ...] = ()
    answerable: bool | None = None
    relevant: tuple[str, ...] = ()
    turn: Turn | None = None
    error: str | None = None
    metrics: Mapping[str, Value] = field(default_factory=dict)

    def value(self, metric: str) -> float | None:
        """A metric's value; None where it was not measured or does not apply."""
        found = self.metrics.get(metric)
        return found.value if found else None


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over ``n`` questions with its 95 % interval; all None when it applied to none."""

    mean: float | None
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True, slots=True)
class Quantiles:
    """How a figure is spread over the turns."""

    p50: float
    p95: float
    most: float


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Answering the surest ``coverage`` of all questions leaves ``risk`` of these wrong."""

    coverage: float
    risk: float


@dataclass(frozen=True, slots=True)
class Abstention:
    """How well a system knew what it could not answer. Counts are of questions that can be right or wrong.

    ``coverage`` is the share answered, ``risk`` the share of these that is wrong. ``curve`` takes the answered
    questions from the surest down, by the judge's ``overall``; ``aurc`` is the mean risk along it, and ``aurc_ratio``
    that over ``risk``: 1 is an order by chance, less is better.
    """

    answered_right: int
    answered_wrong: int
    refused_rightly: int
    refused_wrongly: int
    coverage: float | None
    risk: float | None
    aurc: float | None
    aurc_ratio: float | None
    curve: tuple[CurvePoint, ...] = ()


@dataclass(frozen=True, slots=True)
class RunResult:
    """One system of a study. ``verdicts``, ``stop_reasons`` and ``qualities`` count rows; ``complete`` is false when
    a question failed.
    """

    system: str
    preset: str | None
    flags: Mapping[str, Any]
    models: Mapping[str, str]
    rows: tuple[Row, ...]
    summary: Mapping[str, Estimate]
    complete: bool = True
    verdicts: Mapping[str, int] = field(default_factory=dict)
    stop_reasons: Mapping[str, int] = field(default_factory=dict)
    qualities: Mapping[str, int] = field(default_factory=dict)
    quantiles: Mapping[str, Quantiles] = field(default_factory=dict)
    abstention: Abstention | None = None

    def mean(self, metric: str) -> float | None:
        """A metric's mean; None where it was not measured."""
        found = self.summary.get(metric)
        return found.mean if found else None


@dataclass(frozen=True, slots=True)
class Moves:
    """What became of each question on the way from ``base`` to ``other``; ``unknown`` has no gold to tell by."""

    right_right: int
    wrong_right: int
    right_wrong: int
    wrong_wrong: int
    unknown: int


@dataclass(frozen=True, slots=True)
class Difference:
    """The mean of ``other − base`` over ``n`` shared questions with its 95 % interval.

    ``p`` is two-sided, of a paired randomisation test; ``p_holm`` is corrected for the study's comparisons in this
    metric.
    """

    mean: float
    low: float
    high: float
    n: int
    p: float
    p_holm: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two systems over the same questions. ``rescued`` and ``broken`` are ids: wrong→right and right→wrong."""

    base: str
    other: str
    questions: int
    moves: Moves | None
    rescued: tuple[str, ...]
    broken: tuple[str, ...]
    differences: Mapping[str, Difference]


@dataclass(frozen=True, slots=True)
class DataSet:
    """The questions that were asked: the file's name, form and SHA-256, and how many of its questions."""

    name: str
    format: str
    sha256: str
    questions: int
    of: int


@dataclass(frozen=True, slots=True)
class IndexFacts:
    """The index that was searched; ``sha256`` is of its documents' ids and contents."""

    documents: int
    passages: int
    embedder: str
    tokenizer: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Study:
    """What one command measured, and all that produced it. ``created`` is UTC in ISO form."""

    kind: Kind
    created: str
    data: DataSet
    index: IndexFacts
    judge: str
    seed: int
    versions: Mapping[str, str]
    runs: tuple[RunResult, ...]
    comparisons: tuple[Comparison, ...] = ()
    form: str = FORM


def dump_study(study: Study) -> bytes:
    """The study as JSON."""
    return adapter(Study).dump_json(study, indent=1) + b"\n"


@cache
def adapter(kind: Any) -> "TypeAdapter[Any]":
    """What writes and reads records of a kind as JSON."""
    from pydantic import TypeAdapter

    return TypeAdapter(kind)
