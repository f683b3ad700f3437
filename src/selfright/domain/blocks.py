"""The blocks of a text: its headings, paragraphs, lists, tables and code, and what introduces them.

All positions are character offsets into the text that was given, so spans can be cut from it as they are.
"""

import re
import string
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

BlockKind = Literal["heading", "paragraph", "list", "table", "code"]

_HEADING = re.compile(
    r"#{1,6}\s+\S|제\s?\d{1,4}\s?조(?:의\s?\d+)?\s?\([^)\n]{1,60}\)\s*$"
)  # the second: an article of Korean rules
_ITEM = re.compile(r"\s*(?:[-*+•·▪◦]|\(?\d{1,3}[.)]|[①-⑳]|[가-하][.)])\s+\S")
_LINE = re.compile(r"[^\S\n]*(\S[^\n]*)")
_ROW = re.compile(r"\s*\|.*\|\s*$")
_RULED = re.compile(r"\|?(?:[ \t]*:?-+:?[ \t]*\|)+(?:[ \t]*:?-+:?)?")  # the line below the head of a table
_FENCE = re.compile(r"\s*(?:```[^`\n]*$|~~~)")  # ```code``` within one line opens nothing
_LETTERS = frozenset(string.ascii_letters)  # a line that begins with one has no mark of these
_INDENTED = re.compile(r"(?:\s{2,}|\t)\S")

# A line that asks, behind a mark or in bold type, or as one sentence alone.
_MARKED_QUESTION = re.compile(
    r"(?:\*\*|__)?(?:Q|Question|질문)[ \t]?\d{0,3}[ \t]?[.:)：](?:\*\*|__)?[ \t]*\S[^\n]{0,200}"
    r"|(?:\*\*|__)[^\n]{1,200}[?？](?:\*\*|__)"
)
_PLAIN_QUESTION = re.compile(r"(?![#>|*+•·-]|\d+[.)]\s)[^\n]{1,150}[?？]")
_FENCES = ("```", "~~~")
_MAY_MARK = frozenset("Q질*_")
_QUESTION_MARKS = ("?", "？", "\nQ", "\n질문", "\n**Q", "\n**질문")

# A terminator, closing quotes or brackets after it, then white space. CJK terminators need no white space.
# The look-behind and the possessive repeats keep a long row of dots from being tried from each of them; that a set
# comes first lets the search skip all other characters.
SENTENCE_END = re.compile(
    r"[.!?…。！？](?:(?<=[.!?…])(?<![.!?…]{2})[.!?…]*+[\"'”’)\]»]*+(?=\s|$)|(?<=[。！？])[。！？]*+[\"'”’)\]»]*+)"
)
LEAD_IN = re.compile(r"(?:[:：]|다음과 같다\.?|다음과 같습니다\.?|as follows\.?)[*_\s]*$")
LABELLED = re.compile(r"[^\s:：.!?。][^:：.!?。\n]{0,30}[:：]\s+\S")  # "E07: no water", "Manager: Ada Brook"
_NUMBERED = re.compile(r"\d{1,3}[.)]\s+\S")
_CLOSES = re.compile(r"[.,;!?…。，；！？]\W*$")
WRAPPED_LINE = 60
_WORDS_OF_NAME = 3  # of a line that names what stands below it, at most
_LONGEST_HEAD = 2_000


class Block(NamedTuple):
    """A run of lines of one kind; ``end`` is past the last character that is not white space."""

    kind: BlockKind
    start: int
    end: int


def blocks(text: str, start: int = 0, end: int | None = None) -> Iterator[Block]:
    """Headings, paragraphs, lists, tables and fenced code of ``text[start:end]``, in order, without blank space.

    Reads Markdown marks and the plain-text habits that resemble them; a list item's indented lines belong to it. Short
    lines right below one that ends with a colon, or below a name ("Ingredients"), are a list, too, and so are lines
    with labels ("E07: no water"), alone or right below one without. A line with a number right above prose
    ("2. Holidays"), the name of an article ("제3조 (대출)"), and a question above its answer are headings.
    """
    end = len(text) if end is None else end
    found = _numbered_headings(
        text, (part for block in _marked_blocks(text, start, end) for part in _unmarked_list(text, block))
    )
    if not any(mark in text for mark in _QUESTION_MARKS) and not text.startswith(("Q", "질문")):
        yield from found
        return
    before: tuple[Block, bool] | None = None
    for part, asks in (part for block in found for part in _question_lines(text, block)):
        if before:
            is_answered = before[1] and part.kind != "heading" and not asks
            yield Block("heading", before[0].start, before[0].end) if is_answered else before[0]
        before = part, asks
    if before:
        yield before[0]


def leads_in(text: str, block: Block, following: Block | None) -> bool:
    """Whether the paragraph ``block`` introduces what follows it: it ends with a colon or the like, or is a short line
    right above a list."""
    said = text[block.start : block.end]
    if block.kind != "paragraph" or LEAD_IN.search(said):
        return block.kind == "paragraph"
    return (
        following is not None
        and following.kind == "list"
        and len(said) < WRAPPED_LINE
        and "\n" not in said
        and text.count("\n", block.end, following.start) == 1
        and not _CLOSES.search(said)
    )


def _unmarked_list(text: str, block: Block) -> Iterator[Block]:
    """Splits a paragraph that is a list: lines that all have labels become one, and if the first line introduces the
    others, it becomes a paragraph and they a list."""
    if block.kind == "paragraph" and (breaks := text.count("\n", block.start, block.end)):
        (start, end), *lines = line_spans(text, block.start, block.end)
        first = text[start:end].rstrip()
        if LABELLED.match(first) and not _MARKED_QUESTION.fullmatch(first) and _have_labels(text, lines):
            yield Block("list", block.start, block.end)
            return
        if breaks > 1 and len(first) < WRAPPED_LINE and _introduces(text, first, lines):
            yield Block("paragraph", start, start + len(first))
            yield Block("list", lines[0][0] + _indent(text, *lines[0]), block.end)
            return
    yield block


def _have_labels(text: str, lines: Iterable[tuple[int, int]]) -> bool:
    return all(LABELLED.match(text, start + _indent(text, start, end), end) for start, end in lines)


def _introduces(text: str, first: str, lines: Sequence[tuple[int, int]]) -> bool:
    if first.endswith((":", "：")):
        return all(end - start < WRAPPED_LINE for start, end in lines)
    if _CLOSES.search(first) or LABELLED.match(first):
        return False
    if _have_labels(text, lines):
        return True
    names = len(first.split()) <= _WORDS_OF_NAME and not any(map(str.isdigit, first))
    return names and all(end - start < WRAPPED_LINE and not _CLOSES.search(text[start:end]) for start, end in lines)


def _numbered_headings(text: str, found: Iterable[Block]) -> Iterator[Block]:
    """Makes a heading of a short numbered line between a blank line and prose."""
    above, current = -1, None  # where the block before the current one ends
    for block in found:
        if current:
            is_heading = _is_numbered_heading(text, above, current, block)
            yield Block("heading", current.start, current.end) if is_heading else current
            above = current.end
        current = block
    if current:
        yield current


def _is_numbered_heading(text: str, above: int, block: Block, following: Block) -> bool:
    if block.kind != "list" or following.kind not in ("paragraph", "list") or block.end - block.start >= WRAPPED_LINE:
        return False
    line = text[block.start : block.end]
    return (
        "\n" not in line
        and _NUMBERED.match(line) is not None
        and not _CLOSES.search(line)
        and text.count("\n", block.end, following.start) == 1
        and (above < 0 or text.count("\n", above, block.start) > 1)
    )


def _indent(text: str, start: int, end: int) -> int:
    return end - start - len(text[start:end].lstrip())


def list_entries(text: str, block: Block) -> Iterator[tuple[int, int]]:
    """Start and end of each item of a list, nested ones too; a line without a mark belongs to the marked one above."""
    current: tuple[int, int] | None = None
    marked = _ITEM.match(text, block.start, block.end) is not None
    for line in _LINE.finditer(text, block.start, block.end):
        start, end = line.span(1)
        if current and marked and not _ITEM.match(text, start, end):
            current = (current[0], end)
            continue
        if current:
            yield current
        current = (start, end)
    if current:
        yield current


def _question_lines(text: str, block: Block) -> Iterator[tuple[Block, bool]]:
    """The block, and whether it asks; of a paragraph each line that asks apart from what stands around it."""
    may_ask = text[block.start] in _MAY_MARK or any(text.find(m, block.start, block.end) >= 0 for m in _QUESTION_MARKS)
    if block.kind != "paragraph" or not may_ask:
        yield block, False
        return
    begin = block.start
    for line_start, line_end in line_spans(text, block.start, block.end):
        line = text[line_start:line_end].rstrip()
        is_marked = line[:1] in _MAY_MARK and _MARKED_QUESTION.fullmatch(line) is not None
        asks = is_marked or (line_start == begin and _is_question(line))
        if asks:
            if above := text[begin:line_start].rstrip():
                yield Block("paragraph", begin, begin + len(above)), False
            yield Block("paragraph", line_start, line_start + len(line)), True
            begin = min(line_end + 1, block.end)
    if begin < block.end:
        yield Block("paragraph", begin, block.end), False


def _is_question(line: str) -> bool:
    return (
        line[-1:] in ("?", "？") and _PLAIN_QUESTION.fullmatch(line) is not None and not SENTENCE_END.search(line[:-1])
    )


def _marked_blocks(text: str, start: int, end: int) -> Iterator[Block]:
    opened: BlockKind | None = None  # the kind of the block that is open, from ``begin`` to ``last``
    begin = last = start
    fenced = False
    for line_start, line_end in line_spans(text, start, end):
        line = text[line_start:line_end]
        bare = line.strip()
        if not bare:
            if opened and not fenced:
                yield Block(opened, begin, last)
                opened = None
            continue  # inside a fence the code goes on behind a blank line, and does not end in one
        if opened == "paragraph" and _RULED.fullmatch(bare):
            head = max(begin, text.rfind("\n", begin, last) + 1)
            if "|" in text[head:last]:
                if above := text[begin:head].rstrip():
                    yield Block("paragraph", begin, begin + len(above))
                opened, begin = "table", head
        fence = bare.startswith(_FENCES) and _FENCE.match(line) is not None
        kind: BlockKind = "code" if fence or fenced else "paragraph"
        if kind != "code" and (bare[0] not in _LETTERS or opened in ("table", "list")):
            kind = _kind(line, opened)
        if opened and (kind != opened or kind == "heading" or (fence and not fenced)):
            yield Block(opened, begin, last)
            opened = None
        if not opened:
            opened, begin = kind, line_end - len(line.lstrip())
        last = line_start + len(line.rstrip())
        fenced ^= fence
        if fence and not fenced:
            yield Block(opened, begin, last)
            opened = None
    if opened:
        yield Block(opened, begin, last)


def head_of(table: str) -> str:
    """The header row of a Markdown table, without its outer bars; empty where no line of dashes is below it."""
    header, _, below = table.partition("\n")
    is_ruled = _RULED.fullmatch(below.partition("\n")[0].strip())
    return header.strip().strip("|").strip()[:_LONGEST_HEAD] if is_ruled else ""


def line_spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The lines of ``text[start:end]`` as (start, end), blank ones too, without their line breaks."""
    while start < end:
        cut = text.find("\n", start, end)
        stop = end if cut < 0 else cut
        yield start, stop
        start = stop + 1


def _kind(line: str, before: BlockKind | None) -> BlockKind:
    if _HEADING.match(line):
        return "heading"
    if _ROW.match(line) or (before == "table" and "|" in line):
        return "table"
    if _ITEM.match(line) or (before == "list" and _INDENTED.match(line)):
        return "list"
    return "paragraph"
