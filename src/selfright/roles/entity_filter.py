"""Keeps evidence to the entities that the question names: text about others of their kind is dropped.

Codes and versions (FX-1042, CYP2C9, v2.3.1) and names written as identifiers (FxStore) are known by how they are
written; other things by what a domain pack knows of its field. A passage has to name such a thing of a pack somewhere,
by any of its names; a sentence that names none of its kind, and a passage without any code, may be about anything and
are left alone.

A page of the other language may be the one about the subject: passages of the question's language that do not name the
subject are then about others, too.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from selfright.domain.codes import Code, codes_in, is_named
from selfright.domain.packs import DomainPack
from selfright.domain.passages import Hit
from selfright.domain.text import language_of
from selfright.roles.analysis import TermMatcher, TextAnalyzer
from selfright.roles.visible_text import visible
from selfright.roles.words import mask_stop_words

_IDENTIFIER = re.compile(r"(?<![\w.])[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+(?!\w)")
_HUMP = re.compile(r"[A-Z][a-z0-9]*")
_ANY_WORD = re.compile(r"[A-Za-z]+\d*|\d+|[가-힣]{2,}")
_HANGUL = re.compile(r"[가-힣]+")
_STEM = 4  # letters that two forms of a word share

Things = Callable[[str], frozenset[str]]


@dataclass(frozen=True, slots=True)
class QueryEntities:
    """What a question names: ``codes`` and ``identifiers`` by how they are written, ``keys`` the pack's.

    ``words``: the beginnings of its words; ``korean``: its Hangul.
    """

    words: frozenset[str] = frozenset()
    korean: str = ""
    codes: frozenset[Code] = frozenset()
    identifiers: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()
    things: Things = field(default=lambda _text: frozenset())

    @classmethod
    def of(cls, question: str, pack: DomainPack) -> "QueryEntities":
        """What the question names by how it is written, and as a thing of the pack's field."""
        return cls(
            frozenset(word.lower()[:_STEM] for word in _ANY_WORD.findall(question)),
            " ".join(_HANGUL.findall(question)),
            codes_in(question),
            frozenset(_IDENTIFIER.findall(question)),
            pack.asked(question),
            pack.things,
        )

    def __bool__(self) -> bool:
        return bool(self.codes or self.identifiers or self.keys)

    def is_named_in(self, texts: Sequence[str]) -> bool:
        """Whether each code and, of the pack's things, at least one is named in one of the texts.

        A text that only repeats words of the question names nothing: anyone who knows the question can write one.
        """
        texts = [text for text in texts if self._says_more(text)]
        coded = all(any(is_named(code, text) for text in texts) for code in self.codes)
        return coded and (not self.keys or any(self.keys & self.things(text) for text in texts))

    def excludes_passage(self, heading: str, text: str) -> bool:
        """Whether a whole passage is no evidence on what is asked about."""
        unnamed = bool(self.keys) and not self.keys & self.things(f"{heading}\n{text}")
        return unnamed or self.excludes_text(heading, text)

    def excludes_text(self, heading: str, text: str) -> bool:
        """Whether a text under this heading is about another thing of the kind: it names one, and not what is asked."""
        whole = f"{heading}\n{text}"
        return self._other_key(whole) or self._other_code(whole) or self._other_identifier(whole, text)

    def _says_more(self, text: str) -> bool:
        return any(word[:_STEM] not in self.words and word[:2] not in self.korean for word in _topic_words(text))

    def _other_key(self, whole: str) -> bool:
        named = self.things(whole) if self.keys else frozenset()
        return bool(named) and not named & self.keys

    def _other_code(self, whole: str) -> bool:
        families = {code.family for code in self.codes}
        has_kind = bool(families) and any(code.family in families for code in codes_in(whole))
        return has_kind and not any(is_named(code, whole) for code in self.codes)

    def _other_identifier(self, whole: str, text: str) -> bool:
        """Whether the text opens with a sister (FxCacheManager for FxStore) that the question has no word for."""
        if not self.identifiers or any(name in whole for name in self.identifiers):
            return False
        sister = _IDENTIFIER.search(_first_line(text))
        return sister is not None and any(self._is_sister(sister.group(), name) for name in self.identifiers)

    def _is_sister(self, found: str, name: str) -> bool:
        first, *others = _HUMP.findall(found)
        return first == _HUMP.findall(name)[0] and any(hump.lower()[:_STEM] not in self.words for hump in others)


@lru_cache(maxsize=256)  # every pass of a turn asks it of the same passages
def _topic_words(text: str) -> tuple[str, ...]:
    """The words that carry a topic, in small letters."""
    return tuple(word.lower() for word in _ANY_WORD.findall(mask_stop_words(text)))


def _first_line(text: str) -> str:
    """The first line that is no heading."""
    return next((line for line in text.splitlines() if line.strip() and not line.startswith("#")), "")


def on_other_subjects(question: str, hits: Sequence[Hit], analyzer: TextAnalyzer) -> Sequence[Hit]:
    """The hits in the question's language that do not name its rarest word, where only foreign pages have it as title.

    A title has it as it is written ("Larkspur는 언제 여나요?"); a text may also name it in translation.
    """
    language = language_of(question)
    own = [hit for hit in hits if hit.passage.language == language]
    terms = sorted(analyzer.key_terms(question), key=lambda term: -term.weight)[:1]
    if not terms or not own or len(own) == len(hits):
        return ()
    written = TermMatcher(analyzer, terms)
    titled = {hit.passage.language for hit in hits if written.places(hit.passage.title)}
    if not titled or language in titled:
        return ()
    rarest = TermMatcher(analyzer, terms, translated=True)
    return [hit for hit in own if not rarest.places(text_as_seen(hit))]


def text_as_seen(hit: Hit) -> str:
    """The heading of a passage, and what of it a reader sees."""
    return f"{hit.passage.heading}\n{visible(hit.passage)}"
