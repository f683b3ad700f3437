"""Korean and English text to index terms, the same for documents and for queries.

Latin words become lower-case stems, Hangul becomes morphemes. Numbers keep their unit and are found without it
(``500mg`` → ``500mg``, ``500``, ``mg``); codes stay whole (``X25519``, ``IPv4``) and compounds with a digit are found
whole and by their parts (``FX-1007``).
"""

import functools
import re
import threading
import unicodedata
from collections.abc import Callable, Iterator, Sequence

from selfright.retrieval.korean import HangulBigrams, HangulTerms, KoreanMorphemes, Term, holds_hangul
from selfright.retrieval.translations import Translated, shipped_translations

_VERSION = 1

# A run of letters and digits that are not Hangul, with connectors inside: words, numbers, codes, paths, dates.
_LETTER = r"[^\W_\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3]"
_COMPOUND = re.compile(rf"{_LETTER}+(?:[-‐‑–.,:/_'+]{_LETTER}+)*")
_CONNECTOR = re.compile(r"[-‐‑–.,:/_+]")  # not the apostrophe: the stemmer knows what to do with it
_NUMBER = re.compile(r"(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)([^\W\d_]*)")
_CAMEL = re.compile(r"(?<=[a-z]{3})(?=[A-Z][a-z]{2})")

# Units that may stand apart from their number; apart or together, the same term comes out.
_UNITS = (
    r"(%|°[cf]|[kmµμn]?g|mcg|[dmµμ]?l|[kcmµμn]?m|[mµμn]?s|min|hrs?|[kmgt]i?b|[km]?hz|[km]?[vwj]|k?pa|mmhg|[mµμn]?mol|"
    r"iu|rpm|fps)(?![^\W_])"
)
_UNIT = re.compile(rf"[ \u00a0]?{_UNITS}", re.IGNORECASE)
_UNIT_BEHIND_BLANK = re.compile(rf"(\d) (?={_UNITS})", re.IGNORECASE)
_BOUND = "\0"  # stands for the blank between a number and its unit while text is cut at white space
_MAX_CHUNK = 64  # characters; longer chunks of text are not worth remembering
_REMEMBERED = 131_072  # chunks; about 30 MB
_ENGLISH = re.compile(r"[a-z']+")
_MAX_TERM = 64


class BilingualTokenizer:
    """The tokenizer of every index. ``korean`` cuts the Hangul; Kiwi where it is installed, else syllable bigrams."""

    def __init__(self, korean: HangulTerms | None = None, user_words: Sequence[str] = ()) -> None:
        self.korean = korean or (KoreanMorphemes(user_words) if KoreanMorphemes.installed() else HangulBigrams())

    @property
    def name(self) -> str:
        """For example ``bilingual-1-kiwi-1``."""
        return f"bilingual-{_VERSION}-{self.korean.name}"

    def tokens(self, text: str) -> list[str]:
        """Terms in reading order, repeats kept."""
        text = _normal(text)
        return self._bilingual(text) if holds_hangul(text) else _chunkwise(text).split()

    def joined(self, text: str) -> str:
        """The same terms joined by blanks, as a lexical index stores them; no term holds a blank."""
        text = _normal(text)
        return " ".join(self._bilingual(text)) if holds_hangul(text) else _chunkwise(text)

    def translations(self, term: str) -> Translated:
        """Terms of the other language for ``term``, the likeliest first, each with its weight."""
        return shipped_translations().of(term)

    def _bilingual(self, text: str) -> list[str]:
        found = [*_latin(text), *self.korean.terms(text)]
        found.sort(key=lambda term: term[0])  # stable: terms of one place keep their order
        return [term for _, term in found]


def _normal(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFKC", text).replace("’", "'")


class _Chunks(dict[str, str]):
    """What stands between white space → its terms, joined by blanks. Text repeats itself: a look-up for most words."""

    def __missing__(self, chunk: str) -> str:
        terms = " ".join(term for _, term in _latin(chunk.replace(_BOUND, " ")))
        if len(chunk) <= _MAX_CHUNK:
            if len(self) >= _REMEMBERED:
                self.clear()
            self[chunk] = terms
        return terms


_chunks = _Chunks()


def _chunkwise(text: str) -> str:
    """What ``_latin`` finds in text without Hangul, joined by blanks."""
    # Only a unit behind its number reaches over white space.
    text = _UNIT_BEHIND_BLANK.sub(rf"\1{_BOUND}", text.replace(_BOUND, "\n"))
    return " ".join(filter(None, map(_chunks.__getitem__, text.split())))


def _latin(text: str) -> Iterator[Term]:
    for match in _COMPOUND.finditer(text):
        compound = match.group()
        number = _NUMBER.fullmatch(compound) if compound[0].isdigit() else None
        terms = _quantity(number, text, match.end()) if number else _words(compound)
        start = match.start()
        for term in terms:
            yield start, term[:_MAX_TERM]


@functools.lru_cache(maxsize=32_768)
def _words(compound: str) -> tuple[str, ...]:
    parts = _CONNECTOR.split(compound)
    whole = [compound.lower()] if len(parts) > 1 and any(map(str.isdigit, compound)) else []
    return (*whole, *(term for part in parts for term in _word(part)))


def _word(word: str) -> Iterator[str]:
    yield _stem(word)
    pieces = _CAMEL.split(word)
    if len(pieces) > 1:
        yield from map(_stem, pieces)


def _stem(word: str) -> str:
    plain = _without_accents(word.lower())
    return _stemmers.english(plain) if _ENGLISH.fullmatch(plain) else plain


class _Stemmers(threading.local):
    """A stemmer for each thread, for they may not be shared."""

    def __init__(self) -> None:
        import Stemmer

        self.english: Callable[[str], str] = Stemmer.Stemmer("english").stemWord


_stemmers = _Stemmers()


def _without_accents(word: str) -> str:
    if word.isascii():
        return word
    return "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c))


def _quantity(number: re.Match[str], text: str, end: int) -> Iterator[str]:
    """A number, and with its unit as one term when there is one."""
    value, unit = number.group(1).replace(",", ""), number.group(2).lower()
    apart = None if unit else _UNIT.match(text, end)
    if apart:
        yield value + apart.group(1).lower()
    elif unit:
        yield value + unit
    yield value
    if unit:
        yield unit
