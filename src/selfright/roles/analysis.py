"""Cheap facts of a text that judges and writers share, on the index's own tokenizer and term statistics.

These are its key terms, and where the key terms of a question occur in it.

What needs no tokenizer is a plain function next door: ``quantities.quantities``, ``words.negated``,
``questions.answer_type``, ``questions.matches_type``, ``questions.question_parts``.

English terms are looked up among the text's index tokens. Korean terms are looked up in its letters: a morpheme stands
there as it is, and reading a passage with a morphological analyser would cost more than all other signals together.
"""

import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from selfright.domain.ports import TermStatistics, Tokenizer
from selfright.domain.text import has_hangul, language_of
from selfright.roles.words import KOREAN_HOMONYMS, KOREAN_LIGHT, mask_stop_words

_CACHED = range(20, 4_001)  # characters; words are tokenized as fast as they are looked up
_LONG_TEXTS = 32  # longer than that; a turn asks some hundred times for the terms of its question
_NEVER_SEEN = "\ufffe"  # no tokenizer yields it
_WORD = re.compile(r"[A-Za-z0-9À-ÿ][\w.%°/+-]*|[가-힣]+[\w-]*|\w+")


@dataclass(frozen=True, slots=True)
class Term:
    """A word that carries the topic: its index token, its weight (idf) and how it is written in the text.

    ``start`` is where ``surface`` stands in the text. Korean surfaces come without particles where the token is
    written out (``등대의`` → ``등대``), English ones are whole words.
    """

    token: str
    weight: float
    surface: str
    start: int


class TextAnalyzer:
    """Key terms and coverage of texts. Safe to use from several threads; token lists are cached within bounds."""

    def __init__(self, tokenizer: Tokenizer, statistics: TermStatistics, cache_size: int = 2_048) -> None:
        self._tokenizer = tokenizer
        self._statistics = statistics
        self._cached_tokens = lru_cache(maxsize=cache_size)(self._tokenize)
        self._cached_sets = lru_cache(maxsize=cache_size)(self._tokenize_once)
        self._cached_terms = lru_cache(maxsize=cache_size // 4)(self._find_terms)
        self._long_terms = lru_cache(maxsize=_LONG_TEXTS)(self._find_terms)

    def tokens(self, text: str) -> tuple[str, ...]:
        """All index tokens of ``text`` in reading order."""
        return self._cached_tokens(text) if len(text) in _CACHED else self._tokenize(text)

    def token_set(self, text: str) -> frozenset[str]:
        """The different index tokens of ``text``."""
        return self._cached_sets(text) if len(text) in _CACHED else self._tokenize_once(text)

    def translations(self, token: str) -> Sequence[tuple[str, float]]:
        """Tokens of the other language for ``token``, the likeliest first, each with its weight."""
        return self._tokenizer.translations(token)

    def idf(self, tokens: Iterable[str]) -> list[float]:
        """The weight of each token: how rare it is in the index."""
        return self._statistics.idf(list(tokens))

    def unseen(self, tokens: Iterable[str]) -> list[float]:
        """For each token, the weight of one in the same script that the index does not know."""
        return self._statistics.idf([f"{_NEVER_SEEN}{token}" for token in tokens])

    def homonyms(self, text: str) -> Sequence[tuple[int, str]]:
        """Where nouns stand in ``text`` that are spelled as light words are; none where the tokenizer cannot tell."""
        tell = getattr(self._tokenizer, "nouns", None)
        found = tell(text) if tell and not KOREAN_HOMONYMS.isdisjoint(text) else ()
        return [(at, noun) for at, noun in found if noun in KOREAN_HOMONYMS and text.startswith(noun, at)]

    def key_terms(self, text: str) -> tuple[Term, ...]:
        """The words of ``text`` that carry its topic, once each, in order of appearance.

        Stop words, question words, request phrases and polite endings of both languages are left out.
        """
        return (self._cached_terms if len(text) <= _CACHED[-1] else self._long_terms)(text)

    def coverage(self, question: str, text: str) -> float:
        """The idf-weighted share (0…1) of the question's key terms that occur in ``text``; 0 when it has none."""
        return self.terms_coverage(self.key_terms(question), text)

    def terms_coverage(self, terms: Iterable[Term], *texts: str) -> float:
        """As ``coverage``, for terms already at hand and several texts read as one."""
        present = frozenset().union(*map(self.token_set, texts))
        covered = total = 0.0
        for term in terms:
            total += term.weight
            covered += term.weight * (term.token in present)
        return covered / total if total else 0.0

    def _tokenize(self, text: str) -> tuple[str, ...]:
        return tuple(map(sys.intern, self._tokenizer.tokens(text)))  # most tokens of a text are those of others

    def _tokenize_once(self, text: str) -> frozenset[str]:
        return frozenset(self.tokens(text))

    def _find_terms(self, text: str) -> tuple[Term, ...]:
        composed = unicodedata.normalize("NFC", text)
        masked, nouns = mask_stop_words(composed), self.homonyms(composed)
        for at, noun in nouns:
            masked = f"{masked[:at]}{noun}{masked[at + 1 :]}"
        light = KOREAN_LIGHT.difference(noun for _, noun in nouns)
        tokens = [token for token in dict.fromkeys(self._tokenize(masked)) if token not in light]
        placed = list(self._place(tokens, masked, composed))
        weights = self._statistics.idf([token for token, _, _ in placed])
        terms = [
            Term(token, weight, surface, start) for (token, surface, start), weight in zip(placed, weights, strict=True)
        ]
        return tuple(sorted(terms, key=lambda term: term.start))

    def _place(self, tokens: list[str], masked: str, text: str) -> Iterator[tuple[str, str, int]]:
        """Each token with its surface and position: by spelling where it is spelled out, else by its word's tokens."""
        words = [(match.start(), match.group()) for match in _WORD.finditer(masked)]
        spelled = masked.lower()
        by_word: dict[str, tuple[int, str]] | None = None
        for token in tokens:
            at = spelled.find(token) if len(spelled) == len(masked) else -1
            if at >= 0 and not token.isascii():
                yield token, text[at : at + len(token)], at
                continue
            home = next(((start, word) for start, word in words if word.lower().startswith(token)), None)
            if home is None:
                by_word = self._homes(words) if by_word is None else by_word
                home = by_word.get(token, (at, text[at : at + len(token)]) if at >= 0 else (0, token))
            yield token, _trim(home[1], token), home[0]

    def _homes(self, words: list[tuple[int, str]]) -> dict[str, tuple[int, str]]:
        homes: dict[str, tuple[int, str]] = {}
        for start, word in words:
            for token in self.tokens(word):
                homes.setdefault(token, (start, word))
        return homes


def _trim(word: str, token: str) -> str:
    """An English word without what hangs on it: closing punctuation and Korean particles (``API를`` → ``API``)."""
    if token.isascii():
        latin = re.match(r"[\x21-\x7eÀ-ÿ°%µ]+", word)
        word = latin.group() if latin and len(latin.group()) >= len(token) else word
    return word.rstrip(".,;:/-+")


_TIES = re.compile(r"[\s\-·/]*+(?:의\s|of\s|of the\s|['’]s\s)?\s*+")
_SHORTEST = 2


def phrases(text: str, terms: Iterable[Term]) -> list[str]:
    """The ``terms`` of ``text`` in reading order, those that stand side by side joined; single letters are left out."""
    runs: list[list[Term]] = []
    for term in sorted(terms, key=lambda term: term.start):
        if runs and _adjoins(text, runs[-1][-1], term):
            runs[-1].append(term)
        else:
            runs.append([term])
    found = (_write_run(text, run) for run in runs)
    return list(dict.fromkeys(phrase for phrase in found if len(phrase) >= _SHORTEST))


def distinct(terms: Iterable[Term]) -> list[Term]:
    """The ``terms`` of one text without those inside another ("주전자" in "전기주전자"), in reading order."""
    kept: list[Term] = []
    for term in sorted(terms, key=lambda term: (term.start, -len(term.surface))):
        if not kept or term.start + len(term.surface) > kept[-1].start + len(kept[-1].surface):
            kept.append(term)
    return kept


def _adjoins(text: str, left: Term, right: Term) -> bool:
    end = left.start + len(left.surface)
    return right.start < end or _TIES.fullmatch(text, end, right.start) is not None


def _write_run(text: str, run: Sequence[Term]) -> str:
    if len(run) == 1:
        return run[0].surface
    return text[run[0].start : max(term.start + len(term.surface) for term in run)]


_HANGUL = re.compile(r"[\uac00-\ud7a3\u1100-\u11ff\u3130-\u318f]+")
_SYLLABLES_PER_WORD = 4
_MOST_PLACES = 8
_LIKELY = 0.5  # of the likeliest translation's weight

Places = dict[int, list[int]]


class TermMatcher:
    """Finds the terms of one question in many texts. ``weights[i]`` is the idf of term ``i``; ``total`` their sum.

    ``translated``: in a text of the other language a term also occurs where one of its likelier translations does.
    """

    def __init__(self, analyzer: TextAnalyzer, terms: Sequence[Term], *, translated: bool = False) -> None:
        self.terms = tuple(terms)
        self.weights = tuple(term.weight for term in terms)
        self.total = sum(self.weights)
        self._analyzer = analyzer
        self._translated = translated
        self._latin = {term.token: (i,) for i, term in enumerate(terms) if not has_hangul(term.token)}
        self._hangul = [
            (i, _hangul_pattern([term.token]))
            for i, term in enumerate(terms)
            if has_hangul(term.token) and term.token not in KOREAN_HOMONYMS
        ]
        self._homonyms = {term.token: i for i, term in enumerate(terms) if term.token in KOREAN_HOMONYMS}

    def places(self, text: str) -> Places:
        """Term number → places (in words from the start of ``text``, at most eight) for each term that occurs."""
        found: Places = {}
        language = language_of(text) if self._translated else None
        latin = self._in_english if language == "en" else self._latin
        if latin:
            self._find_latin(latin, _HANGUL.sub(" ", text), found)
        if has_hangul(text):
            for i, pattern in self._hangul:
                _find_hangul(i, pattern, text, found)
            for at, noun in self._analyzer.homonyms(text) if self._homonyms else ():
                if noun in self._homonyms:
                    found.setdefault(self._homonyms[noun], []).append(at // _SYLLABLES_PER_WORD)
            for i, pattern in self._in_korean if language == "ko" else ():
                if i not in found:
                    _find_hangul(i, pattern, text, found)
        return found

    def share(self, found: Sequence[int] | set[int] | Places) -> float:
        """The idf-weighted share (0…1) of the terms with these numbers."""
        return sum(self.weights[i] for i in found) / self.total if self.total else 0.0

    def _find_latin(self, latin: Mapping[str, Sequence[int]], text: str, found: Places) -> None:
        for place, token in enumerate(self._analyzer.tokens(text)):
            for i in latin.get(token, ()):
                if len(at := found.setdefault(i, [])) < _MOST_PLACES:
                    at.append(place)

    @cached_property
    def _in_english(self) -> Mapping[str, Sequence[int]]:
        """The Latin terms, and the translations of the Korean ones; several may have the same."""
        numbers: dict[str, list[int]] = {token: list(own) for token, own in self._latin.items()}
        for i, names in self._translations(korean=True):
            for name in names:
                numbers.setdefault(name, []).append(i)
        return numbers

    @cached_property
    def _in_korean(self) -> Sequence[tuple[int, re.Pattern[str]]]:
        return [(i, _hangul_pattern(names)) for i, names in self._translations(korean=False)]

    def _translations(self, *, korean: bool) -> Iterator[tuple[int, list[str]]]:
        for i, term in enumerate(self.terms):
            found = self._analyzer.translations(term.token) if has_hangul(term.token) == korean else ()
            if found:
                yield i, [name for name, weight in found if weight >= _LIKELY * found[0][1]]


def _find_hangul(i: int, pattern: re.Pattern[str], text: str, found: Places) -> None:
    at = [match.start() // _SYLLABLES_PER_WORD for match in pattern.finditer(text)]
    if at:
        found[i] = at[:_MOST_PLACES]


def _hangul_pattern(tokens: Sequence[str]) -> re.Pattern[str]:
    """A single syllable occurs inside unrelated words, so it must begin one."""
    forms = ((r"(?<![가-힣])" if len(token) == 1 else "") + re.escape(token) for token in tokens)
    return re.compile("|".join(forms), re.IGNORECASE)
