"""What flows along the edges of a turn's graph."""

from operator import add
from typing import Annotated, TypedDict

from selfright.domain.answers import Attempt, Cost, Draft, Iteration, Message, Restated, Step
from selfright.domain.judgements import Evaluation, Grading, QueryClass, StopReason, Verdict
from selfright.domain.passages import Hit, Language, Strip
from selfright.domain.routing import RoutingDecision
from selfright.domain.slots import Concern, Profile, Slot


class AgentState(TypedDict, total=False):
    """Nodes read it and return the part they changed. Fields marked ``add`` grow; the others are replaced.

    ``question`` is the stand-alone form of what the message asks and is what judges see, ``told`` what the message says
    besides; ``query_for_retrieval`` is what is searched for and
    changes from pass to pass. ``strips`` is None until evidence of this pass has been cut; ``ask_web`` tells whether
    the web may be asked at all; ``summarized`` counts the messages that this turn took into the summary. ``routing``
    is missing where all collections are searched without anybody's choosing. ``remembers`` (default: true) tells
    whether what users say of themselves is kept; ``profile`` is what is known in this turn of the one who asks,
    ``concerns`` what in it speaks against what is asked about, ``personal`` how an answer would word it. ``quoted`` is
    the best answer in the documents' own words, beside a model answer that failed its checks.
    """

    # what came in
    user_text: str
    mode: str
    messages: tuple[Message, ...]
    summary: str
    summarized: int
    language: Language
    user: str
    given_profile: Profile
    remembers: bool

    # what is made of it
    question: str
    query_for_retrieval: str
    told: str
    slot_out: tuple[Slot, ...]
    profile: Profile
    profile_summary: str
    concerns: tuple[Concern, ...]
    personal: tuple[tuple[str, ...], ...]
    query_class: QueryClass
    fast_path: bool
    restated: Restated | None

    # evidence of this pass
    routing: RoutingDecision
    retrieved_docs: tuple[Hit, ...]
    query_vector: tuple[float, ...] | None
    grading: Grading | None
    verdict: Verdict | None
    ask_web: bool
    strips: tuple[Strip, ...] | None
    removed_share: float
    web_docs: tuple[Hit, ...]
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
    next_node: str
    stop_reason: StopReason | None
    abstained: bool
    repaired_claims: tuple[str, ...]
    removed_claims: tuple[str, ...]
    notes: Annotated[tuple[str, ...], add]
    trace: Annotated[tuple[Step, ...], add]
