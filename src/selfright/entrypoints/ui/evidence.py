"""Passages that an answer was written from: what was kept is marked, what is cited framed and can be jumped to.

A passage is text of a document, and most readers write Markdown: headings, lists, tables, code. Nothing of it can run,
load or lead elsewhere: HTML in it stays text, links lose their address and pictures are told by their description.
Marks are put in by signs that stand between the characters while Markdown is read; where a sign would change what comes
out, the passage is shown as it is written.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from selfright.answer_form import Citation, Evidence, KeptStrip
from selfright.entrypoints.ui.markup import link_out, tag, text
from selfright.entrypoints.ui.words import Words

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_FIRST, _LAST = 0xE000, 0xF8FF  # characters that are nobody's
_SIGN = re.compile(f"[{chr(_FIRST)}-{chr(_LAST)}]")
_PARTS = re.compile(f"(<[^>]*>|[{chr(_FIRST)}-{chr(_LAST)}])")
# What begins a line of Markdown; a sign stands behind it, else it would no longer begin the line.
_BEGINS = re.compile(r"\s*(?:(?:#{1,6}|[-*+]|\d{1,3}[.)])[ \t]+|>[ \t]?|\|[ \t]*|(?:```|~~~)[^\n]*\n)*")

Mark = Callable[[int, str], str]
"""Markup for a run of text, which is markup already, in the part of that number."""


def marked(parts: Sequence[str], mark: Mark) -> str | None:
    """The ``parts`` of a passage rendered as one, each run of text put through ``mark``; None where that cannot be."""
    whole = "".join(parts)
    if not parts or len(parts) > _LAST - _FIRST or _SIGN.search(whole):
        return None
    found = _reader().render(_signed(whole, parts))
    if _SIGN.sub("", found) != _reader().render(whole):
        return None
    out, part = [], 0
    for piece in _PARTS.split(found):
        if _SIGN.fullmatch(piece):
            part = ord(piece) - _FIRST
        elif piece.startswith("<") or not piece.strip():
            out.append(piece)
        else:
            out.append(mark(part, _shown(piece)))
    return "".join(out)


def _signed(whole: str, parts: Sequence[str]) -> str:
    """The text with a sign before each part, as far behind the marks of a line as it has to stand."""
    places: dict[int, int] = {}
    start = 0
    for number, part in enumerate(parts):
        places[_behind(whole, start)] = number  # of parts that begin at one place the last has the text
        start += len(part)
    out, at = [], 0
    for place, number in sorted(places.items()):
        out += [whole[at:place], chr(_FIRST + number)]
        at = place
    return "".join([*out, whole[at:]])


def _behind(whole: str, start: int) -> int:
    begins_line = not start or whole[start - 1] == "\n"
    found = _BEGINS.match(whole, start) if begins_line or whole[start : start + 1].isspace() else None
    return found.end() if found else start


def _shown(piece: str) -> str:
    """A run of rendered text, without characters that hide or turn text around."""
    import html

    return text(html.unescape(piece))


@cache
def _reader() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable(["table", "strikethrough"])
    # Texts of PDFs are indented for looks, and definitions of links would vanish from what is shown.
    reader.disable(["code", "reference", "autolink"])
    for name, rule in _RULES.items():
        reader.add_render_rule(name, rule)
    return reader


def _heading(_self: Any, tokens: "Sequence[Token]", at: int, _options: Any, _env: Any) -> str:
    level = min(6, 3 + int(tokens[at].tag[1:]))
    return f'<div class="heading" role="heading" aria-level="{level}">'


def _code(_self: Any, tokens: "Sequence[Token]", at: int, _options: Any, _env: Any) -> str:
    return tag("pre", tag("code", _escaped(tokens[at].content)))


def _picture(_self: Any, tokens: "Sequence[Token]", at: int, _options: Any, _env: Any) -> str:
    return tag("span", _escaped(tokens[at].content), cls="picture")


def _escaped(said: str) -> str:
    from markdown_it.common.utils import escapeHtml

    return str(escapeHtml(said))


def _always(markup: str) -> Callable[..., str]:
    return lambda *_: markup


_RULES: dict[str, Callable[..., str]] = {
    "heading_open": _heading,
    "heading_close": _always("</div>"),
    "link_open": _always('<span class="link">'),
    "link_close": _always("</span>"),
    "image": _picture,
    "fence": _code,
}

MOST_CHARACTERS = 20_000


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
        home = next((cited for each, cited in found if _holds(each, citation)), None)
        if home is None:
            found.append((_alone(citation), home := []))
        home.append(citation)
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
    """All passages of an answer, the uncited ones folded: a browser unfolds what a link leads into."""
    found = passages(evidence, citations)
    if not found:
        return ""
    count = words["evidence_one"] if len(found) == 1 else words["evidence_many"].format(count=len(found))
    head = tag("h2", f"{text(words[title])} · {text(count)}") + tag("p", text(words["kept"]), cls="quiet")
    shown = [(_passage(turn, each, cited, words), bool(cited)) for each, cited in found]
    uncited = "".join(markup for markup, cited in shown if not cited)
    rest = tag("details", tag("summary", text(words["uncited"])) + uncited) if uncited else ""
    return tag("section", head + "".join(markup for markup, cited in shown if cited) + rest, cls="evidence")


def _passage(turn: str, passage: Evidence, cited: list[Citation], words: Words) -> str:
    numbers = "".join(tag("span", f"[{citation.n}]", cls="number") for citation in cited)
    name = " › ".join(part for part in (passage.title or passage.document_id, passage.section) if part)
    summary = tag("summary", f"{numbers} {text(name)}")
    place = f"{text(passage.document_id)} · {passage.start}–{passage.end} {link_out(passage.url, words['open'])}"
    seen: set[int] = set()
    cut = pieces(_short(passage), cited)
    body = marked([piece.text for piece in cut], lambda n, said: _piece(turn, cut[n], said, seen, words))
    if body is None:  # as it is written
        seen.clear()
        written = "".join(_piece(turn, piece, text(piece.text), seen, words) for piece in cut)
        shown = tag("div", written, cls="passage")
    else:
        shown = tag("div", body, cls="passage rendered")
    inner = summary + tag("p", place, cls="quiet") + tag("div", shown, cls="window", tabindex="0", role="region",
                                                         aria_label=name)  # fmt: skip
    return tag("details", inner, open=bool(cited))


def _piece(turn: str, piece: Piece, shown: str, seen: set[int], words: Words) -> str:
    """A run of text of a piece; the first one of a citation is where its link leads."""
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


def _short(passage: Evidence) -> Evidence:
    """The passage as far as a page can show it."""
    if len(passage.text) <= MOST_CHARACTERS:
        return passage
    return passage.model_copy(
        update={"text": passage.text[:MOST_CHARACTERS] + "…", "end": passage.start + MOST_CHARACTERS + 1}
    )


def _holds(passage: Evidence, citation: Citation) -> bool:
    same = passage.document_id == citation.document_id
    return same and passage.start <= citation.start and citation.end <= passage.end


def _alone(citation: Citation) -> Evidence:
    return Evidence(
        passage_id=citation.passage_id,
        document_id=citation.document_id,
        title=citation.title,
        section=citation.section,
        start=citation.start,
        end=citation.end,
        text=citation.text,
        url=citation.url,
        strips=[KeptStrip(start=citation.start, end=citation.end, score=1.0)],
    )
