"""What a walk through a web page meets, as Markdown: headings, paragraphs, lists with their numbers, terms, code."""

import re
from dataclasses import dataclass

from lxml.html import HtmlElement

from selfright.domain.blocks import BlockKind
from selfright.ingest.readers import markup
from selfright.ingest.readers.word_numbers import roman

HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCKS = frozenset(
    "html body main article section header div p ul ol li dl dt dd pre table caption tbody thead tfoot tr td th "
    "blockquote figure figcaption address form fieldset legend details summary hr center "
    "h1 h2 h3 h4 h5 h6".split()
)
_LISTS = frozenset(("ul", "ol", "dl", "details"))
_LABELS = frozenset(("dt", "summary"))
_BLANKS = re.compile(r"\s+")
_WHOLE = re.compile(r"\s*([+-]?\d{1,9})")
_MOST_NUMBER = 999  # what begins with a larger one is no item of a list to those who read Markdown


def whole(text: str | None, otherwise: int) -> int:
    """The number that an attribute begins with."""
    found = _WHOLE.match(text or "")
    return int(found[1]) if found else otherwise


@dataclass(slots=True)
class _List:
    """A list that is open.

    ``kind``: ``-`` or how an ``ol`` counts (``1``, ``a``, ``I``), nothing for a ``dl`` and ``details``. ``is_deep``:
    what stands in it is indented. ``term`` is the last one of a ``dl``, ``has_asked`` that one was a question.
    """

    kind: str = ""
    is_deep: bool = False
    number: int = 0
    step: int = 1
    term: str = ""
    has_asked: bool = False

    @classmethod
    def of(cls, element: HtmlElement) -> "_List":
        if element.tag != "ol":
            return cls("-", is_deep=True) if element.tag == "ul" else cls()
        step = 1 if element.get("reversed") is None else -1
        first = whole(element.get("start"), 1 if step > 0 else len(element.findall("li")))
        return cls(element.get("type") or "1", is_deep=True, number=first - step, step=step)

    def mark(self, item: HtmlElement) -> str:
        """What stands in front of the next item."""
        if self.kind in ("", "-"):
            return "-"
        self.number = whole(item.get("value"), self.number + self.step)
        if self.kind == "1" and 0 <= self.number <= _MOST_NUMBER:
            return f"{self.number}."
        return f"- {_count(self.number, self.kind)}."


def _count(number: int, kind: str) -> str:
    """A number in letters (``a``, ``A``) or Roman ones (``i``, ``I``), where there is a way to write it so."""
    if kind not in tuple("aAiI") or not 0 < number < 4_000:
        return str(number)
    said = roman(number) if kind in "iI" else ""
    while number and kind in "aA":
        number, letter = divmod(number - 1, 26)
        said = chr(ord("a") + letter) + said
    return said.upper() if kind in "AI" else said


class Writer:
    """Collects what the walk meets into Markdown blocks.

    A term stands with its definition, a summary with its details: ``- SLA: 99.9 percent``. One that asks is a heading;
    what comes after its answer stands under the heading of the page again.
    """

    def __init__(self) -> None:
        self._blocks: list[markup.Block] = []
        self._pieces: list[str] = []
        self._lists = [_List()]
        self._code = self._heading = self._raised = 0
        self._mark = self._label = self._above = ""
        self._in_label = self._is_behind_answer = False

    def open(self, element: HtmlElement) -> None:
        """An element begins."""
        tag = str(element.tag)
        if tag in _BLOCKS:
            self._flush()
        if tag in _LISTS:
            self._lists.append(_List.of(element))
        elif tag == "li":
            self._mark = self._lists[-1].mark(element)
        elif tag == "dd":
            self._label = self._label or self._lists[-1].term
        elif tag == "br":
            self._pieces.append("\n")
        self._in_label |= tag in _LABELS
        self._code += tag == "pre"
        self._raised += tag == "sup"
        self._heading = HEADINGS.get(tag, self._heading)

    def add(self, text: str | None) -> None:
        """Text between the marks."""
        if text:
            text = text if self._code else _BLANKS.sub(" ", text)
            self._pieces.append(markup.raised(text) if self._raised else text)

    def close(self, element: HtmlElement) -> None:
        """An element ends."""
        tag = str(element.tag)
        if tag in _BLOCKS:
            self._flush()
        if tag in _LABELS:
            self._in_label = False
            entry, asks = self._lists[-1], _asks(self._label)
            entry.term, entry.is_deep = "" if asks else self._label, False
            entry.has_asked |= asks
        elif tag in _LISTS:
            self._say_label()
            self._is_behind_answer |= self._lists.pop().has_asked
        self._code = max(self._code - (tag == "pre"), 0)
        self._raised = max(self._raised - (tag == "sup"), 0)
        if tag in HEADINGS:
            self._heading = 0

    def block(self, kind: BlockKind, text: str) -> None:
        """A whole block."""
        self._flush()
        self._add(kind, text)

    def blocks(self) -> list[markup.Block]:
        """All that was written."""
        self._flush()
        self._say_label()
        return self._blocks

    def _flush(self) -> None:
        raw, self._pieces = "".join(self._pieces), []
        text = "\n".join(filter(None, map(markup.one_blank, raw.split("\n"))))
        if not text:
            return
        if self._in_label:
            self._label = f"{self._label}, {text}" if self._label else text
        elif self._code:
            self._add("code", "```\n" + raw.strip("\n") + "\n```")
        elif self._heading:
            self._add("heading", markup.heading(self._heading, text))
        else:
            self._add_prose(text)

    def _add(self, kind: BlockKind, text: str) -> None:
        if not text:
            return
        self._say_label()
        if kind == "heading":
            self._above = self._above if _asks(text) and self._above else text
        elif self._is_behind_answer and self._above:
            self._blocks.append(("heading", self._above))
        self._is_behind_answer = False
        self._blocks.append((kind, text))

    def _add_prose(self, text: str) -> None:
        if _asks(self._label):
            self._say_label()
        elif self._label:
            text = self._with_label(text)
        depth = sum(each.is_deep for each in self._lists)
        mark, self._mark = self._mark, ""
        if mark:
            self._add("list", f"{'  ' * min(max(depth - 1, 0), 8)}{mark} {markup.one_blank(text)}")
        elif depth:
            self._add("list", "  " * min(depth, 9) + markup.one_blank(text))
        else:
            self._add("paragraph", text)

    def _with_label(self, text: str) -> str:
        """The text behind its term; where it is a list's, the term is an item above that list."""
        label, self._label = f"{markup.one_blank(self._label).rstrip(' :')}:", ""
        is_list = self._lists[-1].kind != ""
        owner = self._lists[-2 if is_list else -1]
        owner.is_deep = owner is not self._lists[0]
        if not is_list:
            self._mark = self._mark or "-"
            return f"{label} {text}"
        self._add("list", markup.item(label, max(sum(each.is_deep for each in self._lists) - 2, 0)))
        return text

    def _say_label(self) -> None:
        """A term that asks, or that no text follows, as a block of its own."""
        label, self._label = markup.one_blank(self._label), ""
        if _asks(label):
            level = len(self._above) - len(self._above.lstrip("#")) + 1
            self._blocks.append(("heading", markup.heading(level, label)))
            self._is_behind_answer = False
        elif label:
            self._add("paragraph", label)


def _asks(label: str) -> bool:
    return label.rstrip().endswith(("?", "？"))
