"""What one browser tab has in mind: turns, as they are asked, heard and ended; and how it reaches the service.

A turn's events come with a pause in between now and then: what waits can then be told to stop.
"""

import os
import uuid
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import cast

import streamlit as st

from selfright.schemas import AnswerReply, Evidence
from selfright.ui.markup import plain
from selfright.ui.words import ERRORS, LANGUAGES, WORDS, Language, Words, language_of
from selfright.wire.answers import (
    AnswerCorrected,
    AnswerToken,
    DoneEvent,
    DraftWithdrawn,
    NodeFinished,
    TurnEvent,
    UrgentEvent,
    VerdictReached,
)
from selfright.wire.client import Client, Rating, ServiceError, forwarding_header
from selfright.wire.user_data import TurnLine, WhoReply

MOST_STEPS = 500
MOST_TURNS = 100
MOST_DRAFT = 100_000


@dataclass(frozen=True, slots=True)
class WithdrawnDraft:
    """A draft that was heard and is withdrawn, and the judge's label for it."""

    draft: str
    reason: str


Step = NodeFinished | VerdictReached | WithdrawnDraft
"""What is shown of a turn's path."""


@dataclass
class Turn:
    """One question and its answer.

    ``draft`` is what was heard of an answer that is not checked yet, ``trouble`` why there is none. ``earlier`` is a
    turn read back from the service, of which only the text is known. ``urgent`` comes before any answer; ``rating`` is
    what its reader said of it.
    """

    question: str
    steps: list[Step] = field(default_factory=list)
    draft: str = ""
    answer: AnswerReply | None = None
    evidence: list[Evidence] = field(default_factory=list)
    trouble: str = ""
    earlier: TurnLine | None = None
    urgent: str = ""
    rating: Rating | None = None

    @property
    def over(self) -> bool:
        """Whether nothing more will be heard of it."""
        return bool(self.answer or self.trouble or self.earlier)

    def hear(self, event: TurnEvent) -> None:
        """Takes in what happened; steps and draft are bounded."""
        match event:
            case UrgentEvent(text=text):
                self.urgent = text
            case NodeFinished() | VerdictReached():
                self._step(event)
            case AnswerToken(text=text):
                self.draft = (self.draft + text)[:MOST_DRAFT]
            case DraftWithdrawn(reason=reason):
                self._step(WithdrawnDraft(self.draft, reason))
                self.draft = ""
            case AnswerCorrected(text=text):
                self.draft = text[:MOST_DRAFT]
            case DoneEvent(answer=answer, evidence=evidence):
                self.answer, self.evidence, self.draft = answer, list(evidence), ""

    def without_urgent(self, said: str) -> str:
        """A draft or an answer without what came first and is shown by itself."""
        return said.removeprefix(self.urgent).lstrip("\n") if self.urgent else said

    def _step(self, step: Step) -> None:
        if len(self.steps) < MOST_STEPS:
            self.steps.append(step)


SERVICE = "SELFRIGHT_UI_SERVICE"
REPORTS = "SELFRIGHT_UI_REPORTS"
KEY = "SELFRIGHT_API_KEY"
_NAME = "selfright"
_MOST_CLIENTS = 64


@dataclass
class Memory:
    """What a tab has in mind: the language, the conversation on show, and what to say once after a rerun.

    ``pending`` is a question that a button asks, ``deleting`` the document whose deletion is to be confirmed, ``go_to``
    where to scroll, ``known`` who one is in this run, ``last`` who one was when the service last said so.
    """

    language: Language = "en"
    session: str = field(default_factory=lambda: uuid.uuid4().hex[:12])
    turns: list[Turn] = field(default_factory=list)
    key: str = ""
    on_text: str = ""
    titles: dict[tuple[str, float], str] = field(default_factory=dict)
    uploads: int = 0
    pending: str = ""
    deleting: str = ""
    go_to: str = ""
    gone_to: int = 0
    known: WhoReply | None = None
    last: WhoReply | None = None

    @property
    def words(self) -> Words:
        """The words of the page's language."""
        return WORDS[self.language]

    def begin(self, session: str | None = None) -> None:
        """Opens another conversation, a new one where none is named."""
        self.session, self.turns = session or uuid.uuid4().hex[:12], []

    def add(self, turn: Turn) -> None:
        """One more turn on show; the oldest goes when there are too many."""
        self.turns = [*self.turns, turn][-MOST_TURNS:]


def memory() -> Memory:
    """The memory of this tab."""
    if _NAME not in st.session_state:
        asked = st.query_params.get("lang", "")
        language = cast("Language", asked) if asked in LANGUAGES else language_of(st.context.locale)
        st.session_state[_NAME] = Memory(language, key=os.environ.get(KEY, ""))
    return cast("Memory", st.session_state[_NAME])


def keep_to_this_machine(mind: Memory) -> None:
    """Ends the run for who comes through a proxy: the page asks the service as the user of this machine."""
    if header := forwarding_header(st.context.headers):
        st.error(plain(mind.words["elsewhere"].format(header=header)))
        st.stop()


def service(mind: Memory) -> Client:
    """The client for this tab's key."""
    return _client(os.environ[SERVICE], mind.key)


@st.cache_resource(max_entries=_MOST_CLIENTS, show_spinner=False)
def _client(url: str, key: str) -> Client:
    return Client(url, key or None)


def who(mind: Memory) -> WhoReply | None:
    """Who one is to the service; asks for a key where it wants one, and tells of an error otherwise."""
    if mind.known is not None:
        known, mind.known = mind.known, None
        return known
    try:
        mind.last = service(mind).me()
        return mind.last
    except ServiceError as error:
        if error.status == 401:
            mind.last = None
            _ask_for_key(mind, error)
        else:
            st.error(plain(error_text(error, mind)))
    return None


def keeps_profiles(mind: Memory) -> bool:
    """Whether a pack says what can be remembered of people; what is wrong otherwise ``who`` will tell."""
    mind.known = None
    with suppress(ServiceError):
        mind.known = mind.last = service(mind).me()
    return mind.last is not None and mind.last.profiles


def _ask_for_key(mind: Memory, error: ServiceError) -> None:
    words = mind.words
    st.info(words["key_why"])
    if mind.key:
        st.error(plain(error))
    with st.form("key"):
        given = st.text_input(words["key"], type="password", autocomplete="off")
        if st.form_submit_button(words["key_use"]) and given.strip():
            mind.key = given.strip()
            st.rerun()


def error_text(error: ServiceError, mind: Memory) -> str:
    """An error in a line or two, with when to try again; in the page's language where it has words for its code."""
    wait = mind.words["retry_in"].format(seconds=error.retry_after) if error.retry_after else ""
    return f"{ERRORS[mind.language].get(error.code, error)} {wait}".strip()


@contextmanager
def report_errors(mind: Memory) -> Iterator[None]:
    """Shows an error of the service instead of passing it on."""
    try:
        yield
    except ServiceError as error:
        st.error(plain(error_text(error, mind)))


def say_once(mind: Memory) -> None:
    """Says what was left to be said by the run before."""
    if mind.on_text:
        st.toast(plain(mind.on_text))
        mind.on_text = ""


@contextmanager
def keep_message(mind: Memory) -> Iterator[None]:
    """Has the next run say an error of the service: what a button calls cannot show it."""
    try:
        yield
    except ServiceError as error:
        mind.on_text = error_text(error, mind)


_TICK_S = 0.3


def listen(stream: Generator[TurnEvent, None, None]) -> Generator[TurnEvent | None, None, None]:
    """The events of ``stream``, and None whenever none came for a moment. Raises what it raises of ``ServiceError``.

    The stream is read in a thread of its own. When this is closed before the end the thread closes the stream with
    the next event, and so breaks the turn off.
    """
    reader = ThreadPoolExecutor(1)
    try:
        while True:
            coming = reader.submit(next, stream, None)
            while not wait([coming], _TICK_S).done:
                yield None
            if (event := coming.result()) is None:
                return
            yield event
    finally:
        reader.submit(stream.close)
        reader.shutdown(wait=False)
