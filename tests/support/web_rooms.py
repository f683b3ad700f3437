"""A web of this machine: names that lead to servers of a test, and everything that a live search needs."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from selfright.domain.passages import Document, Passage
from selfright.web.addresses import Permissions
from selfright.web.extract import read_reply
from selfright.web.guard import Guard
from selfright.web.live import LiveWeb, Pages
from selfright.web.politeness import HostThrottle, Visitor
from selfright.web.provider import Provider
from selfright.web.services import SERVICES
from selfright.web.types import RequestLimits

KEY = "key-of-a-test"
QUICK = RequestLimits(seconds=2.0, connect_s=1.0, bytes=1_000_000)


class Words:
    """A tokenizer of lower-case words."""

    name = "words"

    def tokens(self, text: str) -> list[str]:
        return [word.strip(".,?#").lower() for word in text.split()]

    def translations(self, _term: str) -> tuple[()]:
        return ()


def split(document: Document) -> list[Passage]:
    """A passage a line."""
    passages, start = [], 0
    for n, line in enumerate(document.text.split("\n")):
        end = start + len(line)
        if line.strip():
            place = (f"{document.id}#{n}", document.id, document.title, line, start, end)
            passages.append(Passage(*place, language=document.language, url=document.url))
        start = end + 1
    return passages


def names(table: Mapping[str, list[str]]) -> Callable[[str, int], Awaitable[list[str]]]:
    """A resolver that knows these names only."""

    async def resolve(host: str, port: int) -> list[str]:
        if host not in table:
            raise OSError("no such name")
        return table[host]

    return resolve


def guard(*allowed: str, table: Mapping[str, list[str]] | None = None, limits: RequestLimits = QUICK) -> Guard:
    return Guard(Permissions.of(allowed), limits, names(table or {}))


async def at_once(_seconds: float) -> None:
    """Stands for sleeping."""


def service(name: str, base_url: str, **more: Any) -> Provider:
    transport = Guard(Permissions.of_base(base_url), QUICK, names({}))
    return SERVICES[name](base_url, transport, KEY, **{"apart_s": 0.0, "sleep": at_once, **more})


PROVIDERS: dict[str, Callable[..., Provider]] = {name: partial(service, name) for name in SERVICES}


def visitor(transport: Guard) -> Visitor:
    return Visitor(transport, HostThrottle(apart_s=0.0))


def live(provider: Provider, transport: Guard | None = None, **more: Any) -> LiveWeb:
    pages = Pages(visitor(transport or guard()), partial(read_reply, read_pdf=read_pdf))
    return LiveWeb(provider, pages, split, Words(), **more)


def read_pdf(path: Path) -> Document:
    assert path.read_bytes().startswith(b"%PDF-")
    return Document(path.name, "Manual", "The manual says two bar.")
