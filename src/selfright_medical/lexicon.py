"""The lexicon: what conditions, symptoms, medicines and measurements are called in English and Korean.

Selfright's own list, as text: one file for a kind and a field (``data/condition_heart.tsv``), one concept a line:
English names, a tab, Korean names; of a medicine, a tab and its class. Names are separated by ``|``, the preferred one
first. ``*`` marks a brand name.

Words are made alike that differ in spelling alone: case, accents, British and American, singular and plural.
"""

import functools
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from types import MappingProxyType
from typing import Literal, get_args

from selfright.domain.passages import Language

Kind = Literal["condition", "symptom", "drug", "allergen", "lab", "term"]
"""``drug`` holds classes of medicines as well; ``term`` what is only translated (organs, doses, side effects)."""

KINDS: tuple[Kind, ...] = get_args(Kind)
_BRAND = "*"


@dataclass(frozen=True, slots=True)
class Concept:
    """One thing with its names. ``id``: ``kind:english-name``; ``group``: the field, or the class of a medicine."""

    id: str
    kind: Kind
    forms_en: tuple[str, ...]
    forms_ko: tuple[str, ...]
    group: str
    brands: tuple[str, ...] = ()

    def name(self, language: Language) -> str:
        """The name that is shown to a reader of ``language``."""
        return (self.forms_ko if language == "ko" else self.forms_en)[0]


@dataclass(frozen=True, slots=True)
class Lexicon:
    """All concepts by id, in the order of the files."""

    concepts: Mapping[str, Concept]

    def of_kind(self, *kinds: Kind) -> Iterator[Concept]:
        """The concepts of these kinds."""
        return (concept for concept in self.concepts.values() if concept.kind in kinds)


@functools.cache
def load_lexicon() -> Lexicon:
    """The lexicon that ships."""
    concepts: dict[str, Concept] = {}
    folder = resources.files(__package__).joinpath("data")
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        kind, _, field = file.name.removesuffix(".tsv").partition("_")
        if file.name.endswith(".tsv") and kind in KINDS:
            for line in file.read_text(encoding="utf-8").splitlines():
                if line.strip() and not line.startswith("#"):
                    concept = _concept(line, kind, field)
                    concepts[concept.id] = concept
    return Lexicon(MappingProxyType(concepts))


def _concept(line: str, kind: Kind, field: str) -> Concept:
    *columns, group = line.split("\t") if kind == "drug" else (*line.split("\t"), field)
    names = [[name.strip() for name in column.split("|")] for column in columns]
    english, korean = (tuple(name.removeprefix(_BRAND) for name in side) for side in names)
    brands = tuple(name.removeprefix(_BRAND) for side in names for name in side if name.startswith(_BRAND))
    key = re.sub(r"[^a-z0-9]+", "-", english[0].lower()).strip("-")
    return Concept(f"{kind}:{key}", kind, english, korean, group.strip(), brands)


WORD = re.compile(r"[A-Za-zÀ-ÖØ-öø-ÿ0-9]+")
_POSSESSIVE = re.compile(r"['’]s\b", re.IGNORECASE)
_SHORT = 4  # of shorter words an s at the end is left: gas, AIDS


def fold(word: str) -> str:
    """The common form of an English word: ``Anaemias`` and ``anemia`` are both ``anemia``."""
    plain = word.lower()
    if not plain.isascii():
        plain = "".join(c for c in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(c))
    plain = plain.replace("ae", "e").replace("oe", "e").replace("sulph", "sulf")
    if len(plain) >= _SHORT and plain.endswith("s") and not plain.endswith(("ss", "us", "is")):
        plain = plain[:-3] + "y" if plain.endswith("ies") else plain[:-1]
    return plain[:-2] + "r" if plain.endswith("our") else plain


def words(text: str) -> list[tuple[str, int, int]]:
    """The folded words of ``text`` with their spans; a possessive s is no word."""
    skipped = {match.start() + 1 for match in _POSSESSIVE.finditer(text)}
    return [(fold(found.group()), *found.span()) for found in WORD.finditer(text) if found.start() not in skipped]


def first_word(text: str) -> str:
    """The first of ``words``, or nothing."""
    match = WORD.search(text)
    if match and text[match.start() - 1 : match.start()] not in ("'", "’"):
        return fold(match.group())
    return next((word for word, *_ in words(text)), "")


def is_abbreviation(form: str) -> bool:
    """Whether a name is one by its capitals (``MI``, ``COPD``), so that ``mi`` may mean something else."""
    letters = [character for character in form if character.isalpha()]
    return 0 < len(letters) <= _LONGEST_ABBREVIATION and sum(map(str.isupper, letters)) * 2 > len(letters)


def may_be_written_small(form: str) -> bool:
    """Whether an abbreviation is still one in small letters: ``copd``, ``htn``, but not ``aids`` or ``mi``."""
    letters = form.lower()
    if letters in _ALSO_WORDS or not letters.isalnum():
        return False
    no_word = not re.search("[aeiouy]", letters) or any(map(str.isdigit, letters))
    return len(letters) >= _SHORT or (len(letters) == _SHORT - 1 and no_word)


_LONGEST_ABBREVIATION = 7
_ALSO_WORDS = frozenset({"aids", "sars", "mers", "dress", "gist", "mach", "apap", "hiss"})
