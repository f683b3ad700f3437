"""Plain facts of Korean and English text that every package shares: the language, where sentences end.

All positions are character offsets into the text that was given, so spans can be cut from it as they are.
"""

import re
import string
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import overload

from selfright.domain.blocks import SENTENCE_END, WRAPPED_LINE, Block, blocks, line_spans
from selfright.domain.errors import UsageError
from selfright.domain.passages import Language

_HANGUL = re.compile(r"[\uac00-\ud7a3\u1100-\u11ff\u3130-\u318f]")
_LATIN = re.compile(r"[A-Za-z]")
_MARKUP = re.compile(r"```.*?```|`[^`\n]*`|https?://\S+", re.DOTALL)
# 2008. 8. 25. That a digit comes first lets the search skip all other characters.
_DATE = re.compile(r"\d(?<!\d\d)\d{3}\.[ \t]*\d{1,2}\.(?:[ \t]*\d{1,2}\.)?")
_NUMBER_OF_ITEM = re.compile(r"(?:^|\n)\s*[*_]{0,2}\d{1,3}$")
_ABBREVIATIONS = frozenset(
    "Dr Mr Mrs Ms Prof Sr Jr St vs etc e.g i.e cf al Fig Figs Eq No Nos vol pp ca approx resp Inc Ltd Co Corp Dept U.S "
    "U.K a.m p.m Ph.D M.D min max avg sp spp subsp var".split()
).union(string.ascii_uppercase)
_ABBREVIATED = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(_ABBREVIATIONS)))})$")
MAX_NAME = 200


def check_name(what: str, name: str) -> str:
    """The composed name of a user, a session or a collection. Raises ``UsageError`` for an empty or too long one."""
    name = compose_name(name)
    if not 0 < len(name) <= MAX_NAME:
        raise UsageError(f"the name of a {what} must have 1 to {MAX_NAME} characters, but has {len(name):,}")
    return name


def language_of(text: str) -> Language:
    """``ko`` when Hangul makes up at least a fifth of the letters (a syllable says more than a letter), else ``en``."""
    if not has_hangul(text[:20_000]):
        return "en"
    sample = unicodedata.normalize("NFC", text[:20_000])
    prose = _MARKUP.sub(" ", sample)
    hangul, latin = (len(pattern.findall(prose)) for pattern in (_HANGUL, _LATIN))
    if not hangul and not latin:  # all of it is markup
        hangul = len(_HANGUL.findall(sample))
    return "ko" if hangul and hangul * 4 >= latin else "en"


def has_hangul(text: str) -> bool:
    """Whether any Hangul occurs, composed or as single jamo."""
    return not text.isascii() and _HANGUL.search(text) is not None


def sentence_spans(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    """The sentences of ``text[start:end]`` as (start, end), white space at the ends left out.

    Ends at ``. ! ? …`` before white space (not after abbreviations, initials and numbers, nor in dates), at CJK
    terminators, at blank lines and at line ends that are not wrapped prose. Lists and tables end one at each line.
    """
    for block in blocks(text, start, end):
        yield from block_sentences(text, block)


def block_sentences(text: str, block: Block) -> Iterator[tuple[int, int]]:
    """``sentence_spans`` of one block."""
    last = block.start
    for cut in sorted({*_line_cuts(text, block), *_stop_cuts(text, block), block.end}):
        if piece := text[last:cut].lstrip():
            yield cut - len(piece), cut - len(piece) + len(piece.rstrip())
        last = cut


@lru_cache(maxsize=512)
def sentences_of(text: str) -> tuple[tuple[int, int], ...]:
    """``sentence_spans`` of a whole text that several judges read one after the other: the last 512 are kept."""
    return tuple(sentence_spans(text))


def _line_cuts(text: str, block: Block) -> set[int]:
    if block.kind == "code" or text.find("\n", block.start, block.end) < 0:
        return set()
    if block.kind in ("list", "table"):
        return {stop for _, stop in line_spans(text, block.start, block.end)}
    return {stop for start, stop in line_spans(text, block.start, block.end) if stop - start < WRAPPED_LINE}


def _stop_cuts(text: str, block: Block) -> set[int]:
    if block.kind in ("code", "table"):
        return set()
    cuts = set()
    in_dates: set[int] | None = None
    for match in SENTENCE_END.finditer(text, block.start, block.end):
        at = match.start()
        before = text[at - 1] if at > block.start else ""
        if before.isdigit():
            if in_dates is None:
                dates = _DATE.finditer(text, block.start, block.end)
                in_dates = {place for date in dates for place in range(*date.span())}
            head = text[max(block.start, at - 12) : at]
            if at in in_dates or (match.group() == "." and _NUMBER_OF_ITEM.search(head)):
                continue
        elif before.isalpha() and text[at] == ".":
            first = max(block.start, at - 12)
            word = text[max(first, text.rfind(" ", first, at) + 1) : at]
            if word in _ABBREVIATIONS if word.isalpha() else _ABBREVIATED.search(word):
                continue
        cuts.add(match.end())
    return cuts


@overload
def several(given: str | Iterable[str]) -> tuple[str, ...]: ...
@overload
def several(given: str | Path | Iterable[str | Path]) -> tuple[str | Path, ...]: ...
def several(given: str | Path | Iterable[str | Path]) -> tuple[str | Path, ...]:
    """All of them as a tuple; a text or path alone is one thing, not its letters."""
    return (given,) if isinstance(given, str | Path) else tuple(given)


def readable(text: str) -> str:
    """Restores text that Python, without a UTF-8 locale, passed from the command line as lone surrogates."""
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode("utf-8")


def compose_name(name: str) -> str:
    """A name as it is stored: Hangul and accents composed (NFC), whichever way they were typed or sent."""
    return unicodedata.normalize("NFC", name)


_ONE = re.compile(r"(?<![\d.,])(1 (?:document|fact|passage|piece|sentence|slot|strip))s\b")


def singular(text: str) -> str:
    """English text with "1 passages" as "1 passage"."""
    return _ONE.sub(r"\1", text)
