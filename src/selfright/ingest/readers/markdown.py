"""Markdown as it stands in the file, with its marks, but without what no reader of the page sees.

Left out are tags, attributes, comments and front matter, and what static site generators (MkDocs, Docusaurus, Hugo)
put around it: the marks of boxes and tabs, includes, names of icons.
"""

import html
import re
from collections.abc import Iterator

from selfright.domain.blocks import blocks
from selfright.domain.markup import plain
from selfright.domain.passages import Document
from selfright.ingest.files import SourceFile
from selfright.ingest.readers import markup

_TAGS = (
    "a abbr b big blockquote br caption center cite code col colgroup dd del details dfn div dl dt em figcaption "
    "figure font footer h1 h2 h3 h4 h5 h6 header hr i iframe img ins kbd li main mark nav ol p picture pre q s samp "
    "section small source span strike strong sub summary sup table tbody td tfoot th thead tr tt u ul var video"
)
_TAG = re.compile(
    rf"<sup>([^<>]{{1,40}})</sup>|</?(?:{_TAGS.replace(' ', '|')})(?:\s[^<>]{{0,2000}})?/?>", re.IGNORECASE
)
_NAME = re.compile(r"</?(\w+)")
_HEADINGS = re.compile(r"h\d|summary")
_INLINE = frozenset(
    "a abbr b big cite code del dfn em font i ins kbd mark q s samp small span strike strong sub sup tt u var".split()
)
_SHOWN = re.compile(r"""\balt\s*=\s*(?:"([^"]*)"|'([^']*)')""", re.IGNORECASE)
_OPENING = re.compile(r"```|~~~|``|`|<!--|<table\b", re.IGNORECASE)
_CLOSING = {"<!--": "-->", "<table": "</table>"}
_FENCES = ("```", "~~~")
_ATTRIBUTE = r"(?:[#.][^\W\d_][\w:-]{0,200}|[A-Za-z][\w-]{0,60}=[^{}\s]{1,200})"
_BRACES = rf"\{{:?[ \t]{{0,9}}{_ATTRIBUTE}(?:[ \t]{{1,9}}{_ATTRIBUTE}){{0,20}}[ \t]{{0,9}}\}}"
# At the end of a line, or right behind what they are about, which a name within an address is not.
_ATTRIBUTES = re.compile(
    rf"[ \t]{{0,9}}(?=\{{:?[ \t]{{0,9}}[#.]){_BRACES}[ \t]{{0,9}}$|(\]\([^()\n]{{0,500}}\)){_BRACES}"
    rf"|(?<=[\w\])*:])(?=\{{:?[ \t]{{0,9}}[#.]){_BRACES}(?![\w/{{])",
    re.MULTILINE,
)
# Of icons only those that say yes or no are read.
_ICON = re.compile(
    r":(?<![\w:]:)((?:fontawesome|material|octicons|simple)-[a-z0-9-]{1,60}|\w{0,12}check_mark|x):(?![\w:`])[ \t]?"
)
_YES, _NO = re.compile(r"-check\b|check_mark"), re.compile(r"-(?:close|x|xmark)\b|^x$")
# Lines that open or close a box or a tab, of which only the title is shown, and lines that take another file in.
_KIND = r"[a-z][a-z-]{0,30}(?:[ \t]{1,9}(?:inline|end)){0,2}"
_BOX = re.compile(
    rf"""^[ \t]{{0,12}}(?:/{{3,8}}[ \t]{{0,9}}(?:[a-z-]{{1,30}}[ \t]{{0,9}})?(?:\|[ \t]{{0,9}}([^\n]{{0,200}}))?"""
    rf"""|(?:!!!|\?\?\?\+?)[ \t]{{1,9}}{_KIND}(?:[ \t]{{1,9}}"([^"\n]{{0,200}})")?[ \t]{{0,9}}"""
    rf"""|===[+!]?[ \t]{{1,9}}"([^"\n]{{0,200}})"[ \t]{{0,9}}"""
    rf"""|:{{3,8}}[ \t]{{0,9}}"""
    rf"""(?:[a-z-]{{1,30}}(?:\[([^\]\n]{{0,200}})\]|[ \t]{{1,9}}([^\n]{{1,200}}))?)?[ \t]{{0,9}})$""",
    re.MULTILINE,
)
_INCLUDE = re.compile(
    r"^[ \t]{0,12}(?:\{\*(?:(?!\*\})[^\n]){1,300}\*\}|\{!(?:(?!!\})[^\n]){1,300}!\}|\{%(?:(?!%\})[^\n]){1,300}%\}"
    r"|-{1,3}8<-{1,3}[^\n]{0,300})[ \t]{0,9}$",
    re.MULTILINE,
)
# What MDX adds: comments, and lines that take in or define something, or hold nothing but the tag of a component.
_MDX_COMMENT = re.compile(r"[ \t]{0,9}\{/\*(?:(?!\*/)[^{}]){0,500}\*/\}")
_MDX_LINE = re.compile(
    r"""^(?:import[ \t](?:[^\n]{1,300}[ \t]from[ \t])?["'][^\n"']{1,300}["'];?"""
    r"""|export[ \t]+(?:const|let|default|function)[ \t][^\n]{1,500}"""
    r"""|[ \t]{0,12}</?[A-Z][\w.]{0,60}(?:\s[^<>]{0,500})?>)[ \t]{0,9}$""",
    re.MULTILINE,
)
# How such lines begin: most texts have none, and to look for line breaks takes less than to try each place.
_SITE_LINE = re.compile(r"\n(?:import|export|[ \t]{0,12}(?:</?[A-Z]|///|!!!|\?\?\?|===|:::|\{[*!%]|-{1,3}8<))")
# A component within a line; of what it shows beside its content, the title.
_COMPONENT = re.compile(r"</?([A-Z][\w.]{0,60})(\s[^<>]{0,500})?>")
_CLOSED = re.compile(r"</([A-Z][\w.]{0,60})\s*>")
_LABEL = re.compile(r"""\b(?:label|title|summary)=(?:"([^"]+)"|'([^']+)')""")
# Headings with a line below them, and terms with a colon in front of their definitions.
_UNDERLINE = re.compile(r"(=+|-{3,})[ \t]*$")
_DEFINITION = re.compile(r":[ \t]{1,4}(\S.*)")
_MARKED = re.compile(r"[ \t]|[#>|*+-]|\d+[.)]|:[ \t]|```|~~~")
# The language of code, where attributes stand in its place: ```{ .python .annotate }
_LANGUAGE = re.compile(r"(`{3}|~{3})[ \t]{0,9}\{[ \t]{0,9}\.?([\w+#-]{0,30})[^}\n]{0,200}\}")
_ANCHOR = re.compile(
    r"""^(#{1,6}[^\n]{0,300}?)[ \t]{0,9}\[(?:¶|#|\u200b)?\]\(#[^)\n]{0,300}\)[ \t]{0,9}$""", re.MULTILINE
)
# Front matter: fields of YAML between two lines of dashes, of TOML between pluses, at the very beginning.
_FIELD = re.compile(r"[\w.-]+:(?:\s|$)")
_INNER = re.compile(r"\s|[-#}\]]|$")  # what is below a field: nested, a list, a comment, the end of a bracket
_NAMED = re.compile(r"""^title(?::|[ \t]*=)[ \t]*(["']?)(.+?)\1[ \t]*$""", re.MULTILINE)
_MOST_FRONT = 200  # lines
_LONGEST = 1_000  # characters of a title, marks and all


def read(file: SourceFile) -> Iterator[Document]:
    """One document; its title is its first ``# heading``, else the title in its front matter.

    Plain text comes exactly as it stands, called by the file's name.
    """
    if file.path.suffix.lower() == ".txt":
        yield file.document(file.read_text(), file.stem)
        return
    front, rest = split_front_matter(file.read_text().replace("\r\n", "\n").replace("\r", "\n"))
    text = visible_text(_one_form(rest))
    named = _NAMED.search(front)
    yield file.document(text, title_of(text) or (named.group(2) if named else ""), "text/markdown")


def split_front_matter(text: str) -> tuple[str, str]:
    """The front matter, empty when there is none, and the text after it."""
    lines = text[:50_000].split("\n", _MOST_FRONT)
    mark, is_yaml = lines[0].rstrip(), lines[0].startswith("-")
    begins = mark in ("---", "+++") and len(lines) > 2 and (_FIELD.match(lines[1]) if is_yaml else "=" in lines[1])
    for number, line in enumerate(lines[1:_MOST_FRONT] if begins else (), start=1):
        if line.rstrip() == mark:
            front = "\n".join(lines[: number + 1])
            return front, text[len(front) :].lstrip("\n")
        if is_yaml and not _FIELD.match(line) and not _INNER.match(line):
            break
    return "", text


def visible_text(text: str) -> str:
    """The text without HTML tags, comments, attributes, anchors, marks of boxes and includes; code stays as it is."""
    pieces: list[str] = []
    last = at = 0
    last_closings = {closing: text.rfind(closing) for closing in _CLOSING.values()}
    components = frozenset(_CLOSED.findall(text)) if "</" in text else frozenset[str]()
    while opening := _OPENING.search(text, at):
        mark, start = opening.group().lower(), opening.start()
        closing = _CLOSING.get(mark, mark)
        end = text.find(closing, opening.end()) if start < last_closings.get(closing, len(text)) else -1
        if end < 0 and mark in _FENCES:
            end = len(text)
        if end < 0 or (mark == "`" and "\n" in text[start:end]):
            at = opening.end()
            continue
        at = min(end + len(closing), len(text))
        shown = "" if mark == "<!--" else text[start:at]
        if mark in _FENCES:
            shown = _LANGUAGE.sub(r"\1\2", shown, count=1)
        elif mark == "<table":
            from selfright.ingest.readers.html import fragment_text

            shown = f"\n\n{fragment_text(shown)}\n\n"
        pieces += [_plain(text, last, start, components), shown]
        last = at
    return "".join([*pieces, _plain(text, last, len(text), components)])


def _one_form(text: str) -> str:
    """The text with ``#`` in front of headings that have a line below them, and terms with their definitions."""
    if not any(sign in text for sign in ("\n===", "\n---", "\n: ")):
        return text
    lines: list[str] = []
    term, is_code = "", False
    for line in text.split("\n"):
        is_code ^= line.lstrip().startswith(_FENCES)
        before, above = ("", "", *lines)[-1], ("", "", *lines)[-2]
        is_alone = not is_code and before.strip() != "" and not above.strip() and not _MARKED.match(before)
        defined = None if is_code else _DEFINITION.match(line)
        if is_alone and "|" not in before and (found := _UNDERLINE.match(line)):
            lines[-1] = f"{'#' if found[1][0] == '=' else '##'} {before.strip()}"
        elif defined and (term or is_alone):
            term = term or lines.pop().strip()
            lines.append(f"- {term}: {defined[1]}")
        else:
            lines.append(line)
            term = term if line[:1].isspace() else ""
    return "\n".join(lines)


def title_of(text: str) -> str:
    """The first heading of the first level, without marks; empty when there is none."""
    headings = (text[block.start : block.end] for block in blocks(text) if block.kind == "heading")
    marked = (heading[1:_LONGEST] for heading in headings if heading[0] == "#" and heading[1].isspace())
    title = next(marked, "").strip()
    return html.unescape(plain(title) or title).rstrip("#").strip()


def _plain(whole: str, start: int, end: int, components: frozenset[str]) -> str:
    text = whole[start:end]
    if "<" in text:
        text = _TAG.sub(lambda tag: _instead(tag, whole, start), text)
        if components or "/>" in text:
            text = _COMPONENT.sub(lambda tag: _instead_of_component(tag, components), text)
    has_braces = "{" in text  # most have none, and these take the longest
    text = _MDX_COMMENT.sub("", text) if has_braces else text
    if _SITE_LINE.search(f"\n{text}"):
        text = _INCLUDE.sub("", _MDX_LINE.sub("", text))
        text = _BOX.sub(lambda box: next(filter(None, box.groups()), "").strip(), text)
    text = _ATTRIBUTES.sub(r"\1", text) if has_braces else text
    text = _ICON.sub(_icon, text) if ":" in text else text
    return _ANCHOR.sub(r"\1", text) if "](#" in text else text


def _instead_of_component(tag: re.Match[str], components: frozenset[str]) -> str:
    """The title of a component that is closed somewhere; another name in brackets is text (``List<String>``)."""
    attributes = tag[2] or ""
    if tag[1] not in components and not attributes.rstrip().endswith("/"):
        return tag[0]
    label = _LABEL.search(attributes)
    return f"{label[1] or label[2]}\n\n" if label and not tag[0].startswith("</") else ""


def _icon(found: re.Match[str]) -> str:
    sign = "✓" if _YES.search(found[1]) else "✗" if _NO.search(found[1]) else ""
    return f"{sign} " if sign and found[0][-1].isspace() else sign


def _instead(tag: re.Match[str], text: str, offset: int) -> str:
    """What a reader sees in the place of a tag: of a picture what is said to be on it, of a block that it is one.

    ``offset``: where in the text that begins in which the tag was found.
    """
    if tag[1]:
        return markup.raised(tag[1])
    name = _NAME.match(tag.group())
    kind = name.group(1).lower() if name else ""
    if kind == "img":
        said = _SHOWN.search(tag.group())
        return (said.group(1) or said.group(2) or "") if said else ""
    start, end = offset + tag.start(), offset + tag.end()
    before, behind = text[text.rfind("\n", 0, start) + 1 : start], text[end:].partition("\n")[0]
    is_first = not _TAG.sub("", before).strip()
    if tag.group()[1] != "/" and is_first and _HEADINGS.fullmatch(kind):
        mark = "#" * (int(kind[1:]) if kind[0] == "h" else 6) + " "
        return f"\n\n{mark}" if before else mark
    if kind in _INLINE or not before or not behind:
        return ""
    return " " if "|" in f"{before}{behind}" else "\n"  # a row of a table is one line
