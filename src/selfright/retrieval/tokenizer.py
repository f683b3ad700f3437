"""Korean and English text to index terms, with their translations; and terms that say nothing, left out of queries.

Latin words become lower-case stems, Hangul becomes morphemes. Numbers keep their unit and are found without it
(``500mg`` → ``500mg``, ``500``, ``mg``); codes stay whole (``X25519``, ``IPv4``), and compounds with a digit or an
underscore are found whole and by their parts (``FX-1007``, ``max_tokens``).
"""

import functools
import io
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from selfright.domain.text import has_hangul
from selfright.retrieval.korean import HangulBigrams, KoreanMorphemes, Term

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_ENGLISH_STOP_WORDS = (
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this "
    "to was will with what which who whom whose how do doe does did done when where whi can could would should shall "
    "may might must from has have had i you he she we were been am also than my me your our his her its them so about "
    "ani some other"
)
_KOREAN_STOP_WORDS = (
    "있 하 되 이 것 수 같 않 말 어떻 무엇 어떤 어느 등 및 때 중 경우 대하 위하 관하 알 알리 주 보 따르 다음"
)

_STOP_WORDS = frozenset(f"{_ENGLISH_STOP_WORDS} {_KOREAN_STOP_WORDS}".split())


_WORD = re.compile(r"(?<![A-Za-z])[A-Za-z]{2,}(?![A-Za-z])")
_OPENS = re.compile(r"(?:^|[.?!:\n])[\s\"'(]*$")


def content_terms(terms: Sequence[str], text: str = "") -> list[str]:
    """The terms without stop words, repeats kept; all of them when nothing else would be left.

    What ``text``, which they are the terms of, writes as a name stays: "WHO", "IT", "in May", a Latin word in Korean.
    """
    names = _names(text)
    return [term for term in terms if term not in _STOP_WORDS or term in names] or list(terms)


def _names(text: str) -> frozenset[str]:
    """Words, in lower case, with a capital that neither a sentence's beginning nor a headline explains."""
    words = list(_WORD.finditer(text))
    if has_hangul(text):
        return frozenset(word.group().lower() for word in words)
    if all(word.group()[0].isupper() for word in words):
        return frozenset()
    return frozenset(
        word.group().lower()
        for word in words
        if word.group().isupper() or (word.group()[0].isupper() and not _OPENS.search(text[: word.start()]))
    )


FILE = "translations.npz"
Translated = Sequence[tuple[str, float]]
"""Terms, each with its weight, 0…1."""


class Translations:
    """Korean terms for English ones and back; index terms on both sides, as ``BilingualTokenizer`` cuts them.

    The squared weights of a term's translations add up to one at most; the weights themselves may add up to more.
    ``stored``: the arrays of the file.
    """

    def __init__(self, stored: "Mapping[str, NDArray[np.generic]]") -> None:
        korean, english = (stored[name].tobytes().decode().split("\n") for name in ("ko", "en"))
        both = {"ko": korean, "en": english}
        self._stored = stored
        self._names = {"ko": english, "en": korean}  # what a term of that language is translated into
        self._rows = {language: {term: row for row, term in enumerate(terms)} for language, terms in both.items()}

    def of(self, term: str) -> Translated:
        """Terms of the other language, the likeliest first; nothing for a term that is not known."""
        language = "ko" if has_hangul(term) else "en"
        row = self._rows[language].get(term)
        if row is None:
            return ()
        starts, targets, weights = (self._stored[f"{language}_{name}"] for name in ("starts", "targets", "weights"))
        span = slice(int(starts[row]), int(starts[row + 1]))
        return [
            (self._names[language][target], weight)
            for target, weight in zip(targets[span].tolist(), weights[span].tolist(), strict=True)
        ]


@cache
def load_translations() -> Translations:
    """The list of the package, read once per process: about 0.1 s."""
    import numpy as np

    content = files("selfright.retrieval").joinpath(FILE).read_bytes()
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        return Translations({name: arrays[name] for name in arrays.files})


_VERSION = 2

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

    def __init__(self, korean: HangulBigrams | KoreanMorphemes | None = None, user_words: Sequence[str] = ()) -> None:
        self.korean = korean or (KoreanMorphemes(user_words) if KoreanMorphemes.is_installed() else HangulBigrams())

    @property
    def name(self) -> str:
        """For example ``bilingual-2-kiwi-1``."""
        return f"bilingual-{_VERSION}-{self.korean.name}"

    def tokens(self, text: str) -> list[str]:
        """Terms in reading order, repeats kept."""
        text = _normal(text)
        return self._bilingual(text) if has_hangul(text) else _chunkwise(text).split()

    def join_terms(self, text: str) -> str:
        """The same terms joined by blanks, as a lexical index stores them; no term holds a blank."""
        text = _normal(text)
        return " ".join(self._bilingual(text)) if has_hangul(text) else _chunkwise(text)

    def join_all_terms(self, texts: Sequence[str]) -> list[str]:
        """``joined`` of each text; morphemes are cut on several cores."""
        if not isinstance(self.korean, KoreanMorphemes):
            return [self.join_terms(text) for text in texts]
        texts = [_normal(text) for text in texts]
        korean = self.korean.terms_of([text if has_hangul(text) else "" for text in texts])
        return [
            " ".join(_in_order(_latin(text), terms)) if has_hangul(text) else _chunkwise(text)
            for text, terms in zip(texts, korean, strict=True)
        ]

    def nouns(self, text: str) -> list[Term]:
        """Korean common nouns of one syllable, told from other words by a morphological analyser; none without one."""
        return list(self.korean.nouns(_normal(text))) if isinstance(self.korean, KoreanMorphemes) else []

    def translations(self, term: str) -> Translated:
        """Terms of the other language for ``term``, the likeliest first, each with its weight."""
        return load_translations().of(term)

    def _bilingual(self, text: str) -> list[str]:
        return _in_order(_latin(text), self.korean.terms(text))


def _in_order(latin: Iterable[Term], korean: Iterable[Term]) -> list[str]:
    found = sorted([*latin, *korean], key=lambda term: term[0])  # stable: terms of one place keep their order
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
    text = text.replace(_BOUND, "\n")
    if (known := _chunks.get(text)) is not None:  # a single word, as judges ask for thousands
        return known
    # Only a unit behind its number reaches over white space.
    text = _UNIT_BEHIND_BLANK.sub(rf"\1{_BOUND}", text)
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
    is_name = len(parts) > 1 and ("_" in compound or any(map(str.isdigit, compound)))
    whole = [compound.lower()] if is_name else []
    return (*whole, *(term for part in parts for term in _word(part)))


def _word(word: str) -> Iterator[str]:
    yield _stem(word)
    pieces = _CAMEL.split(word)
    if len(pieces) > 1:
        yield from map(_stem, pieces)


def _stem(word: str) -> str:
    plain = _without_accents(word.lower())
    return _english_stems()(plain)[0] if _ENGLISH.fullmatch(plain) else plain


@cache
def _english_stems() -> Callable[[str], list[str]]:
    """Snowball's English stemmer: one word to a list of its stem."""
    import tantivy

    words = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.raw())
    stems: Callable[[str], list[str]] = words.filter(tantivy.Filter.stemmer("english")).build().analyze
    return stems


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
