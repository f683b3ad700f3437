"""Markdown as it stands in the file, with its marks, but without what no reader of the page sees.

Left out are tags, attributes, comments and front matter.
"""

import html
import re
from collections.abc import Iterator

from selfright.domain.passages import Document
from selfright.domain.text import blocks
from selfright.ingest.files import SourceFile

_MARKS = re.compile(r"[*_`]+|\[([^\]]*)\]\([^)]*\)")
_TAGS = (
    "a abbr b big blockquote br caption center cite code col colgroup dd del details dfn div dl dt em figcaption "
    "figure font footer h1 h2 h3 h4 h5 h6 header hr i iframe img ins kbd li main mark nav ol p picture pre q s samp "
    "section small source span strike strong sub summary sup table tbody td tfoot th thead tr tt u ul var video"
)
_TAG = re.compile(rf"</?(?:{_TAGS.replace(' ', '|')})(?:\s[^<>]{{0,2000}})?/?>", re.IGNORECASE)
_NAME = re.compile(r"</?(\w+)")
_INLINE = frozenset(
    "a abbr b big cite code del dfn em font i ins kbd mark q s samp small span strike strong sub sup tt u var".split()  # noqa: SIM905
)
_SHOWN = re.compile(r"""\balt\s*=\s*(?:"([^"]*)"|'([^']*)')""", re.IGNORECASE)
_OPENING = re.compile(r"```|~~~|``|`|<!--")
_FENCES = ("```", "~~~")
_ATTRIBUTES = re.compile(r"[ \t]{0,9}\{:?[ \t]{0,9}[#.][^{}\n]{0,300}\}[ \t]{0,9}$", re.MULTILINE)
_ANCHOR = re.compile(
    r"""^(#{1,6}[^\n]{0,300}?)[ \t]{0,9}\[(?:¶|#|\u200b)?\]\(#[^)\n]{0,300}\)[ \t]{0,9}$""", re.MULTILINE
)
# Front matter: fields of YAML between two lines of dashes, at the very beginning.
_DASHES = re.compile(r"---\s*$")
_FIELD = re.compile(r"[\w.-]+:(?:\s|$)")
_INNER = re.compile(r"\s|[-#}\]]|$")  # what is below a field: nested, a list, a comment, the end of a bracket
_NAMED = re.compile(r"""^title:[ \t]*(["']?)(.+?)\1[ \t]*$""", re.MULTILINE)
_MOST_FRONT = 200  # lines


def read(file: SourceFile) -> Iterator[Document]:
    """One document; its title is its first ``# heading``, else the title in its front matter."""
    front, rest = parted(file.read_text())
    text = shown(rest)
    named = _NAMED.search(front)
    yield file.document(text, title_of(text) or (named.group(2) if named else ""), "text/markdown")


def parted(text: str) -> tuple[str, str]:
    """The front matter, empty when there is none, and the text after it."""
    lines = text[:50_000].split("\n", _MOST_FRONT)
    if not _DASHES.match(lines[0]) or len(lines) < 3 or not _FIELD.match(lines[1]):
        return "", text
    for number, line in enumerate(lines[1:_MOST_FRONT], start=1):
        if _DASHES.match(line):
            front = "\n".join(lines[: number + 1])
            return front, text[len(front) :].lstrip("\n")
        if not _FIELD.match(line) and not _INNER.match(line):
            break
    return "", text


def shown(text: str) -> str:
    """The text without HTML tags, comments, and the attributes and anchors of headings; code stays as it is."""
    pieces: list[str] = []
    last = at = 0
    last_comment = text.rfind("-->")
    while opening := _OPENING.search(text, at):
        mark, start = opening.group(), opening.start()
        closing = "-->" if mark == "<!--" else mark
        end = text.find(closing, opening.end()) if closing != "-->" or start < last_comment else -1
        if end < 0 and mark in _FENCES:
            end = len(text)
        if end < 0 or (mark == "`" and "\n" in text[start:end]):
            at = opening.end()
            continue
        at = min(end + len(closing), len(text))
        pieces += [_plain(text[last:start]), "" if closing == "-->" else text[start:at]]
        last = at
    return "".join([*pieces, _plain(text[last:])])


def title_of(text: str) -> str:
    """The first heading of the first level, without marks; empty when there is none."""
    headings = (text[block.start : block.end] for block in blocks(text) if block.kind == "heading")
    title = next((heading[1:] for heading in headings if heading[1].isspace()), "")
    return html.unescape(_MARKS.sub(r"\1", title)).strip().rstrip("#").strip()


def _plain(text: str) -> str:
    if "<" in text:
        text = _TAG.sub(_instead, text)
    return _ANCHOR.sub(r"\1", _ATTRIBUTES.sub("", text)) if "{" in text or "](#" in text else text


def _instead(tag: re.Match[str]) -> str:
    """What a reader sees in the place of a tag: of a picture what is said to be on it, of a block that it is one."""
    name = _NAME.match(tag.group())
    kind = name.group(1).lower() if name else ""
    if kind == "img":
        said = _SHOWN.search(tag.group())
        return (said.group(1) or said.group(2) or "") if said else ""
    text = tag.string
    begins = tag.start() == 0 or text[tag.start() - 1] == "\n"
    if begins and kind[:1] == "h" and kind[1:].isdigit() and not tag.group().startswith("</"):
        return "#" * int(kind[1:]) + " "
    within = not begins and text[tag.end() : tag.end() + 1] not in ("", "\n")
    return ("" if kind in _INLINE else "\n") if within else ""
