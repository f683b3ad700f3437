"""What a turn gives back: the draft while it is written, and the answer at the end; and what roles are asked for."""

from dataclasses import dataclass, field
from typing import Literal

from selfright.domain.judgements import Evaluation, Grading, QueryClass, StopReason, Verdict
from selfright.domain.passages import Hit, Language, Strip
from selfright.domain.slots import Concern, Slot


@dataclass(frozen=True, slots=True)
class Citation:
    """What an answer rests on: ``text`` is exactly the document's text from ``start`` to ``end``; ``n`` from 1."""

    n: int
    passage_id: str
    document_id: str
    title: str
    section: str
    start: int
    end: int
    text: str
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation; ``role`` is ``user`` or ``assistant``.

    Of an answer that was kept, ``citations`` are its sources and ``question`` is what it answers, as it stands alone.
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

    ``refused`` is true when the generator itself found nothing to say. ``dropped_citations`` counts markers that
    pointed to a passage which does not support the sentence, or to none. ``stands_in``: it quotes documents, for what a
    model wrote failed its checks.
    """

    text: str
    sentences: tuple[Sentence, ...] = ()
    citations: tuple[Citation, ...] = ()
    refused: bool = False
    dropped_citations: int = 0
    stands_in: bool = False


@dataclass(frozen=True, slots=True)
class Restated:
    """An earlier answer said again in other words, the question it answers, and all ``sources`` of that answer."""

    draft: Draft
    question: str
    sources: tuple[Citation, ...] = ()


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
    """One pass of the loop. ``improvement`` and ``duplicate_share`` are None where there is nothing to compare with.

    ``removed_share`` (0…1) is the share of the retrieved text that refining took out; None where nothing was refined.
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
    """A draft with its judgement and the evidence it was written from: what "the best seen" is chosen among.

    ``hits`` are what was retrieved in its pass, from index and web, ``grading`` what the grader made of them.
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
    """One visited node in a turn's trace, with the seconds it took and what it decided, in a few words."""

    node: str
    seconds: float
    said: str = ""


WebEffect = Literal["rescued", "added", "unused", "nothing found"]


@dataclass(frozen=True, slots=True)
class WebUse:
    """What the web was to an answer: passages that came of it, citations that rest on it, and what that changed.

    ``rescued``: the index was judged unable to answer, and the answer rests on the web alone. ``added``: it rests on
    the web beside the index, or instead of an index that was not judged unable. Whether that was for the better only
    a gold answer tells (``selfright eval answers``).
    """

    passages: int
    citations: int
    effect: WebEffect


@dataclass(frozen=True, slots=True)
class Answer:
    """The outcome of a turn, complete: text, evidence, judgement, and how it came about.

    ``web`` is None when the web was not asked. ``strips`` are the evidence that the draft was written from, in the
    order of the sources.
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


@dataclass(frozen=True, slots=True)
class GenerationRequest:
    """All a generator may use. ``strips`` are the evidence, in document order; prompts are for language models.

    ``concerns`` are what in the user's profile speaks against what is asked about.
    """

    question: str
    language: Language
    query_class: QueryClass
    strips: tuple[Strip, ...]
    system_prompt: str = ""
    user_prompt: str = ""
    history: tuple[Message, ...] = ()
    concerns: tuple[Concern, ...] = ()


@dataclass(frozen=True, slots=True)
class EvaluationRequest:
    """All an evaluator may use: the question, the draft, the hits and strips it was written from, and the user.

    ``concerns`` are what an answer to this user has to deal with, ``personal`` for each fact of the profile the
    wordings that show that an answer takes it up.
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


@dataclass(frozen=True, slots=True)
class Focus:
    """What of a message is asked, as judges see it, what is searched for, and what the message tells besides."""

    question: str
    query: str
    told: str = ""


@dataclass(frozen=True, slots=True)
class RewriteRequest:
    """All a rewriter may use. ``question`` is the original one, ``query`` what was searched for last."""

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
