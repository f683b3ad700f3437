"""Brave Search: https://api-dashboard.search.brave.com/app/documentation/web-search/get-started."""

from selfright.domain.text import has_hangul
from selfright.web.providers.api import Api, rows_of
from selfright.web.providers.results import MOST, Result, cleaned
from selfright.web.types import Tally

BASE_URL = "https://api.search.brave.com"
KEY_VARIABLE = "BRAVE_API_KEY"
ADVICE = f"check the key in {KEY_VARIABLE} and what is left of its plan"

_QUERY_CHARACTERS = 400
_QUERY_WORDS = 50


class Brave:
    """Port ``Provider``. A reply without a ``web`` part means that nothing was found."""

    name = "brave"

    def __init__(self, api: Api, key: str) -> None:
        self._api, self._headers = api, {"X-Subscription-Token": key}

    async def results(self, query: str, count: int, tally: Tally) -> tuple[Result, ...]:
        """See ``Provider``."""
        words = " ".join(query.split()[:_QUERY_WORDS])[:_QUERY_CHARACTERS]
        asked = {"q": words, "count": str(min(count, MOST)), "result_filter": "web", "text_decorations": "false"}
        if has_hangul(query):
            asked |= {"country": "KR", "search_lang": "ko"}
        data = await self._api.get("/res/v1/web/search", asked, self._headers, tally)
        search = isinstance(data, dict) and data.get("type") == "search"
        rows = rows_of(self.name, data, "web", "results", tally=tally, optional=search)
        return cleaned(((row.get("url"), row.get("title"), row.get("description")) for row in rows), count)
