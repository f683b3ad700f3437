"""A rolling summary by a language model."""

from collections.abc import Sequence
from dataclasses import dataclass

from selfright.domain.answers import Message
from selfright.domain.chat import Job
from selfright.domain.passages import Language
from selfright.domain.ports import ChatModel
from selfright.roles.asking import written
from selfright.roles.prompting import summary_prompt
from selfright.roles.rewrite.prefixes import bounded
from selfright.roles.summary.offline import LONGEST, OfflineSummarizer

_MOST_TOKENS = 2_048


@dataclass(frozen=True, slots=True)
class ModelSummarizer:
    """Implements the port ``Summarizer``: one call; the offline summarizer stands in when nothing comes of it."""

    chat: ChatModel
    offline: OfflineSummarizer

    async def summarize(self, summary: str, messages: Sequence[Message], language: Language) -> str:
        """``summary`` with ``messages`` taken into it, at most 1,200 characters; unchanged when there are none."""
        if not any(message.content.strip() for message in messages):
            return summary
        text = await written(
            self.chat, Job.SUMMARIZE, summary_prompt(summary, messages, language), max_tokens=_MOST_TOKENS
        )
        return bounded(text, LONGEST) if text else await self.offline.summarize(summary, messages, language)
