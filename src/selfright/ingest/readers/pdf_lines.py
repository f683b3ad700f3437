"""The pieces of text on a PDF page, and the lines that they make. All places are points from the upper left corner."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

_ESCAPED = re.compile(r"\\([^\w\s])|\*+")
_UNSTEADY = re.compile(r"[\s\u00ad\u2010-\u2015-]+")
_SIGN = re.compile(r"\d{1,3}\)?|[*†‡]{1,3}")
_MAY_HAVE_SIGN = re.compile(r"[^\W\d_][.,;:!?”’\")\]]{0,3}(?:\d|[*†‡])")
_AFTER_LETTER = '.,;:!?”’")]'
_RAISED = 0.8  # of the height of the word before it


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of text on one line; ``words`` are the library's, ``turn`` is in degrees, clockwise: 0, 90, 180 or 270."""

    text: str
    left: float
    right: float
    top: float
    bottom: float
    turn: int = 0
    words: Sequence[Any] = ()

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

    def parted(self, is_parted: Callable[[float, float], bool]) -> Iterator["Piece"]:
        """The piece, cut between those words that something parts, which is told their middles."""
        run: list[Any] = []
        for word in self.words:
            if run and is_parted(run[-1].x + run[-1].width / 2, word.x + word.width / 2):
                yield self._of(run)
                run = []
            run.append(word)
        yield self._of(run) if len(run) < len(self.words) else self

    def _of(self, words: Sequence[Any]) -> "Piece":
        text = " ".join(word.text for word in words)
        return replace(self, text=text, left=words[0].x, right=words[-1].x + words[-1].width, words=words)


@dataclass(frozen=True, slots=True)
class Line:
    """Pieces beside one another, from left to right."""

    pieces: tuple[Piece, ...]

    @property
    def text(self) -> str:
        """What it says, without the signs of footnotes."""
        return " ".join(filter(None, map(without_signs, self.pieces)))

    @property
    def left(self) -> float:
        """Where it begins."""
        return self.pieces[0].left

    @property
    def right(self) -> float:
        """Where it ends."""
        return self.pieces[-1].right

    @property
    def top(self) -> float:
        """Its upper edge."""
        return min(piece.top for piece in self.pieces)

    @property
    def bottom(self) -> float:
        """Its lower edge."""
        return max(piece.bottom for piece in self.pieces)


def pieces_of(page: Any) -> list[Piece]:
    """All text on a page that is more than blanks."""
    return [
        Piece(
            item.text.strip(), item.x, item.x + item.width, item.y, item.y + item.height,
            round((item.rotation or 0.0) / 90) % 4 * 90, item.words,
        )
        for item in page.text_items
        if item.text.strip()
    ]  # fmt: skip


def lines_of(pieces: Iterable[Piece]) -> Iterator[Line]:
    """Pieces that follow one another; those at one height are a line."""
    row: list[Piece] = []
    for piece in pieces:
        if row and abs(piece.middle[1] - row[0].middle[1]) > row[0].height / 2:
            yield Line(tuple(sorted(row, key=lambda piece: piece.left)))
            row = []
        row.append(piece)
    if row:
        yield Line(tuple(sorted(row, key=lambda piece: piece.left)))


def downwards(pieces: Iterable[Piece]) -> list[Piece]:
    """Pieces from the top of the page to its end, those at one height from left to right."""
    return sorted(pieces, key=lambda piece: (piece.middle[1], piece.left))


def in_order(said: str, pieces: Iterable[Piece]) -> list[Piece]:
    """The pieces in the order in which a text says them; none where it says anything else."""
    whole, at = key_of(said), 0
    waiting = [(key_of(piece.text), piece) for piece in downwards(pieces)]
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
    return _UNSTEADY.sub("", text)


def plain(text: str) -> str:
    """Text without the marks of Markdown's emphasis, and without what keeps other signs from being such."""
    return _ESCAPED.sub(r"\1", text)


def without_signs(piece: Piece) -> str:
    """A piece's text without the signs of footnotes: small, raised, and close behind a word."""
    if piece.turn or not _MAY_HAVE_SIGN.search(piece.text):
        return piece.text
    kept, at = "", 0
    before: Any = None
    for word in piece.words:
        start = piece.text.find(word.text, at)
        if start < 0:
            return piece.text
        is_sign = before and start == at and _SIGN.fullmatch(word.text) and _is_raised(word, before)
        kept += piece.text[at:start] + ("" if is_sign else word.text)
        before, at = word, start + len(word.text)
    return kept + piece.text[at:]


def _is_raised(word: Any, before: Any) -> bool:
    is_small = word.height < _RAISED * before.height and word.y + word.height < before.y + before.height - 1
    return bool(is_small and before.text.rstrip(_AFTER_LETTER)[-1:].isalpha())
