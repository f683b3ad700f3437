"""A rolling summary of a conversation: without a language model what the user asked and how each answer began."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from selfright.domain.answers import Message
from selfright.domain.chat import Job
from selfright.domain.passages import Language
from selfright.domain.ports import ChatModel
from selfright.domain.text import sentence_spans
from selfright.roles.model_calls import complete_text
from selfright.roles.prompting import summary_prompt
from selfright.roles.rewrite.query_text import bound_query

LONGEST = 1_200
_LONGEST_PART = 160
_LONGEST_LINE = 360
_READ = 2_000
_WHOLE = 4  # of so many last exchanges the answers stay longer than older lines
_ARROW = " → "
_MARKER = re.compile(r"\s*\[\d{1,3}\]")
_ROLES: dict[Language, dict[str, str]] = {
    "en": {"user": "User", "assistant": "Answer"},
    "ko": {"user": "사용자", "assistant": "답변"},
}


class OfflineSummarizer:
    """Implements the port ``Summarizer``: one line for each exchange, at most 1,200 characters in all.

    When it gets too long, the oldest lines give up first their answers and then themselves. A summary that a model
    wrote is taken up sentence by sentence.
    """

    async def summarize(self, summary: str, messages: Sequence[Message], language: Language) -> str:
        """``summary`` with ``messages`` taken into it; unchanged when there are none."""
        return self.extend_summary(summary, messages, language)

    def extend_summary(self, summary: str, messages: Sequence[Message], language: Language) -> str:
        """As ``summarize``, without waiting."""
        fresh = list(_exchanges(messages, _ROLES[language]))
        return "\n".join(_merge([*_lines(summary), *fresh])) if fresh else summary


def first_asked(summary: str) -> list[str]:
    """What the user asked first, as far as a summary tells it; none when another hand wrote it."""
    line = next(iter(_lines(summary)), "").split(_ARROW)[0]
    return [line.removeprefix(f"{r['user']}: ") for r in _ROLES.values() if line.startswith(f"{r['user']}: ")]


def _exchanges(messages: Sequence[Message], roles: dict[str, str]) -> Iterator[str]:
    """A line for each message of the user, with the first sentence of what was answered."""
    line = ""
    for message in messages:
        said = _opening(message.content, whole=message.role == "user")
        if not said:
            continue
        part = f"{roles.get(message.role, roles['user'])}: {said}"
        if message.role == "assistant" and line:
            yield f"{line}{_ARROW}{part}"
            line = ""
        else:
            if line:
                yield line
            line = part
    if line:
        yield line


def _opening(text: str, whole: bool) -> str:
    """The text, or its first sentence, in one line of at most 160 characters and without citation markers."""
    read = text[:_READ]
    first = next(sentence_spans(read), (0, 0))
    line = " ".join(_MARKER.sub("", read if whole else read[slice(*first)]).split()).replace(_ARROW.strip(), "-")
    return line if len(line) <= _LONGEST_PART else f"{line[: _LONGEST_PART - 1].rstrip()}…"


def _lines(summary: str) -> list[str]:
    """The lines that were written here as they are, and a text of another hand by its sentences."""
    found: list[str] = []
    for line in summary.splitlines():
        if len(line) > _LONGEST_LINE:
            found += [line[start:end] for start, end in sentence_spans(line)]
        elif line.strip():
            found.append(line.strip())
    return [line[:_LONGEST_LINE] for line in found]


def _merge(lines: list[str]) -> list[str]:
    """Fewer or shorter lines until they fit: the oldest go first, but for what was asked first and said last."""
    size = sum(map(len, lines)) + len(lines)
    for i, line in enumerate(lines[:-_WHOLE]):
        if size <= LONGEST:
            break
        bare = line.split(_ARROW)[0]
        size -= len(line) - len(bare)
        lines[i] = bare
    while size > LONGEST and len(lines) > 2:
        size -= len(lines.pop(1)) + 1
    return lines


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
        text = await complete_text(
            self.chat, Job.SUMMARIZE, summary_prompt(summary, messages, language), max_tokens=_MOST_TOKENS
        )
        return bound_query(text, LONGEST) if text else await self.offline.summarize(summary, messages, language)
