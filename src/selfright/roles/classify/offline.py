"""Tells question, summary request and small talk apart without a language model.

In doubt a message is a question: small talk that is looked up costs a search, a question taken for small talk is lost.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import NamedTuple

from selfright.background import aside
from selfright.domain.answers import Message, Restated
from selfright.domain.judgements import QueryClass
from selfright.roles.analysis import TextAnalyzer
from selfright.roles.classify.conversation import answered_before, asks_again
from selfright.roles.classify.phrases import SUMMARY, is_greeting, is_reply
from selfright.roles.classify.restating import restated
from selfright.roles.classify.small_talk import SmallTalkJudge

_LONGEST_SMALL_TALK = 120
_SURE_QUESTION = 0.2  # of messages below this chattiness hardly any is small talk
_UNREAD_WORDS = 5  # without an encoder a message of so few words may be small talk that is on no list


class Classified(NamedTuple):
    """A class, and whether a rule or a clear score stands behind it."""

    kind: QueryClass
    sure: bool = True


def _is_never_on_topic(_text: str) -> bool:
    return False


class OfflineClassifier:
    """Implements the port ``Classifier``.

    A message is small talk when nothing in it is anything else: when all of its words are those of a greeting, or
    when ``small_talk`` has read it and is sure. One word that is no greeting is looked up, and so is what
    ``is_on_topic`` (a domain, the index) says it knows. Without ``analyzer`` nothing is taken to be answered by the
    conversation.
    """

    def __init__(
        self,
        is_on_topic: Callable[[str], bool] = _is_never_on_topic,
        small_talk: SmallTalkJudge | None = None,
        analyzer: TextAnalyzer | None = None,
    ) -> None:
        self._is_on_topic = is_on_topic
        self._small_talk = small_talk
        self._analyzer = analyzer

    async def classify(self, text: str, history: Sequence[Message] = ()) -> QueryClass:
        """The class of ``text``; with a conversation before it, a bare "tell me more" is a question."""
        return (await self.judged_aside(text, history)).kind

    async def judged_aside(self, text: str, history: Sequence[Message] = ()) -> Classified:
        """As ``judged``, in a thread where it takes long."""
        if self._small_talk is None:
            return await aside(len(text), lambda: self.judged(text, bool(history)))
        return await asyncio.to_thread(self.judged, text, bool(history))

    async def conversational(self, text: str, history: Sequence[Message]) -> bool:
        """Whether what was said before may be enough to answer."""
        if self._analyzer is None:
            return False
        return await asyncio.to_thread(answered_before, text, history, self._analyzer)

    async def restated(self, text: str, history: Sequence[Message]) -> Restated | None:
        """The answer before in fewer words; see ``classify.restating``."""
        return restated(text, history)

    def judge(self, text: str, has_history: bool = False) -> QueryClass:
        """As ``classify``, without waiting."""
        return self.judged(text, has_history).kind

    def judged(self, text: str, has_history: bool = False) -> Classified:
        """As ``judge``, with whether it is sure; only where no rule decides, it may not be."""
        if not any(map(str.isalnum, text)) or is_reply(text):
            return Classified(QueryClass.UNKNOWN)
        if SUMMARY.search(text):
            return Classified(QueryClass.SUMMARY)
        if asks_again(text):
            return Classified(QueryClass.QUESTION if has_history else QueryClass.UNKNOWN)
        return Classified(QueryClass.CHITCHAT) if is_greeting(text) else self._read(text)

    def _read(self, text: str) -> Classified:
        words = text.split()
        if len(words) == 1 or len(text) > _LONGEST_SMALL_TALK:
            return Classified(QueryClass.QUESTION)
        if self._small_talk is None:
            return Classified(QueryClass.QUESTION, sure=len(words) > _UNREAD_WORDS)
        chatty = self._small_talk.probability(text)
        if chatty >= self._small_talk.threshold and not self._is_on_topic(text):
            return Classified(QueryClass.CHITCHAT)
        return Classified(QueryClass.QUESTION, sure=chatty < _SURE_QUESTION)
