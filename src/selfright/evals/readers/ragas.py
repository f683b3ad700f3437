"""RAGAS samples: ``user_input, reference, reference_contexts``; of older versions ``question, ground_truth, contexts``.

What another system had answered (``response``) and retrieved is not asked for again and is left out.
"""

from collections.abc import Mapping
from typing import Any

from selfright.domain.answers import Message
from selfright.evals.questions import Question
from selfright.evals.readers.rows import BadRow, identifier, kind, text, texts

_ROLES = {"human": "user", "user": "user", "ai": "assistant", "assistant": "assistant"}


def fits(row: Mapping[str, Any]) -> bool:
    """Whether a row may be of this form."""
    return "user_input" in row or ("question" in row and ("ground_truth" in row or "ground_truths" in row))


def questions(row: Mapping[str, Any], otherwise: str) -> list[Question]:
    """The row's question; of a conversation its last message, the ones before it as history."""
    history, question = _asked(row)
    name = identifier(row, ("id", "_id"), otherwise)
    answers = next((found for key in ("reference", "ground_truth", "ground_truths") if (found := texts(row, key))), ())
    contexts = texts(row, "reference_contexts") or texts(row, "contexts")
    passages = tuple((f"{name}-{n}", "", context) for n, context in enumerate(contexts))
    relevant = tuple(passage for passage, _, _ in passages) if "reference_contexts" in row else ()
    answerable = True if answers else None
    return [Question(name, question, answers, answerable, relevant, history, passages=passages)]


def _asked(row: Mapping[str, Any]) -> tuple[tuple[Message, ...], str]:
    given = row.get("user_input")
    if not isinstance(given, list):
        return (), text(row, "user_input" if "user_input" in row else "question")
    messages = [message for message in map(_message, given) if message is not None]
    while messages and messages[-1].role != "user":
        messages.pop()
    if not messages:
        raise BadRow("expected a message of the user in 'user_input', got none")
    return tuple(messages[:-1]), messages[-1].content


def _message(given: Any) -> Message | None:
    """A message of the conversation; None for a tool's."""
    kind_of = given.get("type") if isinstance(given, dict) else None
    if kind_of == "tool":
        return None
    if kind_of not in _ROLES or not isinstance(given.get("content"), str):
        raise BadRow(
            f"expected messages {{'type': 'human' or 'ai', 'content': text}} as 'user_input', got {kind(given)}"
        )
    return Message(_ROLES[kind_of], given["content"])
