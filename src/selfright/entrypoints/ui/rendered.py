"""Passages as rendered Markdown, with marks around parts of them. Nothing of a passage can run, load or lead elsewhere.

A passage is text of a document, and most readers write Markdown: headings, lists, tables, code. HTML in it stays text,
links lose their address and pictures are told by their description. Marks are put in by signs that stand between the
characters while Markdown is read; where a sign would change what comes out, the passage is shown as it is written.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from selfright.entrypoints.ui.markup import tag, text

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
