"""A search of the real web: a provider's results, the pages behind them, and of these the passages that fit."""

import asyncio
import dataclasses
import logging
from collections.abc import Awaitable, Callable, Sequence

from selfright.domain.errors import PageRefused, PageUnusable, SelfrightError
from selfright.domain.passages import Document, Passage, WebFinding
from selfright.domain.ports import Tokenizer
from selfright.domain.text import language_of
from selfright.web.asking import Tally
from selfright.web.cache import WebCache
from selfright.web.duplicates import new_passages
from selfright.web.extract import PageReader
from selfright.web.providers.results import MOST, Provider, Result, as_rows, from_rows
from selfright.web.ranking import Bm25
from selfright.web.search import Split, passages_of
from selfright.web.visiting import Visitor

log = logging.getLogger(__name__)

Known = Callable[[str], Awaitable[Sequence[str]]]
"""A query to the texts that the index has for it."""

_PASSAGES_PER_PAGE = 3
_SPARE = 3  # results beyond those that are wanted, for pages that cannot be used
_LEAST_SNIPPET = 40
_PASSAGES_RANKED = 2_000


class LiveWeb:
    """Finds pages with ``provider``, fetches and reads them; port ``WebSearch``.

    Where a page cannot be read, what the provider itself told of it stands for it; a page that must not be fetched is
    left out. ``known`` gives the index's own texts, whose repetition is no second source. All pages together have
    ``seconds``; what is late is left behind. Nothing here belongs to one event loop.
    """

    def __init__(
        self,
        provider: Provider,
        visitor: Visitor,
        reader: PageReader,
        split: Split,
        tokenizer: Tokenizer,
        cache: WebCache | None = None,
        known: Known | None = None,
        seconds: float = 20.0,
    ) -> None:
        self._provider, self._visitor, self._reader = provider, visitor, reader
        self._split, self._tokenizer = split, tokenizer
        self._cache, self._known, self._seconds = cache, known, seconds

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
        pages = await self._pages(results[:k], tally, last)
        if missing := k - len(pages):
            pages += await self._pages(results[k : k + missing], tally, last)
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

    async def _pages(self, results: Sequence[Result], tally: Tally, last: float) -> list[Document]:
        """The pages behind the results that can be used, in their order; ``last`` is the loop's time to be done by."""
        tasks = [asyncio.create_task(self._page(result, tally)) for result in results]
        try:
            if tasks:
                await asyncio.wait(tasks, timeout=max(0.0, last - asyncio.get_running_loop().time()))
            pairs = zip(tasks, results, strict=True)
            pages = [task.result() if task.done() else _snippet(result) for task, result in pairs]
            return [page for page in pages if page is not None]
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _page(self, result: Result, tally: Tally) -> Document | None:
        kept = await asyncio.to_thread(self._cache.get, "page", result.url) if self._cache else None
        if kept is not None and (page := _from_row(kept)) is not None:
            return page
        try:
            reply = await self._visitor.fetch(result.url, tally)
            page = await asyncio.to_thread(self._reader.read, reply)
        except PageRefused as error:
            log.warning("a result is left out: %s", error)
            return None
        except PageUnusable as error:
            log.info("a page is not read: %s", error)
            return _snippet(result)
        if self._cache:
            await asyncio.to_thread(self._cache.put, _as_row(page), "page", result.url)
        return page

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


def _snippet(result: Result) -> Document | None:
    """What the provider told of a page that could not be read; None when that is next to nothing."""
    text = result.snippet
    if len(text) < _LEAST_SNIPPET:
        return None
    return Document(result.url, result.title, text, language_of(text), result.url, result.url)


def _dated(page: Document) -> Document:
    """With its date in the title, so that whoever reads the citation sees how old the page is."""
    date = page.metadata.get("date")
    return dataclasses.replace(page, title=f"{page.title} ({date})") if date else page


def _as_row(page: Document) -> dict[str, str]:
    fields = {name: str(getattr(page, name) or "") for name in ("id", "title", "text", "language", "url", "media_type")}
    return {**fields, "date": page.metadata.get("date", "")}


def _from_row(row: object) -> Document | None:
    if not isinstance(row, dict) or not all(isinstance(row.get(name), str) for name in ("id", "title", "text")):
        return None
    url, date = str(row["id"]), str(row.get("date", ""))
    return Document(
        url, row["title"], row["text"], "ko" if row.get("language") == "ko" else "en", url, url,
        str(row.get("media_type", "text/html")), metadata={"date": date} if date else {},
    )  # fmt: skip
