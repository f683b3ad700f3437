"""Tells question, summary request and small talk apart: without a language model, and with one where that is unsure.

In doubt a message is a question: small talk that is looked up costs a search, a question taken for small talk is lost.
"""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from selfright.background import run_in_thread
from selfright.domain.answers import Message, Repetition
from selfright.domain.chat import Job
from selfright.domain.errors import ReplyUnusable
from selfright.domain.judgements import QueryClass
from selfright.domain.ports import ChatModel
from selfright.roles.analysis import TextAnalyzer
from selfright.roles.model_calls import CLASSIFY_SCHEMA, OUT_OF_REACH, JudgingMode, complete_json
from selfright.roles.prompting import classify_prompt
from selfright.roles.restating import again, restate, was_answered
from selfright.roles.talk import act_of


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


SUMMARY = _any(
    r"\bsummari[sz](?:e|ing|ation)\b",
    r"\b(?:give|write|make|provide|show|need|want)\b.{0,25}\b(?:summary|overview|recap|gist|synopsis|tl;?dr)\b",
    r"^\W*(?:please\s+|can you\s+|could you\s+)?(?:sum up|recap|condense|outline|tl;?dr)\b",
    r"^\W*(?:a\s+)?(?:short\s+|brief\s+|quick\s+)?(?:summary|overview|recap) (?:of|on|about)\b",
    r"요약(?:해|을|본|하|좀|부탁|$|\s)",
    r"(?:간추려|간단히 정리|간략히 정리|핵심만|한 ?줄로|세 ?줄로|\d ?줄로)",
    r"정리\s?(?:해\s?(?:줘|주|줄|봐|달)|하여 주|좀|부탁)",
)

_FEW_WORDS = 5  # a message of so few words may be small talk that is on no list


class Classified(NamedTuple):
    """A class, and whether a rule or a clear score stands behind it."""

    kind: QueryClass
    sure: bool = True


class OfflineClassifier:
    """Implements the port ``Classifier``.

    A message is small talk when it is an act of talk, and has nothing else in it. Without ``analyzer`` nothing is taken
    to be answered by the conversation.
    """

    def __init__(self, analyzer: TextAnalyzer | None = None) -> None:
        self._analyzer = analyzer

    async def classify(self, text: str, history: Sequence[Message] = ()) -> QueryClass:
        """The class of ``text``; with a conversation before it, a bare "tell me more" is about what was said."""
        return (await self.classify_in_thread(text, history)).kind

    async def classify_in_thread(self, text: str, history: Sequence[Message] = ()) -> Classified:
        """As ``classify_text``, in a thread where it takes long."""
        return await run_in_thread(len(text), lambda: self.classify_text(text, bool(history)))

    async def conversational(self, text: str, history: Sequence[Message]) -> bool:
        """Whether what was said before may be enough to answer."""
        if self._analyzer is None:
            return False
        return await asyncio.to_thread(was_answered, text, history, self._analyzer)

    async def restate(self, text: str, history: Sequence[Message]) -> Repetition | None:
        """The answer before in fewer words; see ``restating``."""
        return restate(text, history)

    def classify_text(self, text: str, has_history: bool = False) -> Classified:
        """As ``classify``, without waiting, and whether it is sure.

        A few words that the index has none of may be talk of another kind.
        """
        if not any(map(str.isalnum, text)):
            return Classified(QueryClass.UNKNOWN)
        if act_of(text):
            return Classified(QueryClass.CHITCHAT)
        how = again(text)
        if SUMMARY.search(text) or (how == "more" and has_history):
            return Classified(QueryClass.SUMMARY)
        if how:
            return Classified(QueryClass.QUESTION if has_history else QueryClass.CHITCHAT)
        return Classified(QueryClass.QUESTION, sure=len(text.split()) > _FEW_WORDS or self._knows(text))

    def _knows(self, text: str) -> bool:
        """Whether the index has any of the words."""
        if self._analyzer is None:
            return False
        terms = self._analyzer.key_terms(text)
        unseen = self._analyzer.unseen(term.token for term in terms)
        return any(term.weight < most for term, most in zip(terms, unseen, strict=True))


@dataclass(frozen=True, slots=True)
class ModelClassifier:
    """Implements the port ``Classifier``: in a cascade the model is asked only where the offline rules are unsure."""

    chat: ChatModel
    offline: OfflineClassifier
    judging: JudgingMode = "cascade"

    async def classify(self, text: str, history: Sequence[Message] = ()) -> QueryClass:
        """The class of ``text``; the offline one when the model cannot be asked or names no class."""
        own = await self.offline.classify_in_thread(text, history)
        if (own.sure and self.judging == "cascade") or not text.strip():
            return own.kind
        try:
            said = await complete_json(self.chat, Job.CLASSIFY, classify_prompt(text, history), CLASSIFY_SCHEMA)
            return QueryClass(str(said.get("query_class")).strip().lower())
        except (*OUT_OF_REACH, ReplyUnusable, ValueError):
            return own.kind

    async def conversational(self, text: str, history: Sequence[Message]) -> bool:
        """Whether what was said before may be enough to answer: the offline role's word, no call is worth it."""
        return await self.offline.conversational(text, history)

    async def restate(self, text: str, history: Sequence[Message]) -> Repetition | None:
        """As the offline role: the sources of the answer before are not for a model to tell."""
        return await self.offline.restate(text, history)
