"""Pages to passages: how a page becomes citable, and which of its passages answer a query.

Several ways to the web are asked in order until one has something.
"""

import dataclasses
import logging
from collections.abc import Callable, Iterable, Sequence

from selfright.domain.errors import SelfrightError, WebError, WebUnavailable
from selfright.domain.passages import Document, Passage, WebFinding, web_id
from selfright.domain.ports import Tokenizer, WebSearch
from selfright.web.labels import clean_title
from selfright.web.ranking import Bm25

Split = Callable[[Document], Sequence[Passage]]


def passages_of(page: Document, url: str, split: Split) -> list[Passage]:
    """A page's passages, cited by ``url``.

    Title and sections come from strangers: they are made harmless to show.
    """
    cut = split(dataclasses.replace(page, id=url, url=url, title=clean_title(page.title)))
    return [
        dataclasses.replace(one, id=web_id(one.id), section=clean_title(one.section), url=url, origin="web")
        for one in cut
    ]


class PageIndex:
    """Pages cut into passages, ranked in two steps: the best pages first, then the best passages of each."""

    def __init__(self, pages: Iterable[Sequence[Passage]], tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        placed = [(n, passage) for n, page in enumerate(pages) for passage in page]
        self._page_of = [n for n, _ in placed]
        self._passages = [passage for _, passage in placed]
        terms = [tokenizer.tokens(f"{passage.heading}\n{passage.text}") for passage in self._passages]
        self._by_passage = Bm25(terms)
        by_page: dict[int, list[str]] = {}
        for n, passage_terms in zip(self._page_of, terms, strict=True):
            by_page.setdefault(n, []).extend(passage_terms)
        self._page_numbers = list(by_page)
        self._by_page = Bm25(by_page.values())

    def search(self, query: str, k: int, per_page: int, least_share: float) -> list[list[Passage]]:
        """For each of the ``k`` best pages its ``per_page`` best passages, best first.

        A page that has less than ``least_share`` of the query's weight (terms weighted by rarity) is left out.
        """
        terms = self._tokenizer.tokens(query)
        pages = [match.index for match in self._by_page.rank(terms) if match.share >= least_share][:k]
        found: dict[int, list[Passage]] = {self._page_numbers[page]: [] for page in pages}
        for match in self._by_passage.rank(terms):
            best = found.get(self._page_of[match.index])
            if best is not None and len(best) < per_page:
                best.append(self._passages[match.index])
        return list(found.values())


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
