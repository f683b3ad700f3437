"""How model-backed roles ask: one call for an object or a line of text, and the JSON schemas of the objects.

Every property of a schema is required, none besides, as strict decoders want it. Ranges stand in the descriptions: not
every server takes bounds in a schema, and each judge checks its numbers itself.
"""

from collections.abc import Mapping
from typing import Any, Literal

from selfright.domain.chat import ChatRequest, Finish, Job
from selfright.domain.errors import BudgetSpent, ModelRejected, ModelUnavailable, ReplyUnusable
from selfright.domain.judgements import AnswerQuality, ClaimStatus, QueryClass
from selfright.domain.ports import ChatModel
from selfright.roles.prompting import Prompts

Schema = Mapping[str, Any]


def _object(title: str, **properties: Schema) -> dict[str, Any]:
    return {
        "title": title,
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _share(what: str) -> Schema:
    return {"type": "number", "description": f"{what}, from 0 to 1"}


def _list(items: Schema, what: str) -> Schema:
    return {"type": "array", "items": items, "description": what}


_TEXT: Schema = {"type": "string"}
_NUMBER: Schema = {"type": "integer", "description": "number of a passage"}
_REASON: Schema = {"type": "string", "description": "one short sentence"}

CLASSIFY_SCHEMA: Schema = _object(
    Job.CLASSIFY.value,
    query_class={"type": "string", "enum": [kind.value for kind in QueryClass]},
)

GRADING_SCHEMA: Schema = _object(
    Job.GRADE.value,
    passages=_list(
        _object("passage", n=_NUMBER, probability=_share("probability that the passage helps to answer")),
        "each passage once",
    ),
    sufficiency=_share("probability that the passages together answer the question"),
    reason=_REASON,
)

STRIPS_SCHEMA: Schema = _object(
    Job.STRIPS.value,
    kept=_list({"type": "integer"}, "numbers of the excerpts to keep"),
)

EVALUATION_SCHEMA: Schema = _object(
    Job.EVALUATE.value,
    grounding=_share("how far the passages support the answer"),
    completeness=_share("how much of the question is answered"),
    accuracy=_share("how free the answer is of errors"),
    answer_quality={"type": "string", "enum": [quality.value for quality in AnswerQuality]},
    confidence=_share("how sure this evaluation is"),
    missing_info=_list(_TEXT, "what the answer lacks, each in a few words"),
    improvement_suggestions=_list(_TEXT, "what to change"),
    needs_retrieval={"type": "boolean", "description": "whether another search could improve the answer"},
    reason=_REASON,
    claims=_list(
        _object(
            "claim",
            text={"type": "string", "description": "a sentence of the answer, word for word"},
            status={"type": "string", "enum": [status.value for status in ClaimStatus]},
            passages=_list(_NUMBER, "the passages that support it"),
        ),
        "each sentence of the answer that states a fact",
    ),
)


JudgingMode = Literal["cascade", "always"]
"""Whether a model is asked only where the offline judge is unsure, or each time."""

OUT_OF_REACH = (ModelUnavailable, ModelRejected, BudgetSpent)
"""What an offline role steps in for."""

MOST_TOKENS = 1_024
"""Far more than most of these replies need, for models that think before they write count that, too."""


async def complete_json(
    chat: ChatModel, job: Job, prompts: Prompts, schema: Schema, temperature: float = 0.0
) -> Mapping[str, Any]:
    """The object that the model gives. Raises what ``ChatModel.complete`` does, ``ReplyUnusable`` for no object too."""
    system, user = prompts
    reply = await chat.complete(ChatRequest(job, system, user, temperature, MOST_TOKENS, schema))
    if reply.data is None:
        raise ReplyUnusable(f"an object was expected for '{job}', and text came: ask again or choose another model")
    return reply.data


async def complete_text(
    chat: ChatModel, job: Job, prompts: Prompts, temperature: float = 0.0, max_tokens: int = MOST_TOKENS
) -> str | None:
    """What the model writes; None when it is out of reach, refuses, breaks off or writes nothing."""
    system, user = prompts
    try:
        reply = await chat.complete(ChatRequest(job, system, user, temperature, max_tokens))
    except (*OUT_OF_REACH, ReplyUnusable):
        return None
    return reply.text.strip() or None if reply.finish is Finish.STOP else None
