"""SearXNG, a search engine of one's own: https://docs.searxng.org/dev/search_api.html."""

from selfright.domain.text import has_hangul
from selfright.web.providers.api import Api, rows_of
from selfright.web.providers.results import Result, cleaned
from selfright.web.types import Tally

ADVICE = "add 'json' to search.formats in its settings.yml, and check its base URL"


class SearXng:
    """Port ``Provider``. The instance must allow the format ``json``, which it does not by default."""

    name = "searxng"

    def __init__(self, api: Api) -> None:
        self._api = api

    async def results(self, query: str, count: int, tally: Tally) -> tuple[Result, ...]:
        """See ``Provider``."""
        language = "ko-KR" if has_hangul(query) else "en"
        asked = {"q": query, "format": "json", "language": language, "safesearch": "1"}
        data = await self._api.get("/search", asked, {}, tally)
        rows = rows_of(self.name, data, "results", tally=tally)
        return cleaned(((row.get("url"), row.get("title"), row.get("content")) for row in rows), count)
