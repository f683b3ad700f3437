"""A search of the real web: a provider's results, the pages behind them, and of these the passages that fit."""

import asyncio
import copy
import dataclasses
import logging
from collections.abc import Awaitable, Callable, Sequence

from selfright.domain.errors import SelfrightError
from selfright.domain.passages import Document, Passage, WebFinding
from selfright.domain.ports import Tokenizer
from selfright.web.pages import Pages
from selfright.web.providers.results import MOST, Provider, Result, as_rows, from_rows
from selfright.web.ranking import Bm25, new_passages
from selfright.web.search import Split, passages_of
from selfright.web.types import Tally

log = logging.getLogger(__name__)

Known = Callable[[str], Awaitable[Sequence[str]]]
"""A query to the texts that the index has for it."""

_PASSAGES_PER_PAGE = 3
_SPARE = 3  # results beyond those that are wanted, for pages that cannot be used
_PASSAGES_RANKED = 2_000


class LiveWeb:
    """Finds pages with ``provider`` and reads them; port ``WebSearch``.

    ``known`` gives the index's own texts, whose repetition is no second source. All pages together have ``seconds``;
    what is late is left behind. Results are kept where pages are. Nothing here belongs to one event loop.
    """

    def __init__(
        self,
        provider: Provider,
        pages: Pages,
        split: Split,
        tokenizer: Tokenizer,
        known: Known | None = None,
        seconds: float = 20.0,
    ) -> None:
        self._provider, self._pages, self._cache = provider, pages, pages.cache
        self._split, self._tokenizer, self._known, self._seconds = split, tokenizer, known, seconds

    def beside(self, known: Known) -> "LiveWeb":
        """The same web for a turn whose index has ``known``."""
        web = copy.copy(self)
        web._known = known
        return web

    async def search(self, query: str, k: int) -> WebFinding:
        """At most ``k`` pages with their best passages, in the provider's order.

        ``requests`` counts what was sent: to the provider, for pages, and for robots.txt. Raises ``WebUnavailable``,
        ``WebRejected`` or ``WebReplyUnusable`` when the provider gives no results.
        """
        tally = Tally()
        query = " ".join(query.split())
        if not query or k < 1:
            return WebFinding((), self._provider.name, 0)
        results = await self._results(query, min(k + _SPARE, MOST), tally)
        last = asyncio.get_running_loop().time() + self._seconds
        pages = await self._pages.behind(results[:k], tally, last)
        if missing := k - len(pages):
            pages += await self._pages.behind(results[k : k + missing], tally, last)
        found = await asyncio.to_thread(self._best, query, pages)
        kept = await asyncio.to_thread(new_passages, found, await self._known_texts(query) if found else ())
        return WebFinding(tuple(kept), self._provider.name, tally.requests)

    async def _known_texts(self, query: str) -> Sequence[str]:
        try:
            return await self._known(query) if self._known else ()
        except SelfrightError as error:  # then nothing is known to be repeated
            log.warning("the index was not asked what it knows already: %s", error)
            return ()

    async def _results(self, query: str, count: int, tally: Tally) -> tuple[Result, ...]:
        name = ("results", self._provider.name, count, query)
        kept = await asyncio.to_thread(self._cache.get, *name) if self._cache else None
        if kept is not None and (results := from_rows(kept)) is not None:
            return results
        results = await self._provider.results(query, count, tally)
        if self._cache and results:
            await asyncio.to_thread(self._cache.put, as_rows(results), *name)
        return results

    def _best(self, query: str, pages: Sequence[Document]) -> list[Passage]:
        """The best passages of each page, best first; where no word fits, its first one."""
        terms = self._tokenizer.tokens(query)
        by_url = {page.url or page.id: page for page in reversed(pages)}  # of two that redirect to one, the first
        found: list[Passage] = []
        for url in dict.fromkeys(page.url or page.id for page in pages):
            passages = passages_of(_dated(by_url[url]), url, self._split)[:_PASSAGES_RANKED]
            ranked = Bm25(self._tokenizer.tokens(f"{one.heading}\n{one.text}") for one in passages).rank(terms)
            best = [passages[match.index] for match in ranked[:_PASSAGES_PER_PAGE]] or passages[:1]
            found += best
        return found


def _dated(page: Document) -> Document:
    """With its date in the title, so that whoever reads the citation sees how old the page is."""
    date = page.metadata.get("date")
    return dataclasses.replace(page, title=f"{page.title} ({date})") if date else page
