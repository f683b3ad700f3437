"""What judges must answer with, as JSON schemas: every property required, none besides, as strict decoders want it.

Ranges stand in the descriptions: not every server takes bounds in a schema, and each judge checks its numbers itself.
"""

from collections.abc import Mapping
from typing import Any

from selfright.domain.chat import Job
from selfright.domain.judgements import AnswerQuality, ClaimStatus, QueryClass

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
