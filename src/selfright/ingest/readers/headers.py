"""What the rows at the top of a table are: lines above it, names of columns in one row or two, or values already.

A row is the texts of its cells. Told by where cells are filled and by the shapes of values, never by words.
"""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import groupby, pairwise
from statistics import median_high

Row = Sequence[str]

_DIGITS, _LETTERS, _NUMBER = re.compile(r"\d"), re.compile(r"[^\W\d_]+"), re.compile(r"\d+")
_YEAR = re.compile(r"\D{0,3}(?:19|20)\d\d(?:[-/~–.]\d{1,4})?\D{0,2}")
_DATE = re.compile(r"\d{1,4}\.\s?\d{1,2}\.\s?\d{1,4}\.?")
_AMOUNT, _WORDS, _DIGITS_ON = re.compile(r"\d[,.]\d"), re.compile(r"a(?:a|[^\w@])*a"), re.compile(r"9[9,.]*")
_COLONS = (":", "：")
_LABEL_LENGTH, _NAME_LENGTH, _UNIT_LENGTH = 30, 60, 8
_FORM_ROWS = 3  # or one less, with a value in the first of them
_SEEN_ROWS = 100


def has_groups(rows: Sequence[Row]) -> bool:
    """Whether the first row names groups of the columns that the second one names, without merged cells.

    It has blanks where the second row goes on; or that has only units, behind a blank. That that one has names and no
    values yet is told by a name that comes again, or by the numbers below it.
    """
    if len(rows) < 3:
        return False
    groups, names, *body = rows[:_SEEN_ROWS]
    is_whole = all(name or group for group, name in zip(groups, names, strict=True))
    opened = [n for n, group in enumerate(groups) if group and names[n]]
    goes_on = any(not group for n, group in enumerate(groups) if opened and n > opened[0])
    are_units = not names[0] and all((*groups, *names[1:])) and max(map(len, names)) <= _UNIT_LENGTH
    said = [name for name in names if name]
    if not (is_whole and opened and (goes_on or are_units)) or opened == [0] or any(map(_DIGITS.search, said)):
        return False
    under = [n for n in range(opened[0], len(names)) if names[n]]
    is_again = goes_on and len(set(said)) < len(said)
    return is_again or all(_DIGITS.search(row[n]) for row in body for n in under if row[n])


def spread_groups(groups: Row, names: Row) -> list[str]:
    """The names of groups over all their columns."""
    spread: list[str] = []
    current = ""
    for group, name in zip(groups, names, strict=True):
        current = group or (current if name and spread else "")
        spread.append(current)
    return spread


def has_header(rows: Sequence[Row]) -> bool:
    """Whether the first row names columns; a value of the shape of all below it (``1201`` above ``1305``) does not.

    Numbers that go on along the row (``2024``, ``2025``) are names, and so is a year over other numbers.
    """
    first, *body = rows[:_SEEN_ROWS]
    numbers = [int(found[-1]) for cell in first if (found := _NUMBER.findall(cell[:_LABEL_LENGTH]))]
    steps = {after - before for before, after in pairwise(numbers)}
    if len(steps) == 1 and steps != {0} and len(numbers) > 2 - (steps == {1}):
        return True
    alike = 0
    for n, cell in enumerate(first):
        below = [row[n] for row in body if row[n]]
        is_year = _YEAR.fullmatch(cell) and not all(map(_YEAR.fullmatch, below))
        alike += bool(below and _DIGITS.search(cell) and not is_year and {_shape(cell)} == set(map(_shape, below)))
    return alike < (1 if len(body) > 1 else 2)


def _shape(text: str) -> str:
    """Letters and digits by kind; of a number alone it counts how long it is."""
    shape = _LETTERS.sub("a", text)
    return _NUMBER.sub("9", shape) if not text.isdecimal() else _DIGITS.sub("9", text)


def form_items(rows: Sequence[Row], reaches: Sequence[bool]) -> list[tuple[str, str]]:
    """Label and value, by turns, of a form; nothing of another table.

    In a form the first row has a value already, the values below one another are not of one kind, or most of them reach
    over the next label's place (``reaches``). No label has a digit or comes twice.
    """
    wide = zip(rows, reaches, strict=True)
    cells = [[text for text, _ in groupby(row)] if is_wide else list(row) for row, is_wide in wide]
    labels = [label for row in cells for label in row[::2]]
    is_even = all(len(row) % 2 == 0 for row in cells)
    has_colons = all(label.endswith(_COLONS) for label in labels)
    are_labels = all(0 < len(label) <= _LABEL_LENGTH and not _DIGITS.search(label) for label in labels)
    if not is_even or len(set(labels)) < len(labels) or not (has_colons or are_labels):
        return []
    values = [row[1::2] for row in cells]
    columns = list(zip(*(row for row in values if len(row) == len(values[0])), strict=True))
    if len(rows[0]) == 2:
        is_form = not any(reaches) and (has_colons or _are_values(columns[0]))
    elif 2 * sum(reaches) < len(rows) and not any(_has_value(column[0]) and _are_values(column) for column in columns):
        differ = (len(set(map(_shape, column))) == len(column) for column in columns)
        is_form = not any(reaches) and len(rows) >= _FORM_ROWS - any(map(_has_value, values[0])) and all(differ)
    else:
        is_form = True
    return [pair for row in cells for pair in zip(row[::2], row[1::2], strict=True)] if is_form else []


def _are_values(column: Sequence[str]) -> bool:
    """Whether what stands on top of a column is a value as those below it, and no name of them.

    It is, with a digit in it, unless it is a year or all below are of another kind; and so is a long text. Where it has
    no digit, less than half of four or more may be of one kind; of three, where it has several words.
    """
    first, *body = column
    kinds = Counter(_kind(value) for value in body if value)
    if len(first) > _NAME_LENGTH:
        return True
    if not _has_value(first):
        kinds[_kind(first)] += 1
        return 2 * max(kinds.values()) < kinds.total() > _FORM_ROWS - (" " in first)
    if len(kinds) != 1 or _kind(first) in kinds:
        return len(body) > 0
    return "9" not in kinds and (len(body) == 1 or ("a" in kinds and _AMOUNT.search(first) is not None))


def _has_value(text: str) -> bool:
    return _DIGITS.search(text) is not None and not _YEAR.fullmatch(text)


def _kind(text: str) -> str:
    """The shape of a value, however many digits and words it has."""
    return "" if _DATE.fullmatch(text) else _DIGITS_ON.sub("9", _WORDS.sub("a", _shape(text).replace(" ", "")))


def count_above(rows: Sequence[Row], lengths: Sequence[int]) -> int:
    """How many rows stand above the header: those that are far less filled than the table, and shorter.

    ``lengths`` are those that the rows had before they were filled up with blanks.
    """
    seen = rows[:_SEEN_ROWS]
    filled = [sum(map(bool, row)) for row in seen]
    usual, length = median_high(filled), median_high(lengths[:_SEEN_ROWS])
    for n, row in enumerate(seen):
        is_left = all(row[: filled[n]])
        is_short = is_left and (2 * filled[n] <= usual or (filled[n] < usual and lengths[n] < length))
        if usual < 2 or not is_short or has_groups(seen[n:]):
            return n
    return 0
