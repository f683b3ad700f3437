"""HTML and style of the page: everything that is not ours is text, nothing of it can become markup or be fetched.

What Streamlit shows by itself (labels, toasts, errors) it takes for Markdown; ``plain`` is for those. Here
is also what the page does in the browser beyond it: copying an answer, going to a question, naming rows' buttons, and
taking the keyboard into what opens.
"""

import html
import json
import re
from collections.abc import Callable, Iterable, Mapping

import streamlit as st

from selfright.ui.words import resource

_CODE = re.compile(r"```[^\n`]*\n(?P<block>.*?)(?:```|\Z)|`(?P<code>[^`\n]{1,300})`", re.DOTALL)
_STRONG = re.compile(r"\*\*(?=\S)([^*\n]{1,500}?)(?<=\S)\*\*")
_HEADING = re.compile(r"^#{1,6} +(.{1,300})$", re.MULTILINE)
_WEB = re.compile(r"https?://[^\s]+\Z", re.IGNORECASE)
_SIGNS = re.compile(r"[\\\\`*_{}\[\]()<>#+\-.!|~:$&]")
_LINKED = re.compile(r"https?(?=://)|www(?=\.)|@", re.IGNORECASE)
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")


def text(value: object) -> str:
    """What may stand in an element or an attribute: no markup, and no characters that hide or turn text around."""
    return html.escape(_UNSEEN.sub("", str(value)), quote=True)


def plain(said: object) -> str:
    """Text that Streamlit shows as it stands: no Markdown, icon or formula.

    Addresses become links even where every sign is escaped, so a joiner of no width goes into them.
    """
    return _SIGNS.sub(r"\\\g<0>", _LINKED.sub("\\g<0>\u2060", _UNSEEN.sub("", str(said))))


def tag(name: str, content: str = "", **attributes: str | bool | None) -> str:
    """An element around ``content``, which is markup already. An attribute is text; None and False leave it out.

    Names of attributes are written with ``_`` for ``-``, and ``cls`` for ``class``.
    """
    given = ""
    for key, value in attributes.items():
        if value not in (None, False):
            called = "class" if key == "cls" else key.replace("_", "-")
            given += f" {called}" if value is True else f' {called}="{text(value)}"'
    return f"<{name}{given}>{content}</{name}>"


def items(contents: Iterable[str], **attributes: str | None) -> str:
    """An unordered list of markup; nothing where there is no item."""
    inner = "".join(tag("li", each) for each in contents)
    return tag("ul", inner, **attributes) if inner else ""


def pairs(rows: Iterable[tuple[str, str]]) -> str:
    """Names with what they say, both markup; rows that say nothing are left out."""
    inner = "".join(tag("dt", name) + tag("dd", said) for name, said in rows if said)
    return tag("dl", inner) if inner else ""


def table(caption: str, head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table of markup; the first cell of each row is its heading. It scrolls by itself where it is too wide."""
    heads = "".join(tag("th", each, scope="col") for each in head)
    body = "".join(
        tag("tr", "".join(tag("td", cell) if place else tag("th", cell, scope="row") for place, cell in enumerate(row)))
        for row in rows
    )
    inner = tag("caption", caption) + tag("thead", tag("tr", heads)) + tag("tbody", body)
    return tag("div", tag("table", inner), cls="wide", tabindex="0", role="region", aria_label=caption)


def link_out(url: str | None, label: str) -> str:
    """A link to a page of the web; nothing for an address of any other kind."""
    if not url or not _WEB.match(url):
        return ""
    return tag("a", text(label), href=url, target="_blank", rel="noopener noreferrer nofollow")


def prose(said: str, marks: Callable[[str], str] = lambda escaped: escaped) -> str:
    """Text as it was written, with emphasis, headings and code of Markdown; no links, no images, no markup.

    ``marks`` may turn parts of the escaped text outside of code into markup.
    """
    parts, at = [], 0
    for found in _CODE.finditer(said):
        parts.append(_plain(said[at : found.start()], marks))
        block = found["block"]
        parts.append(tag("code", text(found["code"])) if block is None else tag("pre", tag("code", text(block))))
        at = found.end()
    return "".join([*parts, _plain(said[at:], marks)])


def _plain(said: str, marks: Callable[[str], str]) -> str:
    return _STRONG.sub(r"<strong>\1</strong>", _HEADING.sub(r"<strong>\1</strong>", marks(text(said))))


def figure_bars(caption: str, bars: Mapping[str, float | None], none: str) -> str:
    """Values from 0 to 1 as labelled columns; read aloud as the list of their values. ``none`` names a missing one."""
    told = ", ".join(f"{name}: {none if value is None else f'{value:.2f}'}" for name, value in bars.items())
    columns = "".join(_column(name, value, none) for name, value in bars.items())
    plot = tag("div", columns, cls="plot", role="img", aria_label=f"{caption} — {told}")
    return tag("figure", plot + tag("figcaption", text(caption)))


def _column(name: str, value: float | None, none: str) -> str:
    share = 0.0 if value is None else max(0.0, min(1.0, value))
    bar = tag("span", "", cls="bar", style=f"height:{80 * share:.1f}%")  # above it there is room for the value
    shown = tag("b", text(none) if value is None else f"{value:.2f}")
    return tag("span", tag("span", shown + bar, cls="track") + tag("i", text(name)), cls="column")


# A boat. Streamlit would fetch the picture of an emoji from elsewhere.
ICON = (
    "data:image/svg+xml,"
    "%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E"
    "%3Cpath d='M15 3v17H5zM17 7l8 13h-8z' fill='%232773d3'/%3E"
    "%3Cpath d='M3 22h26l-5 7H8z' fill='%23d98200'/%3E%3C/svg%3E"
)

STYLE = f"<style>\n{resource('page.css')}</style>"
WIDE = "<style>[data-testid=stMainBlockContainer] { max-width: 84rem; }</style>"
NARROW = "<style>[data-testid=stMainBlockContainer] { max-width: 56rem; }</style>"
"""How wide a page may be: the chat has sources beside its answers."""


def act() -> None:
    """Puts what is always needed into the page, once: Streamlit labels the buttons of all rows alike, for one."""
    st.html(f"<script>{resource('acts.js').strip()}</script>", unsafe_allow_javascript=True)


def go_to(name: str, time: int) -> None:
    """Scrolls to the element of that name; ``time`` is another number each time, so that it is done again.

    Streamlit keeps a chat at its end while an answer grows, so the page goes to the place for three seconds (sixty
    times) after it is there, until the reader moves it or another place is gone to.
    """
    going = resource("go_to.js").strip() % json.dumps(name)
    st.html(f"<script>{going}</script><!-- {time} -->", unsafe_allow_javascript=True)
