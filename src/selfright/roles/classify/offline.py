"""Tells question, summary request and small talk apart without a language model: rules first, then a tiny model.

In doubt a message is a question: small talk that is looked up costs a search, a question taken for small talk is lost.
"""

import asyncio
from collections.abc import Callable, Sequence

from selfright.domain.answers import Message
from selfright.domain.judgements import QueryClass
from selfright.roles.classify.chattiness import ChattinessModel, shipped_model
from selfright.roles.classify.phrases import ASKS, CHITCHAT, CONTROL, FOLLOW_UP, SALUTATION, SEEKS, SUMMARY, THANKS

_MOST_SALUTATIONS = 4
_LONGEST_CHITCHAT = 120
_LONGEST_THANKS = 40
_ONE_WORD_THRESHOLD = 0.95  # a lone noun is a search; a model of endings knows little of it


def _is_never_on_topic(_text: str) -> bool:
    return False


class OfflineClassifier:
    """Implements the port ``Classifier``.

    ``is_on_topic`` lets a domain say that a message concerns it: unless it is a set phrase, it is then a question,
    however chatty it sounds.
    """

    def __init__(
        self, is_on_topic: Callable[[str], bool] = _is_never_on_topic, model: ChattinessModel | None = None
    ) -> None:
        self._is_on_topic = is_on_topic
        self._model = model or shipped_model()

    async def classify(self, text: str, history: Sequence[Message] = ()) -> QueryClass:
        """The class of ``text``; with a conversation before it, a bare "tell me more" is a question."""
        return await asyncio.to_thread(self.judge, text, bool(history))

    def judge(self, text: str, has_history: bool = False) -> QueryClass:
        """As ``classify``, without waiting."""
        if not any(map(str.isalnum, text)):
            return QueryClass.UNKNOWN
        if SUMMARY.search(text):
            return QueryClass.SUMMARY
        message = _without_salutation(text)
        if not message or (len(text) <= _LONGEST_THANKS and THANKS.search(text) and not ASKS.search(message)):
            return QueryClass.CHITCHAT
        if CONTROL.search(message):
            return QueryClass.UNKNOWN
        if FOLLOW_UP.search(message) and len(message) <= _LONGEST_CHITCHAT:
            return QueryClass.QUESTION if has_history or ASKS.search(message) else QueryClass.UNKNOWN
        return self._judge_content(message)

    def _judge_content(self, message: str) -> QueryClass:
        if len(message) > _LONGEST_CHITCHAT:
            return QueryClass.QUESTION
        if CHITCHAT.search(message):
            return QueryClass.CHITCHAT
        if SEEKS.search(message) or self._is_on_topic(message):
            return QueryClass.QUESTION
        threshold = self._model.threshold if " " in message else _ONE_WORD_THRESHOLD
        return QueryClass.CHITCHAT if self._model.probability(message) >= threshold else QueryClass.QUESTION


def _without_salutation(text: str) -> str:
    message = text.strip()
    for _ in range(_MOST_SALUTATIONS):
        message = SALUTATION.sub("", message, count=1)
    return message if any(map(str.isalnum, message)) else ""
