"""What can be seen of one sentence of an answer beside the evidence. Nothing here decides."""

import math
import re
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import lru_cache, reduce
from operator import or_

from selfright.domain.text import has_hangul
from selfright.roles.analysis import Term, TextAnalyzer
from selfright.roles.quantities import Quantity, quantities
from selfright.roles.visible_text import Source, letters
from selfright.roles.words import is_negated

_WINDOW = 2
_COMPARABLE = 0.5
_AS_NEAR = 0.9
_SAME_WORDS = 0.9
_MOST_PER_CLAIM = 3
_NAME = re.compile(r"(?<!^)(?<![.?!:]\s)\b[A-Z][\w-]+|\b[A-Za-z]*\d[\w.-]*\b")
_FOREIGN = re.compile(r"[A-Za-z][A-Za-z0-9.-]+|\d[\d.,]*")
_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
_line_letters = lru_cache(maxsize=1_024)(letters)  # a claim's lines are held against every source
_LINE_MARK = re.compile(r"^(?:- |\(?\d{1,3}[.)] )")


@dataclass(frozen=True, slots=True)
class ClaimFacts:
    """One claim beside the evidence; shares lie in 0…1.

    ``verbatim``: the evidence says it in the same words. ``coverage``: idf share of its words in the best two
    neighbouring sentences of one passage; ``anywhere``: in that whole passage. ``names_missing`` and
    ``numbers_missing``: shares of its names and quantities that the passage lacks. ``number_conflict`` and
    ``negation_conflict``: the sentences on the same matter give another number, or deny it. ``weight``: how much it
    says. ``nearest``: of the three best sources, by number, the sentence with the most of its words. ``judged``: what
    the networks made of it, None where none read it.
    """

    text: str
    weight: float
    verbatim: bool = False
    coverage: float = 0.0
    anywhere: float = 0.0
    names_missing: float = 0.0
    numbers_missing: float = 0.0
    number_conflict: bool = False
    negation_conflict: bool = False
    specific: bool = False
    passage_ids: tuple[str, ...] = ()
    nearest: tuple[tuple[int, int], ...] = ()
    judged: "JudgedClaim | None" = None


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """The probability (0…1) that the evidence supports a claim, and whether a judge says that it denies it.

    ``passage_id`` is the passage that bears it out, empty when none does.
    """

    support: float
    denied: bool = False
    passage_id: str = ""


def claim_facts(text: str, sources: Sequence[Source], analyzer: TextAnalyzer) -> ClaimFacts:
    """Reads one claim."""
    literal = tuple(source.passage.id for source in sources if _says(source, text))[:_MOST_PER_CLAIM]
    if literal:
        return ClaimFacts(text, _bulk(text), True, 1.0, 1.0, specific=bool(quantities(text)), passage_ids=literal)
    terms = analyzer.key_terms(text)
    amounts = quantities(text)
    names = _names(text, terms)
    specific = bool(amounts or names)
    if not terms or not sources:
        return ClaimFacts(text, _bulk(text), specific=specific)
    wanted = _Wanted(terms)
    everything = (_Reading.of(n, source, wanted, analyzer) for n, source in enumerate(sources))
    reads = sorted(everything, key=lambda r: -r.rank)
    best = reads[0]
    near = tuple(r.source.passage.id for r in reads[:_MOST_PER_CLAIM] if r.coverage >= max(0.3, 0.9 * best.coverage))
    said = quantities(best.source.passage.context + "\n" + best.source.passage.text)
    missing = [amount for amount in amounts if not any(amount.agrees(other) for other in said)]
    comparable = best.sentence_coverage >= _COMPARABLE
    return ClaimFacts(
        text,
        _bulk(text),
        coverage=best.coverage,
        anywhere=best.anywhere,
        names_missing=(sum(name not in best.tokens for name in names) / len(names) if names else 0.0),
        numbers_missing=len(missing) / len(amounts) if amounts else 0.0,
        number_conflict=(comparable and _conflicts(missing, quantities(best.nearest[0])))
        or _misquotes(text, terms, best, analyzer),
        negation_conflict=comparable and _denies(text, best.nearest),
        specific=specific,
        passage_ids=near,
        nearest=tuple((read.number, read.place) for read in reads[:_MOST_PER_CLAIM]),
    )


class _Wanted:
    """The terms of a claim; which of them a text has is a number, a bit for each term."""

    def __init__(self, terms: Sequence[Term]) -> None:
        self._weights = [term.weight for term in terms]
        self._total = sum(self._weights)
        self._bits = {term.token: 1 << n for n, term in enumerate(terms)}
        self._tokens = self._bits.keys()
        self._shares: dict[int, float] = {}

    def among(self, tokens: Set[str]) -> int:
        """Those that are among ``tokens``."""
        return sum(self._bits[token] for token in self._tokens & tokens)

    def share(self, found: int) -> float:
        """The idf-weighted share (0…1) of those; the sentences of a passage have few different ones."""
        share = self._shares.get(found)
        if share is None:
            weights = (weight for n, weight in enumerate(self._weights) if found >> n & 1)
            share = self._shares[found] = sum(weights) / self._total
        return share

    def tokens(self, found: int) -> frozenset[str]:
        """Those, written out."""
        return frozenset(token for token, bit in self._bits.items() if found & bit)


@dataclass(frozen=True, slots=True)
class _Reading:
    """One source, by its number, read against one claim; ``place`` is its best sentence."""

    number: int
    source: Source
    place: int
    coverage: float
    anywhere: float
    nearest: tuple[str, ...]
    sentence_coverage: float
    tokens: frozenset[str]

    @property
    def rank(self) -> float:
        return 0.7 * self.coverage + 0.3 * self.anywhere

    @classmethod
    def of(cls, number: int, source: Source, wanted: _Wanted, analyzer: TextAnalyzer) -> "_Reading":
        heading = wanted.among(analyzer.token_set(source.passage.context))
        found = [heading | wanted.among(analyzer.token_set(sentence)) for sentence in source.sentences] or [heading]
        shares = [wanted.share(one) for one in found]
        best = max(shares)
        windows = {reduce(or_, found[i : i + _WINDOW]) for i in range(len(found))}
        ranked = sorted(zip(source.sentences, shares, strict=False), key=lambda pair: -pair[1])
        everything = reduce(or_, found)
        return cls(
            number,
            source,
            shares.index(best),
            max(map(wanted.share, windows)),
            wanted.share(everything),
            tuple(sentence for sentence, share in ranked if share >= _AS_NEAR * best) or ("",),
            best,
            wanted.tokens(everything),
        )


def _says(source: Source, text: str) -> bool:
    """Whether the source says the claim word for word, line by line; a table's row may name its columns."""
    lines = [_LINE_MARK.sub("", line) for line in text.splitlines() if line.strip()]
    return bool(lines) and all(_says_line(source, line) for line in lines)


def _says_line(source: Source, line: str) -> bool:
    wanted = _line_letters(line)
    if not wanted or wanted in source.letters:
        return bool(wanted)
    head, colon, tail = line.partition(": ")
    if colon and "; " not in tail:
        value = _line_letters(tail)
        return len(value) >= 8 and value in source.letters and _line_letters(head) in source.letters
    cells = [cell.partition(": ") for cell in line.split("; ")]
    values = "".join(_line_letters(value or name) for name, _, value in cells)
    named = all(_line_letters(name) in source.letters for name, _, _ in cells)
    return named and len(values) > 1 and any(values in row for row in source.lines)


def _names(text: str, terms: Sequence[Term]) -> list[str]:
    """The tokens of the claim's names, codes and foreign words."""
    pattern = _FOREIGN if has_hangul(text) else _NAME
    starts = {match.start() for match in pattern.finditer(text)}
    return [term.token for term in terms if term.start in starts]


def _conflicts(missing: Sequence[Quantity], said: Sequence[Quantity]) -> bool:
    """Whether a number the claim gives stands there with another value and the same unit."""
    return any(amount.unit == other.unit and amount.value != other.value for amount in missing for other in said)


def _denies(text: str, nearest: Sequence[str]) -> bool:
    """Whether of the claim and each of the nearest sentences one denies."""
    denied = is_negated(text)
    return all(is_negated(sentence) != denied for sentence in nearest)


def _misquotes(text: str, terms: Sequence[Term], best: "_Reading", analyzer: TextAnalyzer) -> bool:
    """Whether a sentence says the claim in the same words but for a number, which may well stand elsewhere."""
    numbers = _digits(text)
    words = [term for term in terms if not any(map(str.isdigit, term.token))]
    total = sum(term.weight for term in words)
    if not numbers or not total:
        return False
    said = []
    for sentence in best.nearest:
        tokens = set(analyzer.tokens(sentence))
        if sum(term.weight for term in words if term.token in tokens) >= _SAME_WORDS * total:
            said.append(_digits(sentence))
    heading = _digits(best.source.passage.context)
    return bool(said) and all(numbers - heading - other and other - numbers for other in said)


def _digits(text: str) -> frozenset[str]:
    return frozenset(match.group().replace(",", "") for match in _DIGITS.finditer(text))


def _bulk(text: str) -> float:
    """A claim's weight: longer sentences say more, but not in proportion."""
    return math.sqrt(min(3.0, max(0.5, len(letters(text)) / 40)))
