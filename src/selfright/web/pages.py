"""Pages behind results: fetched, read, kept; and what stands for one that cannot be read."""

import asyncio
import dataclasses
import logging
from collections.abc import Sequence

from selfright.domain.errors import PageRefused, PageUnusable
from selfright.domain.passages import Document
from selfright.domain.text import language_of
from selfright.web.cache import WebCache
from selfright.web.extract import PageReader
from selfright.web.providers.results import Result
from selfright.web.types import Tally
from selfright.web.visiting import Visitor

log = logging.getLogger(__name__)

_LEAST_SNIPPET = 40


@dataclasses.dataclass(frozen=True, slots=True)
class Pages:
    """Fetches pages with ``visitor``, reads them with ``reader``, keeps their texts in ``cache``.

    Where a page cannot be read, what the provider itself told of it stands for it; a page that must not be fetched is
    left out. Nothing here belongs to one event loop.
    """

    visitor: Visitor
    reader: PageReader
    cache: WebCache | None = None

    async def behind(self, results: Sequence[Result], tally: Tally, last: float) -> list[Document]:
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
        kept = await asyncio.to_thread(self.cache.get, "page", result.url) if self.cache else None
        if kept is not None and (page := _from_row(kept)) is not None:
            return page
        try:
            reply = await self.visitor.fetch(result.url, tally)
            page = await asyncio.to_thread(self.reader.read, reply)
        except PageRefused as error:
            log.warning("a result is left out: %s", error)
            return None
        except PageUnusable as error:
            log.info("a page is not read: %s", error)
            return _snippet(result)
        if self.cache:
            await asyncio.to_thread(self.cache.put, _as_row(page), "page", result.url)
        return page


def _snippet(result: Result) -> Document | None:
    """What the provider told of a page that could not be read; None when that is next to nothing."""
    text = result.snippet
    if len(text) < _LEAST_SNIPPET:
        return None
    return Document(result.url, result.title, text, language_of(text), result.url, result.url)


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
