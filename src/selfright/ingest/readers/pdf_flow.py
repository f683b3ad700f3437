"""The parts of PDF pages as one text: headers and footers once, tables and paragraphs that run over pages whole."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf
from operator import attrgetter

from selfright.ingest.readers import markup
from selfright.ingest.readers.pdf_grid import Column
from selfright.ingest.readers.pdf_lines import Line
from selfright.ingest.readers.pdf_page import Part
from selfright.ingest.readers.pdf_words import join_lines
from selfright.ingest.readers.tables import Cell, tables

_EDGE = 0.1  # of a page's height, where headers and footers stand
_MANY, _SURE_PAGES = 0.4, 4  # of the pages, and how many
_BESIDE_NUMBER = 8  # letters: "Page 3 of 9"
_NEAR, _INDENT = 12.0, 2.0  # points
_FULL = 0.9  # of the width
_HEADER_ROWS = 4
_NUMBER = re.compile(r"\d{1,5}")
_ROMAN = re.compile(r"\W*[ivxlc]{1,7}\W*")
_ENDS = re.compile(r"[.!?:;。！？…][\"'”’)\]」』]*$")
_SENTENCE = re.compile(r"[.,;:]$")
_LARGER, _MUCH_LARGER, _LARGEST, _APART = 1.15, 1.3, 1.7, 1.4  # than most letters; from heading to heading, in sizes


@dataclass(slots=True)
class Page:
    """A page's parts in reading order; ``label`` is its number as the file has it, ``height`` is in points."""

    number: int
    height: float
    parts: list[Part]
    label: str = ""


def text_of(pages: Sequence[Page]) -> str:
    """The text of all pages as Markdown. Takes the pages apart."""
    for page in pages:
        for part in page.parts:
            part.page = part.end = page.number
    running = list(_running(pages))
    found = [part for page in pages for part in page.parts]
    letters = Counter[tuple[float, str]]()
    is_prose = (not part.rows and (part.kind != "heading" or _SENTENCE.search(part.text)) for part in found)
    prose = [part for part, fits in zip(found, is_prose, strict=True) if fits and part.lines]
    for piece in (piece for part in prose or found for line in part.lines for piece in line.pieces):
        letters[piece.size, piece.font] += len(piece.text)
    usual = max(letters, key=letters.__getitem__, default=(0.0, ""))
    flow: list[Part] = []
    for part in (own for each in found for own in _headings(each, *usual)):
        if not (flow and _continues(flow[-1], part)):
            flow.append(part)
    return markup.join_blocks(_blocks(sorted([*flow, *running], key=attrgetter("page", "place"))))


def _headings(part: Part, usual: float, font: str) -> Iterator[Part]:
    """The part; lines in larger letters than ``usual`` as headings, each of those that the library puts together.

    A sentence in letters of that size is no heading, nor is what is in letters as most are.
    """
    pieces = [piece for line in part.lines for piece in line.pieces]
    size = min((piece.size for piece in pieces), default=0.0)
    is_larger = size >= _LARGER * usual > 0
    is_usual = part.text.endswith((".", ",", ";")) or all(piece.font == font for piece in pieces)
    says = not size or any(map(str.isalpha, part.text))
    if part.kind == "heading" and (not says or (size and not is_larger and is_usual)):
        part.kind, part.prefix = "paragraph", ""
    is_apart = all(below.top - line.top > _APART * size for line, below in pairwise(part.lines))
    is_numbered = part.kind == "list" and part.prefix[:1].isdigit()
    may_be = part.kind == "heading" or (is_larger and (part.kind == "paragraph" or is_numbered))
    if not (may_be and part.lines and is_apart and all(map(_is_name, part.lines))):
        yield part
        return
    mark = (part.kind == "heading" and part.prefix) or "#" * (
        1 + (size < _LARGEST * usual) + (size < _MUCH_LARGER * usual)
    ) + " "
    for line in part.lines:
        yield replace(part, kind="heading", prefix=mark, text=line.text, top=line.top, bottom=line.bottom, lines=[line])


def _is_name(line: Line) -> bool:
    return len(line.pieces) == 1 and not _SENTENCE.search(line.text) and sum(map(str.isalpha, line.text)) > 1


def _blocks(parts: Sequence[Part]) -> Iterator[markup.Block]:
    texts = [text for part in parts for text in ([cell.text for row in part.rows for cell in row] or [part.text])]
    whole = iter(join_lines(texts))
    for part in parts:
        if part.rows:
            yield from tables([[replace(cell, text=next(whole)) for cell in row] for row in part.rows])
            continue
        text = markup.one_blank(next(whole))
        if part.kind == "code":
            yield "code", f"```\n{part.text}\n```"
        else:
            yield part.kind, text and part.prefix + text


def _running(pages: Sequence[Page]) -> Iterator[Part]:
    """Takes headers and footers off: what stands at one height near the edge of many pages. Each comes back once."""
    heights: dict[tuple[bool, int], list[tuple[Page, Part]]] = {}
    for page in pages:
        for part in page.parts:
            is_footer = part.top > (1 - _EDGE) * page.height
            if part.kind != "code" and (is_footer or part.bottom < _EDGE * page.height):
                heights.setdefault((is_footer, round(part.top / 3)), []).append((page, part))
    for (is_footer, _), found in heights.items():
        if len({page.number for page, _ in found}) >= max(2, _MANY * len(pages)):
            yield from _once(found, 2 if is_footer else 0)


def _once(found: Sequence[tuple[Page, Part]], place: int) -> Iterator[Part]:
    alike: dict[str, list[tuple[Page, str]]] = {}
    for page, part in found:
        for text in _pieces(part):
            alike.setdefault(_mask(text), []).append((page, text))
    kept = {""}
    for page, part in found:
        if all(len(alike[_mask(text)]) == 1 and text != page.label for text in _pieces(part)):
            continue
        page.parts.remove(part)
        texts = (_without_number(text, page, alike[_mask(text)]) for text in _pieces(part))
        text = " ".join(filter(None, texts))
        if text not in kept:
            kept.add(text)
            part.place = place
            part.text = part.text and text.removeprefix(part.prefix)
            yield part


def _mask(text: str) -> str:
    return "#" if _ROMAN.fullmatch(text) else _NUMBER.sub("#", "".join(text.split()))


def _pieces(part: Part) -> list[str]:
    return [piece.text for line in part.lines for piece in line.pieces] or [part.said]


def _without_number(text: str, page: Page, alike: Sequence[tuple[Page, str]]) -> str:
    """A running text without a number that grows with the pages; empty where there are few letters beside it."""
    if text == page.label or _ROMAN.fullmatch(text):
        return ""
    offsets = Counter(n for on, said in alike for n in {int(n) - on.number for n in _NUMBER.findall(said)})
    offset, count = offsets.most_common(1)[0] if offsets else (0, 0)
    if count < max(_MANY * len(alike), 2 if offset == 0 else _SURE_PAGES):
        return text
    rest, count = re.subn(rf"(?<!\d)0*{page.number + offset}(?!\d)", "", text, count=1)
    if not count:
        return text
    return "" if sum(map(str.isalpha, rest)) <= _BESIDE_NUMBER else rest.strip(" \n-–—|·•")


def _continues(before: Part, part: Part) -> bool:
    """Whether a part goes on with the one before it; then that one takes it in."""
    is_over = before.end != part.page or part.top < before.bottom - _NEAR  # a page's or column's end
    if not is_over and part.top > before.bottom + _NEAR:
        return False
    if before.rows:
        # Where rules part the columns, each ends where the next one begins.
        are_ruled = all(left[1] == right[0] for left, right in pairwise(before.columns))
        is_new = part.rows and not (is_over or are_ruled)
        rows = [] if is_new else _rows(part, before.columns)
        if not rows:
            return not is_over and _takes_rest(before, part)
        same = 0
        while same < min(len(rows), len(before.rows), _HEADER_ROWS) and rows[same] == before.rows[same]:
            same += 1
        before.rows += rows[same:]
    elif _is_open(before, part, is_over):
        before.text += f"\n{part.text}"
        before.lines = part.lines
        if before.kind == "heading":  # the first words of a paragraph, in bold
            before.kind, before.prefix = "paragraph", ""
    else:
        return False
    before.end, before.bottom, before.top = part.page, part.bottom, part.top
    return True


def _takes_rest(table: Part, part: Part) -> bool:
    """Whether a part is the rest of a cell in the last row of a table, not of the first one; then that takes it in."""
    cells, line = table.rows[-1], part.lines[0] if part.lines else None
    if line is None or part.kind != "paragraph" or len(cells) != len(table.columns):
        return False
    is_near = part.top - table.bottom < line.bottom - line.top
    edges = [*(left for left, _ in table.columns), inf]
    own = next((n for n, left in enumerate(edges) if n and abs(line.left - left) < _INDENT), 0)
    is_in = all(len(of.pieces) == 1 and abs(of.left - line.left) < _INDENT for of in part.lines)
    if not (own and is_near and is_in and cells[own].text and max(of.right for of in part.lines) < edges[own + 1]):
        return False
    cells[own] = replace(cells[own], text=f"{cells[own].text}\n{part.text}")
    table.bottom = part.bottom
    return True


def _is_open(before: Part, part: Part, is_over: bool) -> bool:
    """Whether a paragraph ends without an end and the next one begins without a beginning."""
    if before.kind in ("code", "table") or part.kind != "paragraph" or not (before.lines and part.lines):
        return False
    lines = before.lines if before.kind != "heading" else [*before.lines, *part.lines]
    left, right = before.lines[0].left, max(line.right for line in lines)
    if not is_over and before.kind != "heading" and len(before.lines) == 1:
        return False
    full = _FULL if before.kind != "heading" else _FULL / 2
    if _ENDS.search(before.text) or before.lines[-1].right < left + full * (right - left):
        return False
    if part.text[:1].islower():
        return True
    return (
        is_over and len(lines) > 1 and all("\uac00" <= sign <= "\ud7a3" for sign in (before.text[-1:], part.text[:1]))
    )


def _rows(part: Part, columns: Sequence[Column]) -> list[list[Cell]]:
    """The rows of a part if it stands in these columns, wherever on the page; else none."""
    if part.rows:
        shift = part.columns[0][0] - columns[0][0] if part.columns and columns else 0.0
        is_same = len(columns) == len(part.columns) and all(
            _is_near(own, column, shift) for own, column in zip(part.columns, columns, strict=True)
        )
        return part.rows if is_same else []
    if part.kind != "paragraph" or not part.lines or len(columns) < 2:
        return []
    shift = part.lines[0].left - columns[0][0]
    rows = [_row(line, columns, 0.0 if abs(shift) < _NEAR else shift) for line in part.lines]
    return rows if all(rows) and any(len(line.pieces) > 1 for line in part.lines) else []


def _is_near(own: Column, column: Column, shift: float) -> bool:
    return abs(own[0] - shift - column[0]) < _NEAR or abs(own[1] - shift - column[1]) < _NEAR


def _is_within(own: Column, column: Column, shift: float) -> bool:
    return column[0] <= own[0] - shift and own[1] - shift <= column[1]


def _row(line: Line, columns: Sequence[Column], shift: float) -> list[Cell]:
    """A line's pieces as the cells that they stand in; empty where one stands in none, or two in one."""
    texts = [""] * len(columns)
    for piece in line.pieces:
        own = piece.left, piece.right
        is_in = (_is_within(own, column, shift) or _is_near(own, column, shift) for column in columns)
        place = next((n for n, is_this in enumerate(is_in) if is_this), None)
        if place is None or texts[place]:
            return []
        texts[place] = piece.text
    is_alone = len(line.pieces) == 1 and texts[0]  # as any paragraph is
    return [] if is_alone else [Cell(text) for text in texts]
