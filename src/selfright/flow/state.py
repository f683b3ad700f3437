"""``AgentState``: what the nodes of a turn read and return, key by key, in the order in which a turn fills it."""

from operator import add
from typing import Annotated, Literal, TypedDict

from selfright.domain.answers import Attempt, Cost, Draft, Iteration, Message, Repetition, Step
from selfright.domain.judgements import Evaluation, Grading, QueryClass, StopReason, Verdict
from selfright.domain.passages import Hit, Language, Strip, WaitingVectors
from selfright.domain.routing import RoutingDecision
from selfright.domain.slots import Concern, Profile, Slot
from selfright.domain.wordings import Texts, wordings


def texts_in(language: Language) -> Texts:
    """What a turn says in its notes, in that language; from ``texts.en.toml`` and ``texts.ko.toml``."""
    return wordings(__package__, "texts")[language]


class AgentState(TypedDict, total=False):
    """Nodes read it and return what they changed. Fields with ``add`` are extended, the others replaced.

    ``question`` is the message's question in a form that stands alone; judges see this one. ``question_context`` is
    the rest of the message, ``has_question`` false where all of it states something. ``original_question`` is the
    question as it was said, ``meanings`` are others that a follow-up may have.
    ``query_for_retrieval`` is the search query, which changes from pass to pass. ``evidence`` and ``web_evidence`` are
    the hits that may be evidence, of all that was found (``roles.evidence_filter``). ``strips`` is None until the
    evidence of this pass is refined.
    ``ask_web`` says whether the web may be searched, ``summarized`` how many messages this turn moved into the summary.
    ``routing`` is missing if all collections are searched by default. ``remembers`` (default: true) says whether facts
    about the user are stored. ``profile`` holds the facts known in this turn, ``concerns`` those that conflict with the
    question's subject, ``personal`` the words for them in an answer. ``quoted`` is the best extractive answer, made
    when a model answer failed its checks.
    """

    # input
    user_text: str
    mode: str
    messages: tuple[Message, ...]
    summary: str
    summarized: int
    turn: int
    language: Language
    user: str
    given_profile: Profile
    remembers: bool

    # the question and the user
    question: str
    query_for_retrieval: str
    original_question: str
    meanings: tuple[str, ...]
    question_context: str
    has_question: bool
    slot_out: tuple[Slot, ...]
    profile: Profile
    profile_summary: str
    concerns: tuple[Concern, ...]
    personal: tuple[tuple[str, ...], ...]
    query_class: QueryClass
    fast_path: bool
    restated: Repetition | None

    # evidence of this pass
    routing: RoutingDecision
    retrieved_docs: tuple[Hit, ...]
    evidence: tuple[Hit, ...]
    query_vector: tuple[float, ...] | None
    waiting: WaitingVectors | None
    lacks_meaning: bool  # in this pass or an earlier one
    grading: Grading | None
    verdict: Verdict | None
    ask_web: bool
    strips: tuple[Strip, ...] | None
    removed_share: float
    web_docs: tuple[Hit, ...]
    web_evidence: tuple[Hit, ...]
    web_provider: str
    web_grading: Grading | None
    web_strips: tuple[Strip, ...]
    system_prompt: str
    user_prompt: str

    # the answer and its judgement
    draft: Draft
    answer: str
    evaluation: Evaluation | None
    quality_score: float
    needs_retrieval: bool
    used_retrieval: bool

    # the loop
    iteration_count: int
    retry_count: int
    retrieved_docs_history: Annotated[tuple[frozenset[str], ...], add]
    quality_score_history: Annotated[tuple[float, ...], add]
    iterations: Annotated[tuple[Iteration, ...], add]
    best: Attempt | None
    quoted: Attempt | None
    budget: Cost
    next_node: Literal["rewrite", "retrieve", "classify", "finalize"]
    stop_reason: StopReason | None
    abstained: bool
    repaired_claims: tuple[str, ...]
    removed_claims: tuple[str, ...]
    notes: Annotated[tuple[str, ...], add]
    trace: Annotated[tuple[Step, ...], add]
