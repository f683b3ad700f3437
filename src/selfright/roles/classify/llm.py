"""Tells what kind of message it is with a language model."""

from collections.abc import Sequence
from dataclasses import dataclass

from selfright.domain.answers import Message, Restated
from selfright.domain.chat import Job
from selfright.domain.errors import ReplyUnusable
from selfright.domain.judgements import QueryClass
from selfright.domain.ports import ChatModel
from selfright.roles.classify.offline import OfflineClassifier
from selfright.roles.model_calls import CLASSIFY_SCHEMA, OUT_OF_REACH, JudgingMode, told
from selfright.roles.prompting import classify_prompt


@dataclass(frozen=True, slots=True)
class ModelClassifier:
    """Implements the port ``Classifier``: in a cascade the model is asked only where the offline rules are unsure."""

    chat: ChatModel
    offline: OfflineClassifier
    judging: JudgingMode = "cascade"

    async def classify(self, text: str, history: Sequence[Message] = ()) -> QueryClass:
        """The class of ``text``; the offline one when the model cannot be asked or names no class."""
        own = await self.offline.judged_aside(text, history)
        if (own.sure and self.judging == "cascade") or not text.strip():
            return own.kind
        try:
            said = await told(self.chat, Job.CLASSIFY, classify_prompt(text, history), CLASSIFY_SCHEMA)
            return QueryClass(str(said.get("query_class")).strip().lower())
        except (*OUT_OF_REACH, ReplyUnusable, ValueError):
            return own.kind

    async def conversational(self, text: str, history: Sequence[Message]) -> bool:
        """Whether what was said before may be enough to answer: the offline role's word, no call is worth it."""
        return await self.offline.conversational(text, history)

    async def restated(self, text: str, history: Sequence[Message]) -> Restated | None:
        """As the offline role: the sources of the answer before are not for a model to tell."""
        return await self.offline.restated(text, history)
