"""Passages that an answer was written from: what was kept is marked, what is cited framed and can be jumped to.

A passage is text of a document: it is shown as it is written, with headings, emphasis, code and Markdown tables set
off, and nothing of it can become markup, load or lead elsewhere.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from selfright.schemas import Citation, Evidence
from selfright.ui.markup import link_out, prose, tag, text
from selfright.ui.words import Words

MOST_CHARACTERS = 20_000
_TABLE = re.compile(
    r"^[ \t]*\|.*\|[ \t]*\n[ \t]*\|(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*$(?:\n[ \t]*\|.*\|[ \t]*$)*", re.MULTILINE
)
_BETWEEN_CELLS = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a passage: whether it was kept, and the numbers of the citations that it is a part of."""

    text: str
    kept: bool
    cited: tuple[int, ...]


def anchor(turn: str, n: int) -> str:
    """The place of a citation in the page."""
    return f"{turn}-source-{n}"


def passages(evidence: Sequence[Evidence], citations: Sequence[Citation]) -> list[tuple[Evidence, list[Citation]]]:
    """Each passage with the citations within it, cited ones first; a citation of none of them brings its own."""
    found: list[tuple[Evidence, list[Citation]]] = [(each, []) for each in evidence]
    for citation in citations:
        for each, cited in found:
            same = each.document_id == citation.document_id
            if same and each.start <= citation.start and citation.end <= each.end:
                cited.append(citation)
                break
        else:
            strip = {"start": citation.start, "end": citation.end, "score": 1.0}
            found.append((Evidence.model_validate({**citation.model_dump(), "strips": [strip]}), [citation]))
    return sorted(found, key=lambda pair: min((citation.n for citation in pair[1]), default=1_000_000))


def pieces(passage: Evidence, citations: Iterable[Citation]) -> list[Piece]:
    """The passage's text cut wherever a strip or a citation begins or ends."""
    end = min(passage.end, passage.start + len(passage.text))
    spans = [(strip.start, strip.end, 0) for strip in passage.strips]
    spans += [(citation.start, citation.end, citation.n) for citation in citations]
    spans = [(max(start, passage.start), min(stop, end), n) for start, stop, n in spans]
    cuts = sorted({passage.start, end, *(at for start, stop, _ in spans if start < stop for at in (start, stop))})
    return [
        Piece(
            passage.text[here - passage.start : there - passage.start],
            any(start <= here and there <= stop for start, stop, _ in spans),
            tuple(n for start, stop, n in spans if n and start <= here and there <= stop),
        )
        for here, there in pairwise(cuts)
    ]


def section(
    turn: str, evidence: Sequence[Evidence], citations: Sequence[Citation], words: Words, title: str = "evidence"
) -> str:
    """All passages of an answer, beside cited ones the uncited ones folded: a browser unfolds what is linked."""
    found = passages(evidence, citations)
    if not found:
        return ""
    count = words["evidence_one"] if len(found) == 1 else words["evidence_many"].format(count=len(found))
    legend = f"{words['kept']} {words['framed']}" if citations else words["kept"]
    head = tag("h2", f"{text(words[title])} · {text(count)}") + tag("p", text(legend), cls="quiet")
    shown = [(_passage(turn, each, cited, words), bool(cited)) for each, cited in found]
    uncited = "".join(markup for markup, cited in shown if not cited)
    rest = tag("details", tag("summary", text(words["uncited"])) + uncited) if uncited and citations else uncited
    return tag("section", head + "".join(markup for markup, cited in shown if cited) + rest, cls="evidence")


def _passage(turn: str, passage: Evidence, cited: list[Citation], words: Words) -> str:
    numbers = "".join(tag("span", f"[{citation.n}]", cls="number") for citation in cited)
    name = " › ".join(part for part in (passage.title or passage.document_id, passage.section) if part)
    summary = tag("summary", f"{numbers} {tag('bdi', text(name))}")
    document = tag("bdi", text(passage.document_id))
    place = f"{document} · {passage.start}–{passage.end} {link_out(passage.url, words['open'])}"
    if len(passage.text) > MOST_CHARACTERS:
        most = {"text": passage.text[:MOST_CHARACTERS] + "…", "end": passage.start + MOST_CHARACTERS + 1}
        passage = passage.model_copy(update=most)
    seen: set[int] = set()
    written = "".join(
        tag("div", tag("table", "".join(_row(turn, row, seen, words) for row in part)), cls="wide")
        if isinstance(part, list)
        else _piece(turn, part, seen, words)
        for part in _tables_apart(passage.text, pieces(passage, cited))
    )
    shown = tag("div", tag("div", written, cls="passage"), cls="window", tabindex="0", role="region", aria_label=name)
    return tag("details", summary + tag("p", place, cls="quiet") + shown, open=bool(cited))


def _tables_apart(said: str, found: Sequence[Piece]) -> Iterator[Piece | list[Piece]]:
    """The pieces in their order, those of a table as its rows, without the line below its head."""
    at = 0
    for table in _TABLE.finditer(said):
        yield from _within(found, at, table.start())
        at, rows = table.start(), []
        for line in table.group().split("\n"):
            parts = list(_within(found, at, at + len(line)))
            cited = tuple(dict.fromkeys(n for part in parts for n in part.cited))
            rows.append(Piece(line.strip()[1:-1], any(part.kept for part in parts), cited))
            at += len(line) + 1
        yield [rows[0], *rows[2:]]
    yield from _within(found, at, len(said))


def _within(found: Iterable[Piece], start: int, end: int) -> Iterator[Piece]:
    at = 0
    for piece in found:
        if said := piece.text[max(0, start - at) : max(0, end - at)]:
            yield replace(piece, text=said)
        at += len(piece.text)


def _row(turn: str, row: Piece, seen: set[int], words: Words) -> str:
    cells = (replace(row, text=cell.strip().replace("\\|", "|")) for cell in _BETWEEN_CELLS.split(row.text))
    return tag("tr", "".join(tag("td", _piece(turn, cell, seen, words)) for cell in cells))


def _piece(turn: str, piece: Piece, seen: set[int], words: Words) -> str:
    """The markup of a piece; the first one of a citation is where its link leads."""
    shown = prose(piece.text)
    if not piece.kept:
        return tag("span", shown, cls="left-out")
    if not piece.cited:
        return tag("mark", shown)
    new = [n for n in piece.cited if n not in seen]
    seen.update(new)
    back = "".join(
        tag("a", f"[{n}]", id=anchor(turn, n), href=f"#{turn}-answer", cls="back", title=words["back"]) for n in new
    )
    return tag("mark", back + shown, cls="cited")
