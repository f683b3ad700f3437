"""Prompts made to fit a model that reads few tokens: data between delimiters gives way, rules and questions stay."""

import math
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace

from selfright.domain.chat import CODE, ChatRequest
from selfright.domain.errors import ModelRejected

Count = Callable[[str], Awaitable[int]]
"""How many tokens a text has."""

LEAST_REPLY = 256
"""Tokens that are kept for a reply."""

_TEMPLATE = 96  # tokens around the two prompts: the chat template's own
_OF_CONTEXT = 4  # a reply may take a quarter of it before the prompt is cut
_ROUNDS = 6
_SHORTEST = 160  # characters of a piece of evidence under which it says nothing
_DATA = re.compile(
    rf"<(?P<name>[a-z]{{2,24}})-(?P<code>[0-9a-f]{{{CODE}}})>\n(?P<body>.*?)\n</(?P=name)-(?P=code)>", re.DOTALL
)
_KEPT = ("question", "message", "answer", "missing")
_NOTHING = "…"


async def fit_request(request: ChatRequest, context: int, count: Count) -> tuple[ChatRequest, int]:
    """The request as far as ``context`` tokens go, reply included, and how many characters of data were left out.

    What stands between delimiters is cut evenly, the longest first, and dropped from the end where little would be left
    of each; its numbers stay. Rules, the question and what is judged are never cut: raises ``ModelRejected`` when these
    alone are too long.
    """
    room = min(request.max_tokens, max(LEAST_REPLY, context // _OF_CONTEXT))
    most = context - room - _TEMPLATE
    user = request.user
    taken = await _tokens(request.system, user, count, most)
    pieces = _split(user)
    for n in range(_ROUNDS):
        if taken <= most:
            break
        if n == _ROUNDS - 1 or all(text == _NOTHING for text in pieces[1::2]):
            raise ModelRejected(
                f"the prompt needs about {taken + room} tokens, and the model reads {context}; ask a shorter question, "
                "or use a model that reads more"
            )
        pieces = _cut(pieces, most / taken)
        user = "".join(pieces)
        taken = await _tokens(request.system, user, count, most)
    left = min(request.max_tokens, context - taken - _TEMPLATE)
    return replace(request, user=user, max_tokens=left), len(request.user) - len(user)


async def _tokens(system: str, user: str, count: Count, most: int) -> int:
    """Tokens of both prompts; not counted where they are fewer than bytes in any case."""
    size = len(system.encode("utf-8", "surrogatepass")) + len(user.encode("utf-8", "surrogatepass"))
    return size if size <= most else await count(f"{system}\n{user}")


def _split(user: str) -> list[str]:
    """The prompt in pieces: every second one is data, which may be cut."""
    pieces, last = list[str](), 0
    for found in _DATA.finditer(user):
        if found["name"] not in _KEPT:
            for start, end in _bodies(found):
                pieces += [user[last:start], user[start:end]]
                last = end
    return [*pieces, user[last:]]


def _cut(pieces: list[str], share: float) -> list[str]:
    """The pieces with their data cut so far that about ``share`` of the whole prompt is left."""
    data = pieces[1::2]
    has, whole = sum(map(len, data)), sum(map(len, pieces))
    goal, count = max(0, math.floor(has - (1 - 0.95 * share) * whole)), len(data)
    while (limit := _water_level([len(text) for text in data[:count]], goal)) < _SHORTEST and count > 1:
        count -= 1
    kept = [_shorten(text, limit) if len(text) > limit else text for text in data[:count]]
    cut = list(pieces)
    cut[1::2] = kept + [_NOTHING] * (len(data) - count)
    return cut


def _bodies(found: re.Match[str]) -> Iterator[tuple[int, int]]:
    """Where the data between two marks stands: of numbered texts each, without the lines that carry the numbers."""
    start, last = found.span("body")
    line = re.compile(rf"^{found['name'].removesuffix('s')}-{found['code']} \[\d+\][^\n]*\n", re.MULTILINE)
    for number in line.finditer(found.string, start, last):
        if number.start() > start:
            yield start, number.start() - 1
        start = number.end()
    yield start, last


def _water_level(lengths: Sequence[int], goal: int) -> int:
    """The length to which the longer ones must be cut so that all together have at most ``goal``."""
    left, kept = goal, len(lengths)
    for length in sorted(lengths):
        if length * kept > left:
            return left // kept
        left, kept = left - length, kept - 1
    return max(lengths, default=0)


def _shorten(text: str, limit: int) -> str:
    """The beginning of ``text``, to the end of a sentence or a word where there is one."""
    if limit < 2:
        return _NOTHING
    kept = text[: limit - 1]
    end = max((match.end() for match in re.finditer(r"[.!?。](?=\s)|\n", kept)), default=0)
    end = end if end > len(kept) // 2 else kept.rfind(" ")
    return (kept[:end] if end > len(kept) // 2 else kept).rstrip() + _NOTHING
