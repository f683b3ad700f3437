"""The results of a turn (drafts, attempts, the answer), and the requests to its roles."""

from dataclasses import dataclass, field
from typing import Literal

from selfright.domain.judgements import Evaluation, Grading, QueryClass, StopReason, Verdict
from selfright.domain.node_outcomes import NOTHING, NodeOutcome, WithheldPassage
from selfright.domain.passages import Hit, Language, Strip, is_of_the_web
from selfright.domain.slots import Concern, Slot
from selfright.domain.wordings import format_outcome


@dataclass(frozen=True, slots=True)
class Citation:
    """A source of an answer: ``text`` is exactly the document's text from ``start`` to ``end``; ``n`` counts from 1.

    ``head`` names the columns of the table that it has rows of, if any.
    """

    n: int
    passage_id: str
    document_id: str
    title: str
    section: str
    start: int
    end: int
    text: str
    url: str | None = None
    head: str = ""

    @property
    def from_web(self) -> bool:
        """Whether it cites a page of the web. The id tells, so it is known of stored citations as well."""
        return is_of_the_web(self.passage_id)


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation; ``role`` is ``user`` or ``assistant``.

    For a stored answer, ``citations`` are its sources and ``question`` is its stand-alone question.
    """

    role: str
    content: str
    citations: tuple[Citation, ...] = ()
    question: str = ""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a draft (without markers) and the numbers of the citations that support it."""

    text: str
    citations: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer as a generator wrote it: ``text`` with inline markers ``[1]``, its sentences, its citations.

    ``refused`` is true when the generator itself found no answer. ``dropped_citations`` counts markers that pointed to
    no passage, or to one that does not support the sentence. ``stands_in``: the draft quotes documents, because what a
    model wrote failed its checks.
    """

    text: str
    sentences: tuple[Sentence, ...] = ()
    citations: tuple[Citation, ...] = ()
    refused: bool = False
    dropped_citations: int = 0
    stands_in: bool = False


@dataclass(frozen=True, slots=True)
class Repetition:
    """An earlier answer, or a shorter version of it, the question it answers, and all ``sources`` of that answer.

    ``named``: the user asks where it comes from.
    """

    draft: Draft
    question: str
    sources: tuple[Citation, ...] = ()
    named: bool = False


@dataclass(frozen=True, slots=True)
class Cost:
    """What a turn used. ``seconds`` is wall time."""

    llm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    web_requests: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Iteration:
    """One pass of the loop. ``improvement`` and ``duplicate_share`` are None in the first pass.

    ``removed_share`` (0…1) is the share of the retrieved text that refinement removed; None without refinement.
    """

    query: str
    verdict: Verdict | None
    overall: float | None
    documents: tuple[str, ...]
    improvement: float | None = None
    duplicate_share: float | None = None
    removed_share: float | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """A draft with its evaluation and evidence; the best attempt becomes the answer.

    ``hits`` are the passages retrieved in its pass, from index and web, and ``grading`` is their grading.
    """

    draft: Draft
    evaluation: Evaluation | None
    score: float
    iteration: int
    verdict: Verdict | None = None
    strips: tuple[Strip, ...] = ()
    hits: tuple[Hit, ...] = ()
    grading: Grading | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One visited node in a turn's trace, with its duration in seconds and what it decided."""

    node: str
    seconds: float
    outcome: NodeOutcome = NOTHING

    @property
    def said(self) -> str:
        """What it decided, in a few English words."""
        return format_outcome(self.outcome)


WebEffect = Literal["rescued", "added", "unused", "nothing found"]


@dataclass(frozen=True, slots=True)
class WebUse:
    """The part of the web in an answer: its passages, its citations, and the effect.

    ``rescued``: the index was judged unable to answer, and the answer cites only the web. ``added``: it cites the web
    and the index, or only the web although the index was not judged unable. Whether the answer is better is measured
    with gold answers (``selfright eval answers``).
    """

    passages: int
    citations: int
    effect: WebEffect


@dataclass(frozen=True, slots=True)
class Answer:
    """The complete result of a turn: text, evidence, evaluation, and its history.

    ``web`` is None if the web was not searched. ``strips`` are the evidence of the draft, in the order of the sources.
    ``uncovered`` is what was asked and left out; if there is any, the first of the ``notes`` says it.
    ``verdict_confidence`` is ``Grading.confidence``; None without a verdict by a judge.
    """

    question: str
    answer: str
    abstained: bool
    language: Language
    citations: tuple[Citation, ...]
    evaluation: Evaluation | None
    verdict: Verdict | None
    stop_reason: StopReason
    preset: str
    degraded: bool
    iterations: tuple[Iteration, ...]
    removed_claims: tuple[str, ...]
    notes: tuple[str, ...]
    cost: Cost
    trace_id: str
    trace: tuple[Step, ...] = ()
    web: WebUse | None = None
    strips: tuple[Strip, ...] = ()
    uncovered: tuple[str, ...] = ()
    verdict_confidence: float | None = None

    @property
    def is_doubtful(self) -> bool:
        """Whether an answer was given although its judge wanted another one."""
        return not self.abstained and self.evaluation is not None and self.evaluation.needs_retrieval

    @property
    def withheld(self) -> tuple[WithheldPassage, ...]:
        """The passages that were found in some pass and could not be evidence, each reason once."""
        return tuple(dict.fromkeys(one for step in self.trace for one in step.outcome.withheld))


@dataclass(frozen=True, slots=True)
class GenerationRequest:
    """All a generator may use. ``strips`` are the evidence, in document order; prompts are for language models.

    ``hits`` are what the search brought in this pass, the best first.

    ``concerns`` are conflicts between the user's profile and the topic of the question. ``summary`` is of what was said
    before ``history``.
    """

    question: str
    language: Language
    query_class: QueryClass
    strips: tuple[Strip, ...]
    system_prompt: str = ""
    user_prompt: str = ""
    history: tuple[Message, ...] = ()
    concerns: tuple[Concern, ...] = ()
    summary: str = ""
    hits: tuple[Hit, ...] = ()


@dataclass(frozen=True, slots=True)
class EvaluationRequest:
    """All an evaluator may use: the question, the draft, the hits and strips it was written from, and the user.

    ``concerns`` are points that an answer to this user must cover; ``personal`` has, for each fact of the profile, the
    wordings that show that an answer considers it. ``unsearched``: the user wants answers first and documents only if
    those do not do, and nothing was searched yet.
    """

    question: str
    draft: Draft
    language: Language
    query_class: QueryClass = QueryClass.QUESTION
    hits: tuple[Hit, ...] = ()
    strips: tuple[Strip, ...] = ()
    profile_summary: str = ""
    previous: Evaluation | None = None
    history: tuple[Message, ...] = ()
    concerns: tuple[Concern, ...] = ()
    personal: tuple[tuple[str, ...], ...] = ()
    unsearched: bool = False


@dataclass(frozen=True, slots=True)
class Focus:
    """The parts of a message: the question for the judges, the search query, and ``context``, the rest.

    ``language`` is the one that the message wants the answer in, None where it names none. ``has_question``: false
    where the whole message states something, and asks nothing by its form.
    """

    question: str
    query: str
    context: str = ""
    language: Language | None = None
    has_question: bool = True


@dataclass(frozen=True, slots=True)
class RewriteRequest:
    """All a rewriter may use. ``question`` is the original question, ``query`` the last search query."""

    question: str
    query: str
    language: Language
    previous_answer: str = ""
    missing_info: tuple[str, ...] = ()
    improvement_suggestions: tuple[str, ...] = ()
    profile_summary: str = ""
    slots: tuple[Slot, ...] = ()
    hits: tuple[Hit, ...] = ()
    iteration: int = 0
    tried: tuple[str, ...] = field(default=())
