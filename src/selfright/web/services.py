"""The services that search the web, each a ``Provider``."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit

from selfright.domain.errors import WebReplyUnusable, WebUnavailable
from selfright.domain.text import has_hangul
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
