"""Queries by a language model [S3]; the offline rewriter stands in whenever what comes of it is no query."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from selfright.background import run_in_thread
from selfright.domain.answers import Focus, Message, RewriteRequest
from selfright.domain.chat import Job
from selfright.domain.passages import Hit
from selfright.domain.ports import ChatModel
from selfright.domain.text import language_of
from selfright.roles.model_calls import JudgingMode, complete_text
from selfright.roles.prompting import rewrite_prompt, standalone_prompt, web_prompt
from selfright.roles.rewrite.contextualize import has_no_topic
from selfright.roles.rewrite.offline import OfflineRewriter
from selfright.roles.rewrite.query_text import LONGEST_QUERY, strip_prefix

REWRITE_TEMPERATURE = 0.5
_MOST_WEB_WORDS = 8


@dataclass(frozen=True, slots=True)
class QueryRewriter:
    """Implements the port ``Rewriter``.

    Without feedback there is nothing to rewrite from, and no call is made. In a cascade a question is made stand-alone
    by the model only when it leans on the conversation; web queries are the model's only when it is asked ``always``.
    """

    chat: ChatModel
    offline: OfflineRewriter
    judging: JudgingMode = "cascade"

    async def rewrite(self, request: RewriteRequest) -> str:
        """A query of at most 400 characters that was not tried yet, else what the offline rewriter makes of it."""
        if not (request.missing_info or request.improvement_suggestions):
            return await self.offline.rewrite(request)
        query = _query(await complete_text(self.chat, Job.REWRITE, rewrite_prompt(request), REWRITE_TEMPERATURE))
        tried = {_fold(text) for text in (request.question, request.query, *request.tried)}
        return query if query and _fold(query) not in tried else await self.offline.rewrite(request)

    async def for_web(self, question: str, missing_info: Sequence[str] = ()) -> str:
        """At most eight words; the offline rewriter's when the model is not asked or writes more than that."""
        if self.judging == "always":
            prompts = web_prompt(question, missing_info, language_of(question))
            query = _query(await complete_text(self.chat, Job.WEB_QUERY, prompts, REWRITE_TEMPERATURE))
            if query and len(query.split()) <= _MOST_WEB_WORDS:
                return query
        return await self.offline.for_web(question, missing_info)

    async def focus(self, message: str, follows: bool = False) -> Focus:
        """As the offline rewriter: no call is made before anything was looked up."""
        return await self.offline.focus(message, follows)

    async def meanings(self, asked: str, question: str, history: Sequence[Message]) -> tuple[str, ...]:
        """As the offline rewriter."""
        return await self.offline.meanings(asked, question, history)

    async def settles(self, asked: str, question: str, hits: Sequence[Hit]) -> bool:
        """As the offline rewriter."""
        return await self.offline.settles(asked, question, hits)

    async def likeliest(self, asked: str, found: Mapping[str, Sequence[Hit]]) -> str:
        """As the offline rewriter: what the index speaks of is no matter of opinion."""
        return await self.offline.likeliest(asked, found)

    async def standalone(self, question: str, history: Sequence[Message], summary: str = "") -> str:
        """The question without its conversation; unchanged when it stands alone.

        What a model writes must keep half of the question, by the weight of its key terms: else it may be an answer.
        """
        if not history and not summary.strip():
            return question
        if has_no_topic(question):
            return await self.offline.standalone(question, history, summary)
        if self.judging == "always" or await run_in_thread(
            len(question), lambda: self.offline.depends_on_history(question)
        ):
            prompts = standalone_prompt(question, history, summary, language_of(question))
            query = _query(await complete_text(self.chat, Job.STANDALONE, prompts))
            keeps = await run_in_thread(len(question), lambda: self.offline.keeps(question, query))
            if query and keeps:
                return query
        return await self.offline.standalone(question, history, summary)


def _query(text: str | None) -> str:
    """The bare query; empty for nothing and for what is too long to be one, for it is then an answer or a lecture."""
    query = strip_prefix(text or "")
    return query if any(map(str.isalnum, query)) and len(query) <= LONGEST_QUERY else ""


def _fold(query: str) -> str:
    return " ".join(query.casefold().split()).rstrip(" ?.!？。")
