"""Building HTML and SVG: what is put into an element is escaped, unless it is an element itself.

The result is both HTML5 and well-formed XML, so that a test can read it back with any parser.
"""

import re
from collections.abc import Iterable
from html import escape
from typing import TypeAlias

_VOID = {"br", "circle", "col", "line", "link", "meta", "path", "polygon", "rect", "wbr"}
_ADDRESS = re.compile(r"#[\w-]+|[\w-][\w.-]*|data:,")
# Controls are no characters of HTML, and half a surrogate pair cannot be written as UTF-8.
_LONGEST = 8_000
_UNFIT = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


class Html(str):
    """Text that may stand in a page as it is."""

    __slots__ = ()


Content: TypeAlias = "str | Iterable[Content]"


def text(value: object) -> Html:
    """Any value as text: no markup, no control characters, and no more than a page can bear."""
    return Html(escape(_UNFIT.sub("\N{REPLACEMENT CHARACTER}", cut(str(value), _LONGEST)), quote=True))


def join(*content: Content) -> Html:
    """Parts after one another; a plain string among them is escaped."""
    return Html("".join(_flat(content)))


def tag(name: str, /, *content: Content, **attributes: object) -> Html:
    """An element. ``class_`` is ``class``, other underscores are hyphens; None leaves an attribute out.

    Raises ``ValueError`` for a link to anywhere but a place of this page or a file beside it.
    """
    start = name + "".join(_attribute(key, value) for key, value in attributes.items() if value is not None)
    if name in _VOID and not content:
        return Html(f"<{start}/>")
    return Html(f"<{start}>{join(*content)}</{name}>")


def data(value: object, most: int = 500) -> Html:
    """Text of a data set or of an answer: shortened, and its direction of writing kept within it."""
    return tag("bdi", cut(str(value), most))


def named(name: str, most: int = 80) -> Html:
    """A name of ours, as of a system or a metric, that may break after its underscores and the like."""
    parts = re.split(r"(?<=[_/=,.-])(?=\w)", cut(name, most))
    return join([[tag("wbr"), part] if number else part for number, part in enumerate(parts)])


def cut(value: str, most: int) -> str:
    """At most so many characters, the last one an ellipsis where more were there."""
    return value if len(value) <= most else value[: most - 1].rstrip() + "…"


def _flat(content: Content) -> Iterable[str]:
    if isinstance(content, Html):
        yield content
    elif isinstance(content, str):
        yield text(content)
    else:
        for part in content:
            yield from _flat(part)


def _attribute(key: str, value: object) -> str:
    name = key.rstrip("_").replace("_", "-")
    if name in ("href", "src") and not _ADDRESS.fullmatch(str(value)):
        raise ValueError(f"a report links to itself and to files beside it, but a link was to {value!r}")
    return f' {name}="{text(value)}"'
