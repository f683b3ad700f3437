"""What a language model wrote, read as sentences: each with the passages it names, nothing of the prompt left in it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from selfright.domain.blocks import Block, blocks, list_entries
from selfright.domain.chat import CODE
from selfright.domain.text import sentence_spans
from selfright.roles.markers import INLINE_CODE, Mark, without_marks

MOST_CHARACTERS = 8_000
_MOST_READ = 16_000

MARKS = ("passages?", "excerpts?", "profile", "facts", "concerns", "summary", "conversation", "question", "answer")
"""Names in the marks around data, as expressions."""

# The prompt's marks end in a code of hex digits. A model that repeats what stands between them says nothing.
_OPENING = re.compile(rf"<(?P<name>(?:{'|'.join(MARKS)})-[0-9a-f]{{6,64}})\b[^<>\n]{{0,600}}>")
_FENCE = re.compile(
    rf"</?[a-z_]{{2,24}}-[0-9a-f]{{6,64}}\b[^<>\n]{{0,600}}>|^passage-[0-9a-f]{{{CODE}}} \[\d+\][^\n]*$", re.MULTILINE
)
_LABEL = re.compile(r"\s*(?:\*\*)?(?:answer|response|답변|답|응답)(?:\*\*)?\s?[:：](?:\*\*)?\s+", re.IGNORECASE)
_SOURCES = re.compile(
    r"[\s#*_]{0,8}(?:sources?|references?|citations?|출처|참고 ?(?:문헌|자료)|인용(?: ?문헌)?|근거(?: ?문[단서])?)"
    r"[\s*_]{0,4}[:：]?[\s*_]{0,4}(?P<rest>.*)",
    re.IGNORECASE,
)
_LISTED_SOURCE = re.compile(r"\s*(?:[-*•]\s+)?[\[【(]\^?(?:\w{1,10}\s?)?\d{1,4}[\]】)]\s?[:：]?.*")

_BULLET = re.compile(r"[*+•·▪◦](?=\s)")
_COMPLETE = re.compile(r"(?:[.!?…。！？][\"'”’)\]»*_]*|```|~~~)\Z")
_EMPTY_BRACKETS = re.compile(r"\s?[(\[【]\s*[)\]】]")
# What taking marks out has put together ("[[1]2]") must not look like one.
_LEFT_OVER = re.compile(rf"{INLINE_CODE.pattern}|\[\s?(?P<number>\d{{1,4}})\s?\]")


@dataclass(frozen=True, slots=True)
class ParsedSentence:
    """One sentence, list entry, table or piece of code as the model wrote it.

    ``numbers`` are the passages it names, from 1; ``gap`` is the white space before it; ``block`` says that a marker
    behind it needs a line of its own.
    """

    text: str
    numbers: tuple[int, ...] = ()
    gap: str = " "
    block: bool = False


def parse_answer(text: str, *, cut_off: bool = False) -> list[ParsedSentence]:
    """The sentences of ``text``, at most 8,000 characters of it, without prompt echo, labels and lists of sources.

    ``cut_off``: the model ran into its limit, so an unfinished end is left out.
    """
    cleaned = _without_sources(_without_echo(text[:_MOST_READ])).strip()
    cut_off = cut_off or len(text) > _MOST_READ or len(cleaned) > MOST_CHARACTERS
    plain, marks = without_marks(cleaned[:MOST_CHARACTERS])
    units = [unit for unit in _units(plain) if any(c.isalnum() for c in plain[unit.start : unit.end])]
    if cut_off and units and not _COMPLETE.search(plain[units[-1].start : units[-1].end]):
        del units[-1]
    numbers = _assign(units, marks)
    ends = [0, *(unit.end for unit in units)]
    return [
        ParsedSentence(_tidy(plain, unit), named, _gap(plain[end : unit.start], unit), unit.kind in ("code", "table"))
        for unit, named, end in zip(units, numbers, ends, strict=False)
    ]


def _without_echo(text: str) -> str:
    text = text.replace("\r\n", "\n")
    kept, last = "", 0
    for opening in _OPENING.finditer(text):
        closing = f"</{opening['name']}>"
        end = text.find(closing, opening.end()) if opening.start() >= last else -1
        if end >= 0:
            kept += text[last : opening.start()]
            last = end + len(closing)
    text = _FENCE.sub("", kept + text[last:])
    return text[_label_end(text) :]


def _label_end(text: str) -> int:
    label = _LABEL.match(text)
    return label.end() if label else 0


def _without_sources(text: str) -> str:
    """Without a list of sources at the end: the answer's citations say it, as far as the passages support them."""
    lines = text.rstrip().split("\n")
    kept = len(lines)
    while kept and (not lines[kept - 1].strip() or _LISTED_SOURCE.fullmatch(lines[kept - 1])):
        kept -= 1
    head = _SOURCES.fullmatch(lines[kept - 1]) if kept else None
    if head and not any(c.isalnum() for c in without_marks(f" {head['rest']}")[0]):
        return "\n".join(lines[: kept - 1])
    return text


def _units(text: str) -> Iterator[Block]:
    """What can be said alone, in order; a heading goes with what it stands over."""
    heading: Block | None = None
    for block in blocks(text):
        if block.kind == "heading":
            heading = Block("heading", heading.start if heading else block.start, block.end)
            continue
        for start, end in _spans(text, block):
            yield Block(block.kind, heading.start if heading else start, end)
            heading = None


def _spans(text: str, block: Block) -> Iterator[tuple[int, int]]:
    if block.kind == "paragraph":
        return sentence_spans(text, block.start, block.end)
    return list_entries(text, block) if block.kind == "list" else iter([(block.start, block.end)])


def _assign(units: Sequence[Block], marks: Sequence[Mark]) -> list[tuple[int, ...]]:
    """The passages that each unit names: a mark speaks for what stands before it, unless it opens a line."""
    named: list[dict[int, None]] = [{} for _ in units]
    for mark in marks:
        if not units:
            break
        before = sum(unit.start < mark.at for unit in units) - 1
        after = next((i for i, unit in enumerate(units) if unit.end > mark.at), before)
        named[after if mark.leads else max(0, before)].update(dict.fromkeys(mark.numbers))
    return [tuple(numbers) for numbers in named]


def _tidy(text: str, unit: Block) -> str:
    said = text[unit.start : unit.end].strip()
    if unit.kind == "code":
        return said
    if unit.kind == "paragraph":
        said = _EMPTY_BRACKETS.sub("", said)
    said = _LEFT_OVER.sub(lambda match: f"({match['number']})" if match["number"] else match[0], said)
    return _BULLET.sub("-", said, count=1) if unit.kind == "list" and _BULLET.match(said) else said


def _gap(between: str, unit: Block) -> str:
    lines = between.count("\n")
    if lines > 1:
        return "\n\n"
    indent = between.rpartition("\n")[2] if unit.kind == "list" else ""
    return f"\n{indent}" if lines else " "
