"""The static provider over the network: a list of addresses, whose pages are searched like the web."""

import asyncio
import logging
import threading
import time
from pathlib import Path

from selfright.domain.errors import PageRefused, SettingsError, WebUnavailable
from selfright.domain.passages import WebFinding
from selfright.domain.ports import Tokenizer
from selfright.web.pages import Pages
from selfright.web.providers.results import Result
from selfright.web.search import PageIndex, Split, passages_of
from selfright.web.types import Tally
from selfright.web.urls import target_of

log = logging.getLogger(__name__)

MOST_ADDRESSES = 200
_FILE_BYTES = 500_000
_PASSAGES_PER_PAGE = 3
_LEAST_SHARE = 0.25
_KEPT_S = 3_600.0


class ListedWeb:
    """Searches the pages of a file of addresses, one a line (``#`` begins a comment); port ``WebSearch``.

    The pages are fetched at the first search, all in ``seconds``, and again after an hour; what cannot be read is left
    out and logged. Raises ``SettingsError`` for a line that is no address, and for more than 200.
    """

    def __init__(self, file: Path, pages: Pages, split: Split, tokenizer: Tokenizer, seconds: float = 60.0) -> None:
        self._addresses = addresses_in(file)
        self._pages, self._split, self._tokenizer, self._seconds = pages, split, tokenizer, seconds
        self._lock = threading.Lock()
        self._index: tuple[float, PageIndex] | None = None

    async def search(self, query: str, k: int) -> WebFinding:
        """At most ``k`` pages with their best passages, best page first; none when nothing fits.

        ``requests`` counts what was sent in this search. Raises ``WebUnavailable`` when no page can be read.
        """
        tally = Tally()
        index = await self._loaded(tally)
        pages = await asyncio.to_thread(index.search, query, k, _PASSAGES_PER_PAGE, _LEAST_SHARE)
        return WebFinding(tuple(one for page in pages for one in page), "static", tally.requests)

    async def _loaded(self, tally: Tally) -> PageIndex:
        with self._lock:
            kept = self._index
        if kept is not None and time.monotonic() - kept[0] < _KEPT_S:
            return kept[1]
        # Two first searches may both fetch: a lock held over the network would tie searches of other loops to it.
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
        with self._lock:
            self._index = (time.monotonic(), index)
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
