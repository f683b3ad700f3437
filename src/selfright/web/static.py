"""A folder of pages that stands for the web: for offline work, demonstrations and tests."""

import asyncio
import logging
import threading
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from selfright.domain.errors import InputError, PageRefused, SettingsError
from selfright.domain.passages import Document, Passage, WebFinding
from selfright.domain.ports import Tokenizer
from selfright.web.addresses import target_of
from selfright.web.search import PageIndex, Split, passages_of

log = logging.getLogger(__name__)

_PAGES, _PAGE_BYTES, _CHARACTERS = 5_000, 1_000_000, 20_000_000
_SUFFIXES = frozenset((".html", ".htm", ".md", ".markdown", ".txt"))


class StaticWeb:
    """Searches the pages (HTML, Markdown, text) of a folder; port ``WebSearch``.

    The folder is read once, at the first search, in a thread: at most 5,000 pages of at most 1 MB, 20 million
    characters in all; what is over, or cannot be read, is left out and logged. Raises ``SettingsError`` when the folder
    does not exist.
    """

    def __init__(self, folder: Path, read_page: Callable[[Path], Document], split: Split, tokenizer: Tokenizer) -> None:
        if not folder.is_dir():
            raise SettingsError(f"expected a folder of pages at {folder}, but there is none; check 'web_folder'")
        self._folder, self._read_page, self._split, self._tokenizer = folder, read_page, split, tokenizer
        self._lock = threading.Lock()
        self._index: PageIndex | None = None

    async def search(self, query: str, k: int) -> WebFinding:
        """At most ``k`` pages with their best passages, best page first; none when nothing fits.

        ``requests`` counts the pages the passages are from.
        """
        return await asyncio.to_thread(self._search, query, k)

    def _search(self, query: str, k: int) -> WebFinding:
        with self._lock:
            if self._index is None:
                self._index = PageIndex(self._pages(), self._tokenizer)
        pages = self._index.search(query, k)
        return WebFinding(tuple(passage for page in pages for passage in page), provider="static", requests=len(pages))

    def _pages(self) -> Iterator[list[Passage]]:
        urls: set[str] = set()
        characters = 0
        for path in islice(self._paths(), _PAGES):
            try:
                page = self._read_page(path)
            except InputError as error:
                log.warning("a page of the static web is left out: %s", error)
                continue
            url = _safe(page.url) or path.resolve().as_uri()
            characters += len(page.text)
            if characters > _CHARACTERS:
                log.warning("over %d characters: %s and what follows is left out", _CHARACTERS, path)
                return
            if url not in urls:
                urls.add(url)
                yield passages_of(page, url, self._split)

    def _paths(self) -> Iterator[Path]:
        root = self._folder.resolve()
        for path in sorted(self._folder.rglob("*")):
            wanted = path.suffix.lower() in _SUFFIXES and path.is_file() and path.resolve().is_relative_to(root)
            if wanted and path.stat().st_size <= _PAGE_BYTES:
                yield path
            elif wanted:
                log.warning("over %d bytes: the page %s is left out", _PAGE_BYTES, path)


def _safe(url: str | None) -> str | None:
    """A page's own address, fit to be shown; None when it has none that is."""
    try:
        return target_of(url).url if url else None
    except PageRefused:
        return None
