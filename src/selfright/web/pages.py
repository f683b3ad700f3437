"""Pages behind results: fetched and read; and what stands for one that cannot be read."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from selfright.domain.errors import PageRefused, PageUnusable
from selfright.domain.passages import Document
from selfright.domain.text import language_of
from selfright.web.extract import read_reply
from selfright.web.politeness import Visitor
from selfright.web.providers.provider import Result
from selfright.web.types import Reply, RequestCounter

log = logging.getLogger(__name__)

_LEAST_SNIPPET = 40


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
