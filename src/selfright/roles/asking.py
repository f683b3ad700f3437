"""How model-backed roles ask: one call for an object or a line of text, and what to do when there is no use in it."""

from collections.abc import Mapping
from typing import Any, Literal

from selfright.domain.chat import ChatRequest, Finish, Job
from selfright.domain.errors import BudgetSpent, ModelRejected, ModelUnavailable, ReplyUnusable
from selfright.domain.ports import ChatModel
from selfright.roles.prompting import Prompts
from selfright.roles.schemas import Schema

JudgingMode = Literal["cascade", "always"]
"""Whether a model is asked only where the offline judge is unsure, or each time."""

OUT_OF_REACH = (ModelUnavailable, ModelRejected, BudgetSpent)
"""What an offline role steps in for."""

MOST_TOKENS = 1_024
"""Far more than most of these replies need, for models that think before they write count that, too."""


async def told(
    chat: ChatModel, job: Job, prompts: Prompts, schema: Schema, temperature: float = 0.0
) -> Mapping[str, Any]:
    """The object that the model gives. Raises what ``ChatModel.complete`` does, ``ReplyUnusable`` for no object too."""
    system, user = prompts
    reply = await chat.complete(ChatRequest(job, system, user, temperature, MOST_TOKENS, schema))
    if reply.data is None:
        raise ReplyUnusable(f"an object was expected for '{job}', and text came: ask again or choose another model")
    return reply.data


async def written(
    chat: ChatModel, job: Job, prompts: Prompts, temperature: float = 0.0, max_tokens: int = MOST_TOKENS
) -> str | None:
    """What the model writes; None when it is out of reach, refuses, breaks off or writes nothing."""
    system, user = prompts
    try:
        reply = await chat.complete(ChatRequest(job, system, user, temperature, max_tokens))
    except (*OUT_OF_REACH, ReplyUnusable):
        return None
    return reply.text.strip() or None if reply.finish is Finish.STOP else None
