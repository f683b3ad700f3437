"""Several ways to the web, asked in order until one has something."""

import logging
from collections.abc import Sequence

from selfright.domain.errors import SelfrightError, WebError, WebUnavailable
from selfright.domain.passages import WebFinding
from selfright.domain.ports import WebSearch

log = logging.getLogger(__name__)


class ChainedWeb:
    """Asks each of ``webs`` until one finds something; port ``WebSearch``."""

    def __init__(self, webs: Sequence[tuple[str, WebSearch]]) -> None:
        self._webs = tuple(webs)

    async def search(self, query: str, k: int) -> WebFinding:
        """The first finding with passages; an empty one when some answered but none found anything.

        ``requests`` counts those of all that were asked. Raises ``WebUnavailable``, with what each said, when none
        answered.
        """
        troubles: list[str] = []
        names: list[str] = []
        requests = 0
        for name, web in self._webs:
            try:
                finding = await web.search(query, k)
            except SelfrightError as error:
                log.warning("the web provider %s is passed over: %s", name, error)
                troubles.append(str(error))
                requests += error.requests if isinstance(error, WebError) else 0
                continue
            requests += finding.requests
            names.append(finding.provider)
            if finding.passages:
                return WebFinding(finding.passages, finding.provider, requests)
        if names:
            return WebFinding((), ", ".join(names), requests)
        raise WebUnavailable("; ".join(troubles) or "no web provider is set", requests=requests)
