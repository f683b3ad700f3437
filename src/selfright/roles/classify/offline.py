"""Tells question, summary request and small talk apart without a language model: rules first, then a tiny model.

In doubt a message is a question: small talk that is looked up costs a search, a question taken for small talk is lost.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import NamedTuple

from selfright.background import aside
from selfright.domain.answers import Message
from selfright.domain.judgements import QueryClass
from selfright.roles.analysis import TextAnalyzer
from selfright.roles.classify.chattiness import ChattinessModel, shipped_model
from selfright.roles.classify.conversation import answered_before
from selfright.roles.classify.phrases import ASKS, CHITCHAT, CONTROL, FOLLOW_UP, SALUTATION, SEEKS, SUMMARY, THANKS

_MOST_SALUTATIONS = 4
_LONGEST_CHITCHAT = 120
_LONGEST_THANKS = 40
_ONE_WORD_THRESHOLD = 0.95  # a lone noun is a search; a model of endings knows little of it
_SURE_QUESTION, _SURE_CHITCHAT = 0.2, 0.8  # chattiness; of messages beyond these hardly any is of the other class


class Judged(NamedTuple):
    """A class, and whether a rule or a clear score stands behind it."""

    kind: QueryClass
    sure: bool = True


def _is_never_on_topic(_text: str) -> bool:
    return False


class OfflineClassifier:
    """Implements the port ``Classifier``.

    ``is_on_topic`` lets a domain say that a message concerns it: unless it is a set phrase, it is then a question,
    however chatty it sounds. Without ``analyzer`` nothing is taken to be answered by the conversation.
    """

    def __init__(
        self,
        is_on_topic: Callable[[str], bool] = _is_never_on_topic,
        model: ChattinessModel | None = None,
        analyzer: TextAnalyzer | None = None,
    ) -> None:
        self._is_on_topic = is_on_topic
        self._model = model or shipped_model()
        self._analyzer = analyzer

    async def classify(self, text: str, history: Sequence[Message] = ()) -> QueryClass:
        """The class of ``text``; with a conversation before it, a bare "tell me more" is a question."""
        return await aside(len(text), lambda: self.judge(text, bool(history)))

    async def conversational(self, text: str, history: Sequence[Message]) -> bool:
        """Whether what was said before may be enough to answer."""
        if self._analyzer is None:
            return False
        return await asyncio.to_thread(answered_before, text, history, self._analyzer)

    def judge(self, text: str, has_history: bool = False) -> QueryClass:
        """As ``classify``, without waiting."""
        return self.judged(text, has_history).kind

    def judged(self, text: str, has_history: bool = False) -> Judged:
        """As ``judge``, with whether it is sure; only where the model of endings decides, it may not be."""
        if not any(map(str.isalnum, text)):
            return Judged(QueryClass.UNKNOWN)
        if SUMMARY.search(text):
            return Judged(QueryClass.SUMMARY)
        message = _without_salutation(text)
        if not message or (len(text) <= _LONGEST_THANKS and THANKS.search(text) and not ASKS.search(message)):
            return Judged(QueryClass.CHITCHAT)
        if CONTROL.search(message):
            return Judged(QueryClass.UNKNOWN)
        if FOLLOW_UP.search(message) and len(message) <= _LONGEST_CHITCHAT:
            return Judged(QueryClass.QUESTION if has_history or ASKS.search(message) else QueryClass.UNKNOWN)
        return self._judge_content(message)

    def _judge_content(self, message: str) -> Judged:
        if len(message) > _LONGEST_CHITCHAT:
            return Judged(QueryClass.QUESTION)
        if CHITCHAT.search(message):
            return Judged(QueryClass.CHITCHAT)
        if SEEKS.search(message) or self._is_on_topic(message):
            return Judged(QueryClass.QUESTION)
        threshold = self._model.threshold if " " in message else _ONE_WORD_THRESHOLD
        chatty = self._model.probability(message)
        kind = QueryClass.CHITCHAT if chatty >= threshold else QueryClass.QUESTION
        return Judged(kind, chatty < _SURE_QUESTION or chatty >= max(threshold, _SURE_CHITCHAT))


def _without_salutation(text: str) -> str:
    message = text.strip()
    for _ in range(_MOST_SALUTATIONS):
        message = SALUTATION.sub("", message, count=1)
    return message if any(map(str.isalnum, message)) else ""
