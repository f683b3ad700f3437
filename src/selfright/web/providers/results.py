"""What a provider of results is, and what it gives."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from selfright.domain.errors import PageRefused
from selfright.web.labels import clean_title, plain
from selfright.web.types import Tally
from selfright.web.urls import target_of

MOST = 20
"""Results that are asked of a provider at most."""


@dataclass(frozen=True, slots=True)
class Result:
    """One line of a page of results: ``url`` is safe to show, ``title`` and ``snippet`` are plain text."""

    url: str
    title: str
    snippet: str = ""


class Provider(Protocol):
    """A search engine behind its own interface."""

    @property
    def name(self) -> str:
        """What traces and messages call it."""
        ...

    async def results(self, query: str, count: int, tally: Tally) -> tuple[Result, ...]:
        """At most ``count`` results, best first; empty when there are none.

        Raises ``WebUnavailable``, ``WebRejected`` or ``WebReplyUnusable``, nothing else.
        """
        ...


def cleaned(rows: Iterable[tuple[Any, Any, Any]], count: int) -> tuple[Result, ...]:
    """Results of (URL, title, snippet) as a provider gave them, whatever they are.

    What has no http(s) address goes, and so does the second one of an address.
    """
    found: dict[str, Result] = {}
    for url, title, snippet in rows:
        if not isinstance(url, str) or len(found) >= count:
            continue
        try:
            target = target_of(url.strip())
        except PageRefused:
            continue
        name = clean_title(plain(title)) if isinstance(title, str) else ""
        text = plain(snippet) if isinstance(snippet, str) else ""
        found.setdefault(target.url, Result(target.url, name or target.host, text))
    return tuple(found.values())


def as_rows(results: Sequence[Result]) -> list[dict[str, str]]:
    """For the cache."""
    return [asdict(result) for result in results]


def from_rows(rows: Any) -> tuple[Result, ...] | None:
    """From the cache; None when that is not what it holds."""
    try:
        return tuple(Result(str(row["url"]), str(row["title"]), str(row["snippet"])) for row in rows)
    except (TypeError, KeyError):
        return None
