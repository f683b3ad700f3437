"""A search of the real web: a provider's results, the pages behind them, and of these the passages that fit.

A list of addresses can stand for the web: its pages are fetched and searched alike.
"""

import asyncio
import dataclasses
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from selfright.domain.errors import PageRefused, PageUnusable, SettingsError, WebUnavailable
from selfright.domain.passages import Document, Passage, WebFinding
from selfright.domain.ports import Tokenizer
from selfright.domain.text import language_of
from selfright.web.addresses import target_of
from selfright.web.extract import read_reply
from selfright.web.page_index import PASSAGES_PER_PAGE, Bm25, PageIndex, Split, new_passages, passages_of
from selfright.web.politeness import Visitor
from selfright.web.provider import MOST, Provider, Result
from selfright.web.types import Reply, RequestCounter

log = logging.getLogger(__name__)

_LEAST_SNIPPET = 40
_SPARE = 3  # results beyond those that are wanted, for pages that cannot be used
_PASSAGES_RANKED = 2_000


@dataclass(frozen=True, slots=True)
class Pages:
    """Fetches pages with ``visitor``, reads them with ``read``.

    Where a page cannot be read, what the provider itself told of it stands for it; a page that must not be fetched is
    left out. Nothing here belongs to one event loop.
    """

    visitor: Visitor
    read: Callable[[Reply], Document] = read_reply

    async def behind(self, results: Sequence[Result], tally: RequestCounter, last: float) -> list[Document]:
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

    async def _page(self, result: Result, tally: RequestCounter) -> Document | None:
        try:
            reply = await self.visitor.fetch(result.url, tally)
            return await asyncio.to_thread(self.read, reply)
        except PageRefused as error:
            log.warning("a result is left out: %s", error)
            return None
        except PageUnusable as error:
            log.info("a page is not read: %s", error)
            return _snippet(result)


def _snippet(result: Result) -> Document | None:
    """What the provider told of a page that could not be read; None when that is next to nothing."""
    text = result.snippet
    if len(text) < _LEAST_SNIPPET:
        return None
    return Document(result.url, result.title, text, language_of(text), result.url, result.url)


class LiveWeb:
    """Finds pages with ``provider`` and reads them; port ``WebSearch``.

    All pages together have ``seconds``; what is late is left behind. Nothing here belongs to one event loop.
    """

    def __init__(
        self, provider: Provider, pages: Pages, split: Split, tokenizer: Tokenizer, seconds: float = 20.0
    ) -> None:
        self._provider, self._pages = provider, pages
        self._split, self._tokenizer, self._seconds = split, tokenizer, seconds

    async def search(self, query: str, k: int) -> WebFinding:
        """At most ``k`` pages with their best passages, in the provider's order.

        ``requests`` counts what was sent: to the provider, for pages, and for robots.txt. Raises ``WebUnavailable``,
        ``WebRejected`` or ``WebReplyUnusable`` when the provider gives no results.
        """
        tally = RequestCounter()
        query = " ".join(query.split())
        if not query or k < 1:
            return WebFinding((), self._provider.name, 0)
        results = await self._provider.results(query, min(k + _SPARE, MOST), tally)
        last = asyncio.get_running_loop().time() + self._seconds
        pages = await self._pages.behind(results[:k], tally, last)
        if missing := k - len(pages):
            pages += await self._pages.behind(results[k : k + missing], tally, last)
        found = await asyncio.to_thread(self._best, query, pages)
        return WebFinding(tuple(found), self._provider.name, tally.requests)

    def _best(self, query: str, pages: Sequence[Document]) -> list[Passage]:
        """The best passages of each page, best first, none that repeats another; where no word fits, its first one."""
        terms = self._tokenizer.tokens(query)
        by_url = {page.url or page.id: page for page in reversed(pages)}  # of two that redirect to one, the first
        found: list[Passage] = []
        for url in dict.fromkeys(page.url or page.id for page in pages):
            page = by_url[url]
            if date := page.metadata.get("date"):  # the citation then shows how old the page is
                page = dataclasses.replace(page, title=f"{page.title} ({date})")
            passages = passages_of(page, url, self._split)[:_PASSAGES_RANKED]
            ranked = Bm25(self._tokenizer.tokens(f"{one.context}\n{one.text}") for one in passages).rank(terms)
            found += [passages[match.index] for match in ranked[:PASSAGES_PER_PAGE]] or passages[:1]
        return new_passages(found)


MOST_ADDRESSES = 200
_FILE_BYTES = 500_000
_KEPT_S = 3_600.0


class ListedWeb:
    """Searches the pages of a file of addresses, one a line (``#`` begins a comment); port ``WebSearch``.

    The pages are fetched at the first search, all in ``seconds``, and again after an hour; what cannot be read is left
    out and logged. Raises ``SettingsError`` for a line that is no address, and for more than 200.
    """

    def __init__(self, file: Path, pages: Pages, split: Split, tokenizer: Tokenizer, seconds: float = 60.0) -> None:
        self._addresses = addresses_in(file)
        self._pages, self._split, self._tokenizer, self._seconds = pages, split, tokenizer, seconds
        self._index: tuple[float, PageIndex] | None = None

    async def search(self, query: str, k: int) -> WebFinding:
        """At most ``k`` pages with their best passages, best page first; none when nothing fits.

        ``requests`` counts what was sent in this search. Raises ``WebUnavailable`` when no page can be read.
        """
        tally = RequestCounter()
        index = await self._load(tally)
        pages = await asyncio.to_thread(index.search, query, k)
        return WebFinding(tuple(one for page in pages for one in page), "static", tally.requests)

    async def _load(self, tally: RequestCounter) -> PageIndex:
        kept = self._index
        if kept is not None and time.monotonic() - kept[0] < _KEPT_S:
            return kept[1]
        # Two first searches may both fetch: a lock over the network would tie searches of other loops to it.
        last = asyncio.get_running_loop().time() + self._seconds
        results = [Result(address, address) for address in self._addresses]
        pages = await self._pages.behind(results, tally, last)
        if not pages:
            raise WebUnavailable(
                f"none of the {len(results)} listed pages could be read; see the log", requests=tally.requests
            )
        if len(pages) < len(results):
            log.warning("%d of %d listed pages could not be read", len(results) - len(pages), len(results))
        cut = [passages_of(page, page.url or page.id, self._split) for page in pages]
        index = await asyncio.to_thread(PageIndex, cut, self._tokenizer)
        self._index = time.monotonic(), index
        return index


def addresses_in(file: Path) -> tuple[str, ...]:
    """The addresses of a file, each once, in its order."""
    if file.stat().st_size > _FILE_BYTES:
        raise SettingsError(f"expected a list of at most {MOST_ADDRESSES} addresses, but {file} is larger than that")
    found: dict[str, None] = {}
    for number, line in enumerate(file.read_text(encoding="utf-8", errors="replace").splitlines(), start=1):
        address = line.partition(" #")[0].strip()
        if not address or address.startswith("#"):
            continue
        try:
            found[target_of(address).url] = None
        except PageRefused as error:
            raise SettingsError(f"{file}, line {number}: expected an address (http or https): {error}") from None
    if not found or len(found) > MOST_ADDRESSES:
        raise SettingsError(f"expected 1 to {MOST_ADDRESSES} addresses in {file}, but there are {len(found)}")
    return tuple(found)
