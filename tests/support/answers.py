"""Answers as the service sends them, filled in where a test does not care."""

from typing import Any

from selfright.schemas import AnswerReply, Citation, Evidence

_ANSWER: dict[str, Any] = {
    "question": "?",
    "abstained": False,
    "language": "en",
    "citations": [],
    "evaluation": None,
    "verdict": "correct",
    "stop_reason": "adequate",
    "preset": "full",
    "degraded": False,
    "iterations": [],
    "removed_claims": [],
    "notes": [],
    "cost": {"llm_calls": 0, "prompt_tokens": 0, "completion_tokens": 0, "web_requests": 0, "seconds": 0.1},
    "trace_id": "t",
}
EVALUATION: dict[str, Any] = {
    **dict.fromkeys(("grounding", "completeness", "accuracy", "overall", "confidence"), 0.5),
    "answer_quality": "adequate",
    "missing_info": [],
    "improvement_suggestions": [],
    "needs_retrieval": False,
    "reason": "",
    "source": "local",
    "claims": [],
}


def reply(text: str, **fields: object) -> AnswerReply:
    """An answer with this text."""
    return AnswerReply.model_validate({**_ANSWER, "answer": text, **fields})


def cited(n: int, start: int, end: int, document: str = "doc.md", **fields: object) -> Citation:
    """A citation of a part of a document whose text is ``x`` over and over."""
    place = {"passage_id": f"{document}#0", "document_id": document, "title": "Title", "section": ""}
    return Citation.model_validate({**place, "n": n, "start": start, "end": end, "text": "x" * (end - start), **fields})


def passage(
    text: str, *strips: tuple[int, int], start: int = 0, document: str = "doc.md", **fields: object
) -> Evidence:
    """A passage of which these strips were kept; positions are the document's."""
    place = {"passage_id": f"{document}#0", "document_id": document, "title": "Title", "section": ""}
    kept = [{"start": first, "end": last, "score": 0.9} for first, last in strips]
    span = {"start": start, "end": start + len(text), "text": text, "strips": kept}
    return Evidence.model_validate({**place, **span, **fields})
