"""The Markdown that readers of richer formats write: one text form for headings, lists, tables and code."""

import re
from collections.abc import Iterable, Sequence

from selfright.domain.blocks import BlockKind, blocks
from selfright.domain.text import has_hangul

Block = tuple[BlockKind, str]
_MEANINGLESS = re.compile(
    r"\W*(?:untitled|anonymous|unspecified)|document\d*$|microsoft (?:word|powerpoint)|제목\s*없음"
    r"|(?:word document|powerpoint (?:presentation|프레젠테이션)|slide 1)$"
    r"|.*\.(?:docx?|pptx?|xlsx?|xlsm|hwpx?|odt|rtf|pdf|html?|md|txt|tex|dvi|indd|qx[dp])$",
    re.IGNORECASE,
)
_BEGINS = re.compile(r"[가-힣]{2}|\b[^\W\d_]{4}|\d{2,}")  # of words
_NAME_LENGTH = 60
_NO_NAME = re.compile(r"[:：\n]|[.,;!?。？！]$")
_RAISED = str.maketrans("0123456789+-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")


def heading(level: int, text: str) -> str:
    """A heading line of level 1 to 6; nothing for one that says nothing."""
    line = one_blank(text)
    return line and f"{'#' * min(max(level, 1), 6)} {line}"


def is_name(text: str) -> bool:
    """Whether a line in bold letters over others may be their heading: it is short, no sentence and no label."""
    return len(text) <= _NAME_LENGTH and not _NO_NAME.search(text) and any(map(str.isalpha, text))


def item(text: str, depth: int = 0) -> str:
    """A list item, ``depth`` levels under the outermost list."""
    return f"{'  ' * min(depth, 8)}- {one_blank(text)}"


def number_item(label: str, text: str, depth: int = 0) -> str:
    """A list item with the number it has; one that Markdown does not know stands behind a dash (``- 2.1 Scope``)."""
    line = one_blank(f"{label} {text}")
    is_known = label and next(blocks(line)).kind == "list"
    return f"{'  ' * min(depth, 8)}{line}" if is_known else item(line, depth)


def row(cells: Sequence[str]) -> str:
    """A table row without padding, which costs a model nothing; bars within cells are escaped."""
    return "|" + "|".join(map(_cell, cells)) + "|"


def table(rows: Iterable[Sequence[str]]) -> str:
    """Rows as a Markdown table, the first one being its header."""
    said = [cells for cells in rows if any(cell.strip() for cell in cells)]
    lines = list(map(row, said))
    if len(lines) > 1:
        lines.insert(1, "|---" * len(said[0]) + "|")
    return "\n".join(lines)


def _cell(text: str) -> str:
    shown = one_blank(text).replace("|", "\\|")
    return shown if shown and not shown.endswith("\\") else shown + " "


def one_blank(text: str) -> str:
    """Text on one line, with single blanks, and without the places where words may be divided."""
    return " ".join(text.replace("\xad", "").replace("\u200b", "").split())


def raised(text: str) -> str:
    """Text above the line, off the number that it stands behind: ``10⁶``; a note's sign (``1)``) behind a blank."""
    said = text.strip()
    if said and not said.strip("0123456789+-−"):
        return text.translate(_RAISED)
    return f" {text}" if said[:1].isdecimal() and not said.isalnum() else text


def clean_lines(text: str) -> str:
    """The lines that say anything, with single blanks."""
    return "\n".join(filter(None, map(one_blank, text.split("\n"))))


def join_blocks(blocks: Iterable[Block]) -> str:
    """The blocks as one text: list items one under the other, a blank line between everything else."""
    parts: list[str] = []
    before = ""
    for kind, text in blocks:
        if text:
            parts += ["\n" if kind == before == "list" else "\n\n", text]
            before = kind
    return "".join(parts[1:])


def title(own: str, text: str) -> str:
    """The title in a file's properties, else the first heading; the first of them that says anything.

    A title in the heading's script of which no word stands in the text is that of a file that this one was made from.
    """
    heading = next((line.lstrip("# ") for line in text.split("\n") if line.startswith("#")), "")
    folded = text.casefold()
    is_known = any(begin in folded for begin in _BEGINS.findall(own.casefold())) or has_hangul(own) != has_hangul(
        heading
    )
    names = (own, heading) if is_known else (heading, own)
    return next((name for name in names if any(map(str.isalpha, name)) and not _MEANINGLESS.match(name)), "")
