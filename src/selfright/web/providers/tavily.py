"""Tavily: https://docs.tavily.com/documentation/api-reference/endpoint/search."""

from selfright.web.providers.api import Api, rows_of
from selfright.web.providers.results import MOST, Result, cleaned
from selfright.web.types import Tally

BASE_URL = "https://api.tavily.com"
KEY_VARIABLE = "TAVILY_API_KEY"
ADVICE = f"check the key in {KEY_VARIABLE} and what is left of its plan"

_QUERY_CHARACTERS = 400


class Tavily:
    """Port ``Provider``; results carry the sentences that Tavily thinks fit the query."""

    name = "tavily"

    def __init__(self, api: Api, key: str) -> None:
        self._api, self._headers = api, {"Authorization": f"Bearer {key}"}

    async def results(self, query: str, count: int, tally: Tally) -> tuple[Result, ...]:
        """See ``Provider``."""
        body = {
            "query": query[:_QUERY_CHARACTERS],
            "max_results": min(count, MOST),
            "search_depth": "basic",
            "include_answer": False,
            "include_raw_content": False,
            "include_images": False,
        }
        data = await self._api.post("/search", body, self._headers, tally)
        rows = rows_of(self.name, data, "results", tally=tally)
        return cleaned(((row.get("url"), row.get("title"), row.get("content")) for row in rows), count)
