"""Index terms of the Hangul in a text: morphemes by Kiwi, or syllable bigrams where Kiwi is not installed."""

import functools
import hashlib
import importlib
import importlib.util
import re
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from selfright.domain.errors import InputError
from selfright.processes import usable_cpus

Term = tuple[int, str]
"""Where a term begins in the text, and the term."""

_MAX_LINE = 4_096  # characters; longer lines are cut, so that one call stays short
_MAX_REMEMBERED = 200  # characters
_MOST_THREADS = 4
_AT_ONCE = 64  # lines
_LINE = re.compile(rf"[^\n]{{1,{_MAX_LINE}}}")
_HANGUL_RUN = re.compile(r"[\uac00-\ud7a3]+")
# How much Kiwi prefers a user word to its parts. With less, a word stays whole before a particle and falls apart before
# another noun; a word and its compounds must share a term.
_PREFERENCE = 5.0

# Content: nouns (not pronouns), verb and adjective stems, roots, adverbs, foreign words in Hangul.
CONTENT = ("NNG", "NNP", "NNB", "NR", "VV", "VA", "XR", "MAG")
_NOMINAL = ("NNG", "NNP", "XPN", "XSN", "XR")  # what a compound noun is made of
_MAX_COMPOUND = 5  # morphemes; longer runs are mis-analysed text rather than words


class HangulBigrams:
    """Every two neighbouring syllables; a single syllable stays alone. Needs nothing but the text."""

    name = "bigrams-1"

    def terms(self, text: str) -> Iterator[Term]:
        """The bigrams of each run of Hangul."""
        for run in _HANGUL_RUN.finditer(text):
            syllables, start = run.group(), run.start()
            for i in range(max(1, len(syllables) - 1)):
                yield start + i, syllables[i : i + 2]


class KoreanMorphemes:
    """Content morphemes by Kiwi; of a compound noun both its parts and the whole.

    ``user_words`` are nouns in Hangul that Kiwi shall not split; the name changes with the list. Raises ``InputError``
    for a word that is none. Kiwi (about a second, 330 MB) is loaded when the first Hangul comes, once per process and
    set of user words; needs the package ``kiwipiepy``.
    """

    def __init__(self, user_words: Sequence[str] = ()) -> None:
        self.user_words = tuple(sorted(set(user_words)))
        for word in self.user_words:
            if not _HANGUL_RUN.fullmatch(word):
                raise InputError(f"a user word must be Hangul syllables without blanks, but '{word}' is not; remove it")
        digest = hashlib.sha256("\n".join(self.user_words).encode()).hexdigest()[:8]
        self.name = f"kiwi-1-{digest}" if self.user_words else "kiwi-1"

    @staticmethod
    def is_installed() -> bool:
        """Whether the package ``kiwipiepy`` can be used."""
        return importlib.util.find_spec("kiwipiepy") is not None

    def terms(self, text: str) -> Iterator[Term]:
        """Nouns, verb and adjective stems, roots and adverbs of the lines that hold Hangul."""
        for line in _lines(text):
            said = line.group()
            short = len(said) <= _MAX_REMEMBERED
            terms = _cached_terms(said, self.user_words) if short else _content(_analyse(said, self.user_words))
            yield from ((line.start() + position, term) for position, term in terms)

    def nouns(self, text: str) -> Iterator[Term]:
        """Common nouns of one syllable, which are spelled as pronouns and dependent nouns are (이, 수, 등)."""
        for line in _lines(text):
            for morpheme in _analyse(line.group(), self.user_words):
                if morpheme.tag == "NNG" and len(morpheme.form) == 1:
                    yield line.start() + morpheme.start, morpheme.form

    def terms_of(self, texts: Sequence[str]) -> list[list[Term]]:
        """``terms`` of each text, on several cores."""
        found: list[list[Term]] = [[] for _ in texts]
        lines = [
            (terms, line.start(), line.group())
            for text, terms in zip(texts, found, strict=True)
            for line in _lines(text)
        ]
        analysed = _analyse_all([line for *_, line in lines], self.user_words)
        for (terms, start, _), morphemes in zip(lines, analysed, strict=True):
            terms += [(start + position, term) for position, term in _content(morphemes)]
        return found


def _lines(text: str) -> Iterator[re.Match[str]]:
    return (line for line in _LINE.finditer(text) if _HANGUL_RUN.search(line.group()))


def _content(morphemes: Sequence[Any]) -> Iterator[Term]:
    """The terms of one analysed line."""
    run: list[Any] = []  # nominal morphemes without a gap between them
    for morpheme in morphemes:
        if run and (morpheme.tag not in _NOMINAL or morpheme.start != run[-1].start + run[-1].len):
            yield from _compound(run)
            run = []
        if morpheme.tag in _NOMINAL:
            run.append(morpheme)
        if morpheme.tag.startswith(CONTENT) and _HANGUL_RUN.match(morpheme.form):
            yield morpheme.start, morpheme.form
    yield from _compound(run)


@functools.lru_cache(maxsize=2_048)
def _cached_terms(line: str, user_words: tuple[str, ...]) -> tuple[Term, ...]:
    """A question is asked of the index in every pass, and each time with the names that a lexicon adds."""
    return tuple(_content(_analyse(line, user_words)))


def _compound(run: Sequence[Any]) -> Iterator[Term]:
    if 1 < len(run) <= _MAX_COMPOUND:
        yield run[0].start, "".join(morpheme.form for morpheme in run)


_loading = threading.Lock()
_analysing = threading.Lock()


def _analyse(text: str, user_words: tuple[str, ...]) -> Sequence[Any]:
    kiwi = _load(user_words)
    with _analysing:
        morphemes: Sequence[Any] = kiwi.tokenize(text)
    return morphemes


def _analyse_all(texts: Sequence[str], user_words: tuple[str, ...]) -> list[Sequence[Any]]:
    if not texts:
        return []
    kiwi = _load(user_words)
    found: list[Sequence[Any]] = []
    for start in range(0, len(texts), _AT_ONCE):  # questions get in between
        with _analysing:
            found += kiwi.tokenize(texts[start : start + _AT_ONCE])  # several texts go to several threads
    return found


def _load(user_words: tuple[str, ...]) -> Any:
    with _loading:  # lru_cache alone would let two threads load it twice
        return _kiwi(user_words)


@functools.lru_cache(maxsize=2)
def _kiwi(user_words: tuple[str, ...]) -> Any:
    module: Any = importlib.import_module("kiwipiepy")  # it does not declare what it exports
    # The dictionary of multi-word names and allomorph integration cost most of the start and change no term we keep.
    workers = min(usable_cpus(), _MOST_THREADS)
    kiwi = module.Kiwi(num_workers=workers, model_type="cong", load_multi_dict=False, integrate_allomorph=False)
    for word in user_words:
        kiwi.add_user_word(word, "NNP", _PREFERENCE)
    return kiwi
