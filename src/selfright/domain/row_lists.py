"""Rows of a table, as an answer says them (``- name: cell; name: cell [1]``), are found again to be shown as one."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

_LINE = re.compile(r"- (?P<said>.+?)(?P<marks>(?: \[(?:\d{1,4}|Source: [^\]\n]{1,300})\])*)\s*")
_LEAST = 2  # rows and columns
_FENCE = "```"


@dataclass(frozen=True, slots=True)
class Row:
    """What one line says: names with their cells, and its citation markers, such as ``[1] [2]``."""

    cells: tuple[tuple[str, str], ...]
    marks: str

    @property
    def names(self) -> tuple[str, ...]:
        """Of the columns that it says."""
        return tuple(name for name, _ in self.cells)


@dataclass(frozen=True, slots=True)
class RowList:
    """Rows that follow one another: ``head`` names their columns, ``text`` is their lines as they are written."""

    head: tuple[str, ...]
    rows: tuple[Row, ...]
    text: str

    def cells(self, row: Row) -> list[str]:
        """The cells of a row, one for each column; empty where the row does not say it."""
        left = list(row.cells)
        return [left.pop(0)[1] if left and left[0][0] == name else "" for name in self.head]

    def joined(self, row: Row, line: str) -> "RowList | None":
        """With one row more; None where its columns are others."""
        head = row.names if len(row.names) > len(self.head) else self.head
        if _is_within(self.head, head) and _is_within(row.names, head):
            return RowList(head, (*self.rows, row), self.text + line)
        return None


def split_row_lists(answer: str) -> Iterator[str | RowList]:
    """The parts of an answer in their order, whose texts are the whole; in one with code nothing is looked for."""
    if _FENCE in answer:
        yield answer
        return
    for is_text, group in groupby(_parts(answer), lambda part: isinstance(part, str)):
        parts = list(group)
        yield from ["".join(map(str, parts))] if is_text else parts


def _parts(answer: str) -> Iterator[str | RowList]:
    found: RowList | None = None
    for line in answer.splitlines(keepends=True):
        row = _read(line)
        longer = found.joined(row, line) if found and row else None
        if found and not longer:
            yield _checked(found)
        found = longer or (RowList(row.names, (row,), line) if row else None)
        if row is None:
            yield line
    if found:
        yield _checked(found)


def _checked(found: RowList) -> str | RowList:
    return found if len(found.rows) >= _LEAST else found.text


def _read(line: str) -> Row | None:
    found = _LINE.fullmatch(line)
    parts = [(part, *part.partition(": ")) for part in found["said"].split("; ")] if found else []
    pairs = list[tuple[str, str]]()
    for part, name, _, cell in parts:
        if cell:
            pairs.append((name, cell))
        elif pairs:  # a semicolon within a cell
            pairs[-1] = pairs[-1][0], f"{pairs[-1][1]}; {part}"
        else:
            return None
    return Row(tuple(pairs), found["marks"].strip()) if found and len(pairs) >= _LEAST else None


def _is_within(names: Sequence[str], head: Sequence[str]) -> bool:
    """Whether the names stand in the head in the same order."""
    left = iter(head)
    return all(name in left for name in names)
