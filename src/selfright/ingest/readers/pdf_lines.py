"""The pieces of text on a PDF page, and the lines that they make. All places are points from the upper left corner."""

import itertools
import re
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

_ESCAPED = re.compile(r"\\([^\w\s])|\*+")
_UNSTEADY = dict.fromkeys([*range(0x2010, 0x2016), 0xAD, ord("-")])
_SIGNED = re.compile(
    r"(.*(?:[^\W\d_]{3}|[가-힣]|[^\W\d_]{2}[.,;:!?”’\")\]])[.,;:!?”’\")\]]{0,3})(\d{1,3}\)?|[*†‡]{1,3})"
)
_MAY_HAVE_SIGN = re.compile(
    r"[\d*†‡](?:(?<=[^\W\d_].)|(?<=[^\W\d_][.,;:!?”’\")\]].)|(?<=[^\W\d_][.,;:!?”’\")\]]{2}.)"
    r"|(?<=[^\W\d_][.,;:!?”’\")\]]{3}.))"
)
_NOTE = re.compile(r"(\d{1,2}|[*†‡]{1,3})[).]?\s?[^\W\d_]{2}")
_NOT_SHORT = 5  # letters, so that "Fig.2" is whole
_OVER = 0.04  # of a word's height
_SMALLER = 0.95
_LINE_NUMBER = re.compile(r"(\d{1,4})(?:\s+|$)")
_FEWEST_NUMBERS = 8
_GO_ON = 0.25  # of the lines begin in the middle of a sentence
_GAP = 0.1  # of a line's height


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of text on one line, without the signs of footnotes.

    ``key`` is what the library says, with these; ``words`` are the library's. ``turn`` is in degrees, clockwise: 0, 90,
    180 or 270. ``size`` is that of the letters, in points.
    """

    text: str
    key: str
    left: float
    right: float
    top: float
    bottom: float
    turn: int = 0
    words: Sequence[Any] = ()
    size: float = 0.0
    font: str = ""

    @property
    def middle(self) -> tuple[float, float]:
        """Left to right, and downwards."""
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2

    @property
    def height(self) -> float:
        """In points."""
        return self.bottom - self.top

    def is_in(self, box: Any) -> bool:
        """Whether its middle is in one of the library's boxes, or hardly outside."""
        x, y = self.middle
        return bool(-2 <= x - box.x <= box.width + 2 and -2 <= y - box.y <= box.height + 2)

    def of(self, words: Sequence[Any]) -> "Piece":
        """The part of it that some of its words make."""
        text = " ".join(word.text for word in words)
        right = words[-1].x + words[-1].width
        return replace(self, text=text, key=key_of(text), left=words[0].x, right=right, words=words)


@dataclass(frozen=True, slots=True)
class Line:
    """Pieces beside one another, from left to right."""

    pieces: tuple[Piece, ...]
    text: str
    left: float
    right: float
    top: float
    bottom: float

    @property
    def middle(self) -> float:
        """Downwards."""
        return (self.top + self.bottom) / 2

    @classmethod
    def of(cls, pieces: Iterable[Piece]) -> "Line":
        """The line that some pieces make, at least one."""
        row = tuple(sorted(pieces, key=lambda piece: piece.left))
        text = " ".join(piece.text for piece in row if piece.text)
        return cls(row, text, row[0].left, row[-1].right, min(p.top for p in row), max(p.bottom for p in row))


def pieces_of(page: Any) -> list[Piece]:
    """All text on a page that is more than blanks."""
    items = [item for item in page.text_items if item.text.strip()]
    notes = _notes(items, page.height)
    pieces = []
    for item in items:
        turn = turn_of(item)
        text = _along(item.words) if turn % 180 and item.words else _without_signs(item, notes).strip()
        right, bottom = item.x + item.width, item.y + item.height
        place = item.x, right, item.y, bottom
        pieces.append(Piece(text, key_of(item.text), *place, turn, item.words, item.font_size, item.font_name))
    return _without_line_numbers(pieces)


def _without_line_numbers(pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces without the numbers that a draft has in front of its lines, one after the other down the page.

    What tells them from those of a list is that sentences go on over them.
    """
    lines = lines_of(downwards(pieces))
    numbered = [(line.pieces[0], found) for line in lines if (found := _LINE_NUMBER.match(line.pieces[0].text))]
    steps = [int(after[1]) - int(before[1]) for (_, before), (_, after) in itertools.pairwise(numbered)]
    goes_on = sum(_LINE_NUMBER.sub("", line.text)[:1].islower() for line in lines if _LINE_NUMBER.match(line.text))
    is_draft = len(numbered) >= max(_FEWEST_NUMBERS, len(lines) / 2) and set(steps) == {1}
    if not is_draft or goes_on < _GO_ON * len(numbered):
        return list(pieces)
    texts = {id(piece): piece.text[found.end() :] for piece, found in numbered}
    return [replace(piece, text=texts.get(id(piece), piece.text)) for piece in pieces]


def turn_of(item: Any) -> int:
    """By how many degrees, clockwise, a text of the library is turned: 0, 90, 180 or 270."""
    return round((item.rotation or 0.0) / 90) % 4 * 90


def _along(words: Sequence[Any]) -> str:
    """Words up or down the page: the library sees gaps beside narrow letters that are none."""
    text = words[0].text
    for a, b in itertools.pairwise(words):
        gap = max(b.y - a.y - a.height, a.y - b.y - b.height)
        text += (" " if gap > _GAP * a.width else "") + b.text
    return str(text)


def _notes(items: Sequence[Any], height: float) -> set[str]:
    """The signs of the footnotes: what begins a line of smaller letters in the lower half of a page."""
    sizes: Counter[float] = Counter()
    for item in items:
        sizes[item.font_size] += len(item.text)
    usual = max(sizes, key=sizes.__getitem__, default=0.0)
    small = (_NOTE.match(item.text) for item in items if item.font_size < _SMALLER * usual and 2 * item.y > height)
    return {found[1] for found in small if found}


def _without_signs(item: Any, notes: set[str]) -> str:
    """Text without signs close behind a word that stand over the line, or in front of a footnote of the page."""
    text: str = item.text
    if not item.words or not _MAY_HAVE_SIGN.search(text):
        return text
    top = statistics.median(word.y for word in item.words)
    bottom = statistics.median(word.y + word.height for word in item.words)
    kept, at = "", 0
    for word in item.words:
        start = text.find(word.text, at)
        if start < 0:
            return text
        signed = _SIGNED.fullmatch(word.text)
        most = _OVER * word.height
        is_over = word.y < top - most and abs(word.y + word.height - bottom) < most
        is_signed = signed and (is_over or (len(signed[1]) >= _NOT_SHORT and signed[2].rstrip(")") in notes))
        kept += text[at:start] + (signed[1] if signed and is_signed else word.text)
        at = start + len(word.text)
    return kept + text[at:]


def lines_of(pieces: Iterable[Piece]) -> list[Line]:
    """Pieces that follow one another; those at one height are a line."""
    rows: list[list[Piece]] = []
    for piece in pieces:
        if not rows or abs(piece.middle[1] - rows[-1][0].middle[1]) > rows[-1][0].height / 2:
            rows.append([])
        rows[-1].append(piece)
    return list(map(Line.of, rows))


def downwards(pieces: Iterable[Piece]) -> list[Piece]:
    """Pieces from the top of the page to its end, those at one height from left to right."""
    return sorted(pieces, key=lambda piece: (piece.middle[1], piece.left))


def in_order(said: str, pieces: Iterable[Piece]) -> list[Piece]:
    """The pieces in the order in which a text says them; none where it says anything else."""
    whole, at = key_of(said), 0
    waiting = [(piece.key, piece) for piece in downwards(pieces)]
    ordered: list[Piece] = []
    while waiting:
        place = next((n for n, (key, _) in enumerate(waiting) if whole.startswith(key, at)), None)
        if place is None:
            return []
        key, piece = waiting.pop(place)
        ordered.append(piece)
        at += len(key)
    return ordered if at == len(whole) else []


def key_of(text: str) -> str:
    """What of a text is the same however its lines are divided."""
    return "".join(text.split()).translate(_UNSTEADY)


def plain(text: str) -> str:
    """Text without the marks of Markdown's emphasis, and without what keeps other signs from being such."""
    return _ESCAPED.sub(r"\1", text) if "\\" in text or "*" in text else text
