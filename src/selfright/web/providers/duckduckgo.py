"""DuckDuckGo's page without scripts. It has no interface for programs and no key; it turns away whoever asks often."""

from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit

from selfright.domain.errors import WebReplyUnusable, WebUnavailable
from selfright.domain.text import has_hangul
from selfright.web.providers.api import Api
from selfright.web.providers.results import Result, cleaned
from selfright.web.types import Reply, Tally

if TYPE_CHECKING:
    from lxml.html import HtmlElement

BASE_URL = "https://html.duckduckgo.com"
ADVICE = "it may have had enough of this machine; use another provider for a while"

_HOSTS = ("duckduckgo.com", "html.duckduckgo.com", "www.duckduckgo.com")


class DuckDuckGo:
    """Port ``Provider``, for occasional use."""

    name = "duckduckgo"

    def __init__(self, api: Api) -> None:
        self._api = api

    async def results(self, query: str, count: int, tally: Tally) -> tuple[Result, ...]:
        """See ``Provider``."""
        body = urlencode({"q": query, "b": "", "l": "kr-kr" if has_hangul(query) else "us-en"}).encode()
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "text/html"}
        reply = await self._api.ask("POST", "/html/", headers, body, tally)
        return cleaned(_rows(_page(reply, tally), tally), count)


def _page(reply: Reply, tally: Tally) -> "HtmlElement":
    from lxml import etree, html

    parser = html.HTMLParser(encoding="utf-8", remove_comments=True, no_network=True)
    try:
        return html.document_fromstring(reply.body, parser=parser)
    except (etree.LxmlError, ValueError):
        raise WebReplyUnusable("duckduckgo answered with an empty page", requests=tally.requests) from None


def _rows(page: "HtmlElement", tally: Tally) -> Iterator[tuple[str, str, str]]:
    found = False
    for link in page.xpath("//a[contains(concat(' ', @class, ' '), ' result__a ')]"):
        found = True
        address = _address(link.get("href") or "")
        box = next((one for one in link.iterancestors("div") if "result" in (one.get("class") or "").split()), None)
        snippets = box.xpath(".//*[contains(@class, 'result__snippet')]") if box is not None else []
        if address:
            yield address, link.text_content(), snippets[0].text_content() if snippets else ""
    if not found:
        _explain(page, tally)


def _explain(page: "HtmlElement", tally: Tally) -> None:
    """Nothing found is an answer; a riddle for robots, or another page, is none."""
    marks = " ".join(page.xpath("//@class | //@id"))
    if "anomaly" in marks or "challenge" in marks:
        raise WebUnavailable(f"duckduckgo wants to know whether a human asks; {ADVICE}", requests=tally.requests)
    if "no-results" not in marks and "result" not in marks:
        raise WebReplyUnusable("duckduckgo answered with a page that is no list of results", requests=tally.requests)


def _address(href: str) -> str:
    """The page that a result leads to, out of its wrapping; empty for advertisements."""
    parts = urlsplit(urljoin("https://duckduckgo.com/", href))
    if parts.hostname not in _HOSTS:
        return href
    return parse_qs(parts.query).get("uddg", [""])[0] if parts.path.startswith("/l/") else ""
