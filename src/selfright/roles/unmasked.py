"""Text as an attentive reader would read it: without invisible characters, look-alikes and letters set apart."""

import re
import unicodedata

# Zero-width characters and joiners, bidirectional controls, variation selectors, and the invisible "tag" letters.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff"
    "\uffa0\U000e0000-\U000e01ef]"
)
# What turns reading order around, or spells letters that nobody sees: no honest Korean or English text has it.
_DISGUISE = re.compile("[\u202d\u202e\U000e0020-\U000e007e]")
_LOOK_ALIKES = str.maketrans(
    "аеорсухіјѕһԁѵοανΑΒΕΖΗΙΚΜΝΟΡΤΥΧАВЕКМНОРСТХІЈЅ", "aeopcyxijshdvoavABEZHIKMNOPTYXABEKMHOPCTXIJS"
)
_FOREIGN = re.compile("[\u0370-\u052f]")
_MIXED = re.compile("[A-Za-z\u0370-\u052f]{2,}")
_SET_APART = re.compile(r"(?<![^\W\d_])(?:[^\W\d_][ .\-_*]){5,}[^\W\d_](?![^\W\d_])")
_POINTED = re.compile(r"[^\W\d_][.\-_*][^\W\d_][.\-_*][^\W\d_][.\-_*]")
_BETWEEN_MARKS = re.compile(r"[.\-_*][^\W\d_][.\-_*]")  # stands in all that is pointed, and is sooner looked for
_LEAST_APART = 6
_GAP = re.compile(r"[ .\-_*]")


def unmasked(text: str) -> str:
    """``text`` for matching only, its places are others: compatible forms made equal, disguises taken off."""
    clear = text
    if not text.isascii():
        clear = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
        if _FOREIGN.search(clear):
            clear = _MIXED.sub(_latin, clear)
    lone = sum(len(word) == 1 for word in clear.split())
    if lone < _LEAST_APART and not (_BETWEEN_MARKS.search(clear) and _POINTED.search(clear)):
        return clear
    return _SET_APART.sub(lambda match: _GAP.sub("", match.group()), clear)


def disguised(text: str) -> bool:
    """Whether it holds characters that turn its reading order around or spell what cannot be seen."""
    return not text.isascii() and _DISGUISE.search(text) is not None


def _latin(word: re.Match[str]) -> str:
    """A word of Latin and look-alike letters in Latin; words of other alphabets alone stay."""
    letters = word.group()
    return letters.translate(_LOOK_ALIKES) if re.search("[A-Za-z]", letters) else letters
