"""Words made alike that differ in spelling alone: case, accents, British and American, singular and plural."""

import re
import unicodedata

WORD = re.compile(r"[A-Za-zÀ-ÖØ-öø-ÿ0-9]+")
_POSSESSIVE = re.compile(r"['’]s\b", re.IGNORECASE)
_SHORT = 4  # of shorter words an s at the end is left: gas, AIDS


def folded(word: str) -> str:
    """The common form of an English word: ``Anaemias`` and ``anemia`` are both ``anemia``."""
    plain = word.lower()
    if not plain.isascii():
        plain = "".join(c for c in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(c))
    plain = _singular(plain.replace("ae", "e").replace("oe", "e").replace("sulph", "sulf"))
    return plain[:-2] + "r" if plain.endswith("our") else plain


def _singular(word: str) -> str:
    if len(word) < _SHORT or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    return word[:-3] + "y" if word.endswith("ies") else word[:-1]


def words(text: str) -> list[tuple[str, int, int]]:
    """The folded words of ``text`` with their spans; a possessive s is no word."""
    skipped = {match.start() + 1 for match in _POSSESSIVE.finditer(text)}
    return [
        (folded(match.group()), match.start(), match.end())
        for match in WORD.finditer(text)
        if match.start() not in skipped
    ]


def first_word(text: str) -> str:
    """The first of ``words``, or nothing."""
    match = WORD.search(text)
    if match and text[match.start() - 1 : match.start()] not in ("'", "’"):
        return folded(match.group())
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
