"""Talking to a language model: what a role asks of it, what comes back, and delimiters around what others wrote."""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

OnText = Callable[[str], None]
"""Hears a piece of an answer while it is written."""

CODE = 8  # hex digits of the code in a prompt's marks


class Job(StrEnum):
    """What a model is asked to do. A model can be chosen for each."""

    CLASSIFY = "classify"
    GRADE = "grade"
    STRIPS = "strips"
    ANSWER = "answer"
    EVALUATE = "evaluate"
    REWRITE = "rewrite"
    WEB_QUERY = "web_query"
    STANDALONE = "standalone"
    SUMMARIZE = "summarize"
    EXTRACT = "extract"


class Finish(StrEnum):
    """Why a model stopped writing: it was done, ran into the token limit, or would not answer."""

    STOP = "stop"
    LENGTH = "length"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One call of a model.

    ``schema`` is the JSON schema of the object that is wanted, None for plain text: it has a ``title``, requires every
    property and allows no other. ``final`` marks the call that writes the answer: it may use the one call that the
    budget holds back.
    """

    job: Job
    system: str
    user: str
    temperature: float = 0.0
    max_tokens: int = 1_024
    schema: Mapping[str, Any] | None = None
    final: bool = False


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What a model said: ``text`` without its thinking, ``data`` the object when a schema was given.

    Tokens are the provider's count, or an estimate where it gives none.
    """

    text: str
    finish: Finish = Finish.STOP
    data: Mapping[str, Any] | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    model: str = ""


class PromptDelimiters:
    """Delimiters that nothing inside them can close: they carry a code made from everything they enclose."""

    def __init__(self, code: str) -> None:
        self._code = code

    @classmethod
    def around(cls, *texts: str) -> "PromptDelimiters":
        """Delimiters for ``texts``, which must be all that others wrote of a prompt."""
        content = "\0".join(texts)
        code = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:CODE]
        # The code cannot be known before the text is written, but an accident costs nothing to exclude.
        while code in content:
            code = hashlib.sha256(code.encode()).hexdigest()[:CODE]
        return cls(code)

    def wrap(self, name: str, text: str) -> str:
        """``text`` between an opening and a closing mark; nothing for blank text."""
        return f"<{name}-{self._code}>\n{text.strip()}\n</{name}-{self._code}>" if text.strip() else ""

    def wrap_numbered(self, name: str, texts: Iterable[tuple[str, str]]) -> str:
        """Texts, each under a line with its number from 1, between one pair of marks (``name`` + s).

        That line carries the code, too: no text can begin another number. It has the heading where this is another one
        than above. Reading is what costs a small model its time.
        """
        lines, above = [], ""
        for n, (heading, text) in enumerate(texts, start=1):
            said = "" if heading == above else " ".join(heading.split()).replace("<", "‹").replace(">", "›")[:200]
            lines.append(f"{name}-{self._code} [{n}] {said}".rstrip() + f"\n{text.strip() or '…'}")
            above = heading
        return self.wrap(f"{name}s", "\n".join(lines))
