"""Medical names in the other language, so that a Korean question finds English passages offline."""

import functools
import hashlib
from collections.abc import Iterator, Sequence

from selfright.domain.passages import Language
from selfright.medical.complaints import complaints
from selfright.medical.lexicon import Concept, load_lexicon
from selfright.medical.spotting import Mention, Spotter

_LONGEST_TEXT = 4_000  # characters of a text that are looked through
_NAMES = 3  # of a concept; more would drown the rest of the query


class BilingualLexicon:
    """A ``TermLexicon`` over the medical lexicon: 메트포르민 → metformin, and back. ``limit``: phrases for a text.

    Of each thing come the name that is shown and up to two more, brand names and abbreviations left out.
    """

    def __init__(self, limit: int = 16) -> None:
        self._limit = limit

    @property
    def name(self) -> str:
        """The list and its version."""
        return f"medical-{_fingerprint()}"

    def expand(self, text: str, language: Language) -> Sequence[str]:
        """Phrases in the other language, in the order of the text, each once."""
        text = text[:_LONGEST_TEXT]
        mentions = [mention for mention in _mentions(text, language) if mention.language == language]
        phrases = (phrase for mention in mentions for phrase in _names(mention.concept, language))
        return tuple(dict.fromkeys(phrases))[: self._limit]


def _mentions(text: str, language: Language) -> list[Mention]:
    """Names and, in Korean, complaints; a complaint that holds a name of its own stands for it."""
    named = _spotter().find(text)
    if language != "ko":
        return named
    told = [mention for mention in complaints().find(text) if not any(_meet(mention, other) for other in named)]
    return sorted([*named, *told], key=lambda mention: mention.start)


def _meet(mention: Mention, other: Mention) -> bool:
    long_enough = other.concept.kind != "term"
    return long_enough and mention.start < other.end and other.start < mention.end


def _names(concept: Concept, language: Language) -> Iterator[str]:
    forms = concept.forms_en if language == "ko" else concept.forms_ko
    plain = (form for form in forms if form not in concept.brands and (len(form) > _NAMES or form == forms[0]))
    for _, form in zip(range(_NAMES), plain, strict=False):
        yield form


@functools.cache
def _spotter() -> Spotter:
    return Spotter(load_lexicon().of_kind("condition", "symptom", "drug", "lab", "term"))


@functools.cache
def _fingerprint() -> str:
    concepts = load_lexicon().concepts.values()
    text = "\n".join(f"{one.id}\t{'|'.join(one.forms_en)}\t{'|'.join(one.forms_ko)}" for one in concepts)
    return hashlib.sha256(text.encode()).hexdigest()[:8]
