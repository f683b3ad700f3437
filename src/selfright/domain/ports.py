"""The ports: what the flow needs of the packages around it, as small protocols.

Role methods are coroutines, for a role may be a model across the network; an offline role moves its work to a thread.

Long because: this is the list of all the seams of the house, and is read as one.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from selfright.domain.answers import (
    Attempt,
    Draft,
    EvaluationRequest,
    Focus,
    GenerationRequest,
    Message,
    Repetition,
    RewriteRequest,
)
from selfright.domain.chat import ChatReply, ChatRequest, OnText
from selfright.domain.flags import Flags
from selfright.domain.judgements import Evaluation, Grading, PairReading, QueryClass
from selfright.domain.passages import (
    Document,
    DocumentInfo,
    FilteredHits,
    Hit,
    Language,
    Passage,
    Refinement,
    Retrieval,
    StoreInfo,
    Strip,
    WebFinding,
)
from selfright.domain.routing import RoutingDecision
from selfright.domain.slots import Concern, Fact, Profile, Slot

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Tokenizer(Protocol):
    """Text to index terms, the same for documents and queries."""

    @property
    def name(self) -> str:
        """What an index remembers, so that it is never read with another tokenizer."""

    def tokens(self, text: str) -> list[str]:
        """Terms in reading order, repeats kept; morphemes for Korean, stems for English, lower case."""

    def translations(self, term: str) -> Sequence[tuple[str, float]]:
        """Terms that say ``term`` in the other language, the likeliest first, each with its weight in 0…1."""


class TermStatistics(Protocol):
    """How rare terms are in the indexed passages."""

    def idf(self, terms: Sequence[str]) -> list[float]:
        """``ln(1 + (N - df + 0.5) / (df + 0.5))`` of each term; the highest value of its script for a term never seen.

        ``N`` are the passages that could hold the term: of a Hangul term those in Korean, of any other all.
        """


class TermLexicon(Protocol):
    """Knows what things are called in the other language."""

    @property
    def name(self) -> str:
        """The list and its version."""

    def expand(self, text: str, language: Language) -> Sequence[str]:
        """Phrases in the other language for what ``text``, in ``language``, names; few, in the order of the text."""


class Embedder(Protocol):
    """Texts to unit vectors."""

    @property
    def name(self) -> str:
        """What an index remembers, so that it is never searched with another embedder."""

    @property
    def dimension(self) -> int:
        """Length of a vector."""

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """One row per text: float32, shape ``(len(texts), dimension)``, rows of length one."""


class Retriever(Protocol):
    """Finds passages. A turn searches through ``ScopedRetriever``, which fills ``collections`` in."""

    async def search(self, query: str, k: int, collections: Sequence[str]) -> Retrieval:
        """The ``k`` best passages, best first; from all collections when none is named."""


class Router(Protocol):
    """Chooses the collections that a question is sent to."""

    async def route(self, question: str, kind: QueryClass | None = None, slots: Sequence[Slot] = ()) -> RoutingDecision:
        """Where to search for ``question``, a message of class ``kind`` in which ``slots`` were found."""

    def suffices(self, question: str, hits: Sequence[Hit]) -> bool:
        """Whether a search of some collections brought enough, or all should be searched after all."""


class Documents(Protocol):
    """Looks up the stored documents."""

    def document(self, document_id: str) -> Document | None:
        """The document with its text, or None."""

    def documents(self, after: str = "", collections: Sequence[str] = ()) -> Iterator[DocumentInfo]:
        """The documents with an id behind ``after``, ordered by id; of all collections where none is named."""


class Library(Documents, Protocol):
    """Reads the stored documents."""

    def info(self) -> StoreInfo:
        """The index in figures."""


class Writer(Protocol):
    """Changes the stored documents. Nothing is visible to a search, and nothing is safe, before ``commit``."""

    def put(self, batch: Sequence[tuple[Document, Sequence[Passage]]]) -> None:
        """Adds documents with their passages; a document with the same id is replaced whole."""

    def remove(self, document_ids: Sequence[str]) -> list[str]:
        """Removes documents; gives back the ids that were there."""

    def commit(self) -> None:
        """Makes what was put and removed lasting and visible."""


class ChatModel(Protocol):
    """A language model, within one turn: calls are counted, limited and retried."""

    async def complete(self, request: ChatRequest, on_text: OnText | None = None) -> ChatReply:
        """The model's reply; ``on_text`` hears plain text as it is written.

        Raises ``ModelUnavailable``, ``ModelRejected``, ``ReplyUnusable`` or ``BudgetSpent``, nothing else.
        """


class WebSearch(Protocol):
    """Finds passages outside the index."""

    async def search(self, query: str, k: int) -> WebFinding:
        """At most ``k`` pages, cut into passages, best page first."""


class Classifier(Protocol):
    """Tells what kind of message it is."""

    async def classify(self, text: str, history: Sequence[Message] = ()) -> QueryClass: ...

    async def conversational(self, text: str, history: Sequence[Message]) -> bool:
        """Whether what was said before may be enough to answer ("더 설명해줘"), so that nothing need be looked up."""

    async def restate(self, text: str, history: Sequence[Message]) -> Repetition | None:
        """The answer before in fewer words, with its sources, where nothing else is asked ("한 문장으로 줄여줘")."""


class Grader(Protocol):
    """Judges a retrieval."""

    async def grade(self, question: str, hits: Sequence[Hit]) -> Grading:
        """A probability per passage and a verdict on the set. May raise ``JudgeFailed``."""


class EvidenceFilter(Protocol):
    """Leaves out what no answer may be made of, before anything is judged or written."""

    async def hits(self, question: str, hits: Sequence[Hit]) -> FilteredHits:
        """The passages that may be evidence."""

    async def strips(self, question: str, strips: Sequence[Strip], hits: Sequence[Hit] = ()) -> tuple[Strip, ...]:
        """The strips that an answer may be made of, in the same order; those of index and web together.

        ``hits`` are what they were cut from, as far as that is known, the best first.
        """

    def on_subject(self, question: str, strips: Sequence[Strip]) -> tuple[Strip, ...]:
        """The strips without those about another thing of the kind that the question names."""

    async def cap_verdict(self, question: str, found: FilteredHits, grading: Grading) -> Grading:
        """The grading of what was ``found``, or a lower verdict; never a higher one."""


class Refiner(Protocol):
    """Decompose, filter, recompose."""

    async def refine(self, question: str, hits: Sequence[Hit], grading: Grading | None = None) -> Refinement:
        """The strips of ``hits`` that help to answer, in document order."""


class Prompter(Protocol):
    """Writes the two prompts of a turn; evidence goes into the user prompt only, as delimited data."""

    async def prompts(
        self,
        question: str,
        language: Language,
        strips: Sequence[Strip] | None,
        profile_summary: str,
        history: Sequence[Message],
        summary: str,
        facts: Sequence[Slot] = (),
        concerns: Sequence[Concern] = (),
    ) -> tuple[str, str]:
        """System prompt and user prompt; ``strips`` is None when nothing has been looked up.

        ``facts`` are what the message itself says of who asks, ``concerns`` what the answer has to deal with.
        """


class Generator(Protocol):
    """Writes an answer."""

    @property
    def needs_documents(self) -> bool:
        """True when it can say nothing without evidence (an extractive generator): no fast path then."""

    async def generate(self, request: GenerationRequest, on_text: OnText | None = None) -> Draft:
        """The draft; ``on_text`` hears it while it is written. What was heard may differ from the draft in the end."""


class Evaluator(Protocol):
    """Judges an answer."""

    async def evaluate(self, request: EvaluationRequest) -> Evaluation:
        """May raise ``JudgeFailed``; the caller then falls back to the heuristic."""


class PairJudge(Protocol):
    """Reads two texts together, for the judges that it is handed to: a question or a claim, and a passage."""

    @property
    def name(self) -> str:
        """Which network; what was fitted on one network knows no other."""

    @property
    def languages(self) -> Sequence[Language]:
        """What it can read."""

    def read(self, text: str, passages: Sequence[str]) -> Sequence[PairReading]:
        """What it makes of each passage beside ``text``: a question for a grader, a claim for an evaluator.

        Raises ``ModelError`` when it cannot be loaded or run: who judges then goes on without it.
        """


class Abstainer(Protocol):
    """Decides when it is better to say that the question cannot be answered, and says it."""

    def should_abstain(self, question: str, query_class: QueryClass, best: Attempt, flags: Flags) -> bool:
        """True when the best answer, of which all is known that its pass brought, is too likely to be wrong."""

    def refusal(self, question: str, language: Language, best: Attempt, hits: Sequence[Hit]) -> Draft:
        """What was found, what is missing, and the nearest sources, in the question's language."""


class Rewriter(Protocol):
    """Turns a question into what is searched for."""

    async def rewrite(self, request: RewriteRequest) -> str:
        """A query for the next retrieval, from what was missing."""

    async def for_web(self, question: str, missing_info: Sequence[str] = ()) -> str:
        """A web query: the topic and at most three key terms."""

    async def focus(self, message: str, follows: bool = False) -> Focus:
        """What of a message is asked, what is searched for, and what is told besides.

        ``follows``: there is a conversation before it, which a question may lean on instead of on what is told.
        """

    async def standalone(self, question: str, history: Sequence[Message], summary: str = "") -> str:
        """The question as it reads without its conversation; unchanged when it already stands alone."""

    async def meanings(self, asked: str, question: str, history: Sequence[Message]) -> tuple[str, ...]:
        """What the message ``asked`` may mean besides the stand-alone ``question``; the index tells which it is."""

    async def settles(self, asked: str, question: str, hits: Sequence[Hit]) -> bool:
        """Whether what was found for ``question`` leaves no other meaning of ``asked`` to look for."""

    async def likeliest(self, asked: str, found: Mapping[str, Sequence[Hit]]) -> str:
        """Of the meanings of ``asked``, each with what was found for it, the one that the hits answer.

        The first unless another is better answered; a new one where it names a new subject.
        """


class Summarizer(Protocol):
    """Keeps what was said before the last messages."""

    async def summarize(self, summary: str, messages: Sequence[Message], language: Language) -> str:
        """The rolling summary with ``messages`` taken into it; bounded, and unchanged when there are none."""


class SlotExtractor(Protocol):
    """Reads facts about the user from a message."""

    async def extract(self, text: str, turn: int = 0) -> tuple[Slot, ...]: ...


class ProfileMemory(Protocol):
    """What a turn remembers of its user."""

    @property
    def ephemeral(self) -> bool:
        """Whether what it keeps ends with the program though it was meant to last."""

    async def remember(self, user: str, slots: Sequence[Slot]) -> Profile:
        """Adds what was said, in this order, and gives the profile as it now stands."""


class ProfileStore(ProfileMemory, Protocol):
    """Remembers users. What stands of one is their profile; what stood before is kept as history until it is erased."""

    async def profile(self, user: str) -> Profile:
        """What stands of a user."""

    async def correct(self, user: str, name: str, slots: Sequence[Slot]) -> Profile:
        """Puts ``slots`` in the place of all that stands of the kind ``name`` about the user."""

    async def history(self, user: str) -> tuple[Fact, ...]:
        """All that is kept of a user, oldest first."""

    async def forget(self, user: str, name: str | None = None, value: str | None = None) -> int:
        """Erases a user, a kind of slot, or one value of it, history included; gives back how many facts went."""

    async def users(self) -> tuple[str, ...]:
        """All users of whom anything is kept, by name."""

    async def close(self) -> None: ...


class RefineStrategy(Protocol):
    """How a turn refines itself [S0]: what judging an answer changes in the state, and whether to go on.

    The state is an ``AgentState`` (see ``selfright.flow.state``). A third strategy can be registered by name.
    """

    async def refine(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """What judging the answer changes: at least ``quality_score`` and ``needs_retrieval``."""

    def should_retrieve(self, state: Mapping[str, Any]) -> bool:
        """Whether the answer asks for another pass; limits and guards are not its business."""

    def get_strategy_name(self) -> str:
        """The name that reports show."""

    def get_metrics(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """Numbers about the turn that reports show."""
