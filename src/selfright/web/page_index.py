"""Fetched pages as passages: how they become citable, and which of them answer a query, by BM25 in memory.

Several ways to the web are asked in order until one has something.
"""

import dataclasses
import logging
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import unescape
from itertools import chain

from selfright.domain.errors import SelfrightError, WebError, WebUnavailable
from selfright.domain.markup import INVISIBLE
from selfright.domain.passages import Document, Passage, WebFinding, web_id
from selfright.domain.ports import Tokenizer, WebSearch

TITLE_LENGTH = 200

_TAG = re.compile(r"</?[A-Za-z][^<>]{0,500}>")
# What would end a link's text or begin another one, in Markdown or HTML.
_HARMLESS = str.maketrans({"<": "‹", ">": "›", "[": "(", "]": ")", "`": "'", "\\": "/", "|": "·", '"': "'"})


def clean_title(text: str) -> str:
    """One line of at most 200 characters that breaks neither Markdown nor HTML."""
    seen = INVISIBLE.sub("", text[: 5 * TITLE_LENGTH].replace("\n", " ")).translate(_HARMLESS)
    return " ".join(seen.split())[:TITLE_LENGTH].strip()


def plain(text: str, most: int = 2_000) -> str:
    """A snippet without tags, entities and invisible characters, in one line."""
    return " ".join(visible(unescape(_TAG.sub("", text[: 2 * most]))).split())[:most].strip()


def visible(text: str) -> str:
    """The text without characters that nobody sees; lines stay."""
    return INVISIBLE.sub("", text.replace("\r\n", "\n").replace("\r", "\n").replace("\x0b", " ").replace("\x0c", "\n"))


_K1 = 1.2
_B = 0.75


@dataclass(frozen=True, slots=True)
class Match:
    """How well a text fits a query: its BM25 ``score``, and the ``share`` (0…1) of the query's weight it has."""

    index: int
    score: float
    share: float


class Bm25:
    """Ranks texts, given as their terms (Robertson and Zaragoza 2009, k1 = 1.2, b = 0.75)."""

    def __init__(self, texts: Iterable[Sequence[str]]) -> None:
        self._postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self._lengths: list[int] = []
        for index, terms in enumerate(texts):
            self._lengths.append(len(terms))
            for term, count in Counter(terms).items():
                self._postings[term].append((index, count))
        self._mean = max(sum(self._lengths) / max(len(self._lengths), 1), 1.0)

    def rank(self, query: Sequence[str]) -> list[Match]:
        """All texts with a term of the query, best first; ties in the order they were given."""
        count_of = len(self._lengths)
        weights = {}
        for term in set(query):  # one that no text has weighs as if a single text had it: how rare it is, nobody knows
            found = max(len(self._postings.get(term, ())), 1)
            weights[term] = math.log(1 + (count_of - found + 0.5) / (found + 0.5))
        whole = sum(weights.values()) or 1.0
        scores: dict[int, float] = defaultdict(float)
        shares: dict[int, float] = defaultdict(float)
        for term in sorted(weights):  # a fixed order of adding up, for a fixed last digit
            for index, count in self._postings.get(term, ()):
                norm = _K1 * (1 - _B + _B * self._lengths[index] / self._mean)
                scores[index] += weights[term] * count * (_K1 + 1) / (count + norm)
                shares[index] += weights[term] / whole
        matches = (Match(index, score, shares[index]) for index, score in scores.items())
        return sorted(matches, key=lambda match: (-match.score, match.index))


_SIZE = 4  # words of a shingle
_ALIKE = 0.8
_WORD = re.compile(r"\w+")


def shingles(text: str) -> frozenset[int]:
    """Hashes of each four words in a row (of the words themselves where there are fewer)."""
    words = _WORD.findall(text.casefold())
    if len(words) < _SIZE:
        return frozenset(map(hash, words))
    return frozenset(hash(tuple(words[n : n + _SIZE])) for n in range(len(words) - _SIZE + 1))


def containment(a: frozenset[int], b: frozenset[int]) -> float:
    """The share of ``a`` that is in ``b`` (Broder 1997)."""
    return len(a & b) / len(a) if a else 0.0


def new_passages(found: Iterable[Passage]) -> list[Passage]:
    """``found`` without what repeats a passage before it.

    A passage repeats another when four fifths of its shingles are in that: it then says nothing more.
    """
    seen: list[frozenset[int]] = []
    kept: list[Passage] = []
    for passage in found:
        own = shingles(passage.text)
        if not any(containment(own, other) >= _ALIKE for other in seen):
            kept.append(passage)
            seen.append(own)
    return kept


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


PASSAGES_PER_PAGE = 3
_LEAST_SHARE = 0.25


class PageIndex:
    """Pages cut into passages, ranked in two steps: the best pages first, then the best passages of each."""

    def __init__(self, pages: Iterable[Sequence[Passage]], tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._pages = list(pages)
        terms = [[tokenizer.tokens(f"{one.context}\n{one.text}") for one in page] for page in self._pages]
        self._by_page = Bm25(list(chain.from_iterable(page)) for page in terms)
        self._by_passage = list(map(Bm25, terms))

    def search(self, query: str, k: int) -> list[list[Passage]]:
        """For each of the ``k`` best pages its three best passages, best first.

        A page that has less than a quarter of the query's weight (terms weighted by rarity) is left out.
        """
        terms = self._tokenizer.tokens(query)
        pages = [match.index for match in self._by_page.rank(terms) if match.share >= _LEAST_SHARE][:k]
        ranked = ((self._pages[page], self._by_passage[page].rank(terms)[:PASSAGES_PER_PAGE]) for page in pages)
        return [[page[match.index] for match in best] for page, best in ranked]


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
