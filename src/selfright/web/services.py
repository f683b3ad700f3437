"""The services that search the web, each a ``Provider``; and a folder of pages that stands for the web: for offline
work, demonstrations and tests.
"""

import asyncio
import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit

from selfright.domain.errors import InputError, PageRefused, SettingsError, WebReplyUnusable, WebUnavailable
from selfright.domain.passages import Document, Passage, WebFinding
from selfright.domain.ports import Tokenizer
from selfright.domain.text import has_hangul
from selfright.web.addresses import target_of
from selfright.web.page_index import PageIndex, Split, passages_of
from selfright.web.provider import Row, Service
from selfright.web.types import Reply, RequestCounter

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_QUERY_CHARACTERS = 400
_QUERY_WORDS = 50
_HOSTS = ("duckduckgo.com", "html.duckduckgo.com", "www.duckduckgo.com")


class Tavily(Service):
    """Tavily: https://docs.tavily.com/documentation/api-reference/endpoint/search.

    Results carry the sentences that it thinks fit the query.
    """

    name = "tavily"
    base_url = "https://api.tavily.com"
    key_variable = "TAVILY_API_KEY"
    advice = "check the key in TAVILY_API_KEY and what is left of its plan"

    async def _search(self, query: str, count: int, tally: RequestCounter, /) -> Iterable[Row]:
        body = {
            "query": query[:_QUERY_CHARACTERS],
            "max_results": count,
            "search_depth": "basic",
            "include_answer": False,
            "include_raw_content": False,
            "include_images": False,
        }
        data = await self._json("POST", "/search", body, {"Authorization": f"Bearer {self._key}"}, tally)
        return self._rows(data, "results", snippet="content")


class Brave(Service):
    """Brave Search: https://api-dashboard.search.brave.com/app/documentation/web-search/get-started.

    A reply without a ``web`` part means that nothing was found.
    """

    name = "brave"
    base_url = "https://api.search.brave.com"
    key_variable = "BRAVE_API_KEY"
    advice = "check the key in BRAVE_API_KEY and what is left of its plan"
    apart_s = 1.0

    async def _search(self, query: str, count: int, tally: RequestCounter, /) -> Iterable[Row]:
        words = " ".join(query.split()[:_QUERY_WORDS])[:_QUERY_CHARACTERS]
        asked = {"q": words, "count": str(count), "result_filter": "web", "text_decorations": "false"}
        if has_hangul(query):
            asked |= {"country": "KR", "search_lang": "ko"}
        data = await self._json("GET", "/res/v1/web/search", asked, {"X-Subscription-Token": self._key}, tally)
        search = isinstance(data, dict) and data.get("type") == "search"
        return self._rows(data, "web", "results", snippet="description", optional=search)


class SearXng(Service):
    """SearXNG, a self-hosted search engine: https://docs.searxng.org/dev/search_api.html.

    The instance must allow the format ``json``, which it does not by default.
    """

    name = "searxng"
    advice = "add 'json' to search.formats in its settings.yml, and check its base URL"

    async def _search(self, query: str, _count: int, tally: RequestCounter, /) -> Iterable[Row]:
        language = "ko-KR" if has_hangul(query) else "en"
        asked = {"q": query, "format": "json", "language": language, "safesearch": "1"}
        data = await self._json("GET", "/search", asked, {}, tally)
        return self._rows(data, "results", snippet="content")


class DuckDuckGo(Service):
    """DuckDuckGo's page without scripts, for occasional use.

    It has no interface for programs and no key; it turns away clients that ask often.
    """

    name = "duckduckgo"
    base_url = "https://html.duckduckgo.com"
    advice = "it may have had enough of this machine; use another provider for a while"
    apart_s = 2.0

    async def _search(self, query: str, _count: int, tally: RequestCounter, /) -> Iterable[Row]:
        body = urlencode({"q": query, "b": "", "l": "kr-kr" if has_hangul(query) else "us-en"}).encode()
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "text/html"}
        reply = await self._ask("POST", "/html/", headers, body, tally)
        return _results(_page(reply))


def _page(reply: Reply) -> "HtmlElement":
    from lxml import etree, html

    parser = html.HTMLParser(encoding="utf-8", remove_comments=True, no_network=True)
    try:
        return html.document_fromstring(reply.body, parser=parser)
    except (etree.LxmlError, ValueError):
        raise WebReplyUnusable("duckduckgo answered with an empty page") from None


def _results(page: "HtmlElement") -> Iterator[Row]:
    found = False
    for link in page.xpath("//a[contains(concat(' ', @class, ' '), ' result__a ')]"):
        found = True
        address = _address(link.get("href") or "")
        box = next((one for one in link.iterancestors("div") if "result" in (one.get("class") or "").split()), None)
        snippets = box.xpath(".//*[contains(@class, 'result__snippet')]") if box is not None else []
        if address:
            yield address, link.text_content(), snippets[0].text_content() if snippets else ""
    if not found:
        _explain(page)


def _explain(page: "HtmlElement") -> None:
    """Nothing found is an answer; a riddle for robots, or another page, is none."""
    marks = " ".join(page.xpath("//@class | //@id"))
    if "anomaly" in marks or "challenge" in marks:
        raise WebUnavailable(f"duckduckgo wants to know whether a human asks; {DuckDuckGo.advice}")
    if "no-results" not in marks and "result" not in marks:
        raise WebReplyUnusable("duckduckgo answered with a page that is no list of results")


def _address(href: str) -> str:
    """The page that a result leads to, out of its wrapping; empty for advertisements."""
    parts = urlsplit(urljoin("https://duckduckgo.com/", href))
    if parts.hostname not in _HOSTS:
        return href
    return parse_qs(parts.query).get("uddg", [""])[0] if parts.path.startswith("/l/") else ""


SERVICES: Mapping[str, type[Service]] = {kind.name: kind for kind in (Tavily, Brave, SearXng, DuckDuckGo)}


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
