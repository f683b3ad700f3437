"""Reads what a model wrote: without what it thinks aloud, and the one JSON object in it, through the usual damage.

The tags of thinking (``<think>…</think>`` and its like) count anywhere but inside a code fence, in capitals or not.
What was opened and never closed was thinking to its end. Some models are sent the opening tag with the prompt, and only
the closing one is in their reply: ``strip_reasoning`` knows, a stream cannot, for by then the text has been heard.

Libraries that repair JSON make up values to get something valid: 0.0 for ``0.`` at the end of a reply that was cut off,
the last of two scores. A judge's score must never come about like that, so what cannot be read for sure is refused.
Read are text and fences around it, trailing commas, comments, single and typographic quotes, quotes inside of strings,
unquoted keys, Python's literals and full-width marks. A number that JSON does not know (``8/10``, ``80%``) is kept as a
string, NaN as what it is: whoever reads the value takes or refuses it (``selfright.domain.value_parsing``).

At most 200,000 characters are looked at, each of them once: no text can make it slow.
"""

import contextlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from selfright.domain.errors import ReplyUnusable
from selfright.domain.value_parsing import half_width

LONGEST = 200_000
_DEEPEST = 30

_OPENING = re.compile(r"[{｛]")
_ENDS = r"(?=[\s\ufeff]*+(?:[,:}\]，：｝］/#]|\Z))"  # a quote ends a string only where what must follow follows
_STRINGS = "|".join(rf"[{quotes}](?:\\.|(?![{quotes}]{_ENDS}).)*+[{quotes}]" for quotes in ('"', "'", "“”", "‘’"))
_TOKEN = re.compile(
    rf"(?P<blank>[\s\ufeff]++|//[^\n]*+|\#[^\n]*+|/\*.*?(?:\*/|\Z)|[,，](?=\s*+[}}\]｝］]))|(?P<string>{_STRINGS})"
    r"|(?P<mark>[{}\[\],:｛｝［］，：])|(?P<bare>(?:(?!//|/\*)[^\s,:{}\[\]｛｝［］，：\"'“”‘’])++)(?P<key>\s*+[:：])?",
    re.DOTALL,
)
_LITERALS = {"true": "true", "false": "false", "null": "null", "none": "null", "nan": "NaN"}
_LITERALS |= {f"{sign}{name}": f"{sign}Infinity" for sign in ("", "-") for name in ("inf", "infinity")}
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,299}+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?")
_NUMBER_LIKE = re.compile(r"[+-]?[.0-9]\S{0,29}")
_ESCAPE = re.compile(
    r"""\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u(?![dD][89a-fA-F])[0-9a-fA-F]{4}|\\["\\/bfnrt]"""
    r"""|(?P<lone>\\u[0-9a-fA-F]{4})|(?P<quote>\\')|(?P<plain>["\\])""",
    re.DOTALL,
)


def read_object(text: str, required: Sequence[str] = ()) -> dict[str, Any]:
    """The object with all ``required`` fields; fields beside them stay. What stands in ``<think>`` does not count.

    Where the fields are one level down (``{"evaluation": {…}}``, a list of one), that level is taken off. Of several
    fitting objects it is the last one, if they agree in the required fields (in all, if none is required). Raises
    ``ReplyUnusable``, for a reply that was cut off too.
    """
    read = list(_objects(_strip_fences(text[:LONGEST])))
    fits = [fit for value in read for fit in _fitting(value, required)]
    if not fits:
        raise ReplyUnusable(_missing(read, required))
    compared = [{name: fit[name] for name in required} if required else fit for fit in fits]
    if any(fit != compared[-1] for fit in compared[:-1]):
        raise ReplyUnusable("expected one JSON object, got several that disagree; ask again")
    return fits[-1]


def _strip_fences(text: str) -> str:
    """What was said aloud; out of its quotes where all of it is one JSON string."""
    told = strip_reasoning(text)
    if told.startswith('"'):
        with contextlib.suppress(ValueError):
            return strip_reasoning(str(json.loads(told)))
    return told


def _fitting(value: dict[str, Any], required: Sequence[str]) -> Iterator[dict[str, Any]]:
    if all(name in value for name in required):
        yield value
        return
    for name, item in value.items():
        inner = item[0] if isinstance(item, list) and len(item) == 1 else item
        # What stands in "properties" would be a schema.
        if name != "properties" and isinstance(inner, Mapping) and all(field in inner for field in required):
            yield dict(inner)


def _missing(objects: Sequence[Mapping[str, Any]], required: Sequence[str]) -> str:
    expected = f"with the fields {', '.join(required)}" if required else "in the reply"
    absent = [name for name in required if objects and name not in objects[-1]]
    came = f"one without {', '.join(absent)}" if absent else "none"
    return f"expected a JSON object {expected}, got {came}; ask again, or use a model that writes JSON"


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The outermost objects in the order of the text; broken ones are passed over."""
    at = 0
    while opening := _OPENING.search(text, at):
        mended, at = _mend(text, opening.start())
        with contextlib.suppress(ValueError):
            yield json.loads(mended, object_pairs_hook=_unique, strict=False)


def _mend(text: str, start: int) -> tuple[str, int]:
    """The object at ``start`` as JSON and where it ends; empty where it can be none, with where that was seen."""
    parts: list[str] = []
    at, depth = start, 0
    while found := _TOKEN.match(text, at):
        piece = _as_json(found)
        depth += (piece in ("{", "[")) - (piece in ("}", "]"))
        if piece is None or depth > _DEEPEST:
            return "", max(at, start + 1)
        at = found.end()
        parts.append(piece)
        if depth == 0:
            return "".join(parts), at
    raise ReplyUnusable("expected a whole JSON object, got one that was cut off; ask again")


def _as_json(token: re.Match[str]) -> str | None:
    """A token as JSON writes it; None for what stands in no object."""
    if token["blank"]:
        return ""
    if token["string"]:
        return f'"{_ESCAPE.sub(_escape, token["string"][1:-1])}"'
    bare = half_width(token["mark"] or token["bare"])
    if token["mark"] or _NUMBER.fullmatch(bare):
        return bare
    if token["key"]:
        return f"{json.dumps(bare)}:"
    return _LITERALS.get(bare.lower()) or (json.dumps(bare) if _NUMBER_LIKE.fullmatch(bare) else None)


def _escape(found: re.Match[str]) -> str:
    if found["lone"]:
        return "\ufffd"
    return "'" if found["quote"] else f"\\{found[0]}" if found["plain"] else found[0]


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name, value in pairs:
        if name in fields and fields[name] != value:
            raise ValueError("a key is given twice with different values")
        fields[name] = value
    return fields


_NAMES = ("think", "thinking", "reasoning")
_TAGS = tuple(f"<{slash}{name}>" for name in _NAMES for slash in ("", "/"))
_LONGEST_TAG = max(map(len, _TAGS))
_FENCE = "```"
_TAG_OR_FENCE = re.compile(rf"<(/?)({'|'.join(_NAMES)})>|{_FENCE}", re.IGNORECASE | re.ASCII)
_CLOSING = {name: re.compile(rf"</{name}>", re.IGNORECASE | re.ASCII) for name in _NAMES}


class ThinkingFilter:
    """Takes a reply piece by piece and gives back what may be shown. How it is cut into pieces changes nothing.

    White space at the beginning is left out, so that an answer does not begin with the gap behind the thinking.
    """

    def __init__(self) -> None:
        self._pending = ""
        self._thinking = ""  # the name of the open tag
        self._fenced = False
        self._begun = False

    def feed(self, piece: str) -> str:
        """What can be shown now; up to a tag's length may be held back until it is clear what it is."""
        return self._visible("".join(part for part in self._parts(piece) if part))

    def end(self) -> str:
        """What was held back when the reply is over."""
        rest = "" if self._thinking else self._pending
        self._pending = ""
        return self._visible(rest)

    def _visible(self, text: str) -> str:
        shown = text if self._begun else text.lstrip()
        self._begun = self._begun or bool(shown)
        return shown

    def _parts(self, piece: str) -> Iterator[str | None]:
        """Text to show, and None where a tag closes that nobody opened."""
        text, at = self._pending + piece, 0
        while mark := (_CLOSING[self._thinking] if self._thinking else _TAG_OR_FENCE).search(text, at):
            if not self._thinking:
                yield from self._pass_over(text[at : mark.start()], mark)
            else:
                self._thinking = ""
            at = mark.end()
        held = _undecided_length(text, at)
        if not self._thinking:
            yield text[at:held]
        self._pending = text[held:]

    def _pass_over(self, before: str, mark: re.Match[str]) -> Iterator[str | None]:
        yield before
        if mark[0] == _FENCE:
            self._fenced = not self._fenced
            yield _FENCE
        elif self._fenced:
            yield mark[0]
        elif mark[1]:
            yield None
        else:
            self._thinking = mark[2].lower()

    def whole(self, text: str) -> list[str | None]:
        """All parts of a text that is complete, see ``_parts``. Only for a filter that was fed nothing."""
        return [*self._parts(text), "" if self._thinking else self._pending]


def strip_reasoning(text: str) -> str:
    """What a ``ThinkingFilter`` shows of the text, without what stands before a closing tag that has no opening one."""
    parts = ThinkingFilter().whole(text)
    after_last = len(parts) - parts[::-1].index(None) if None in parts else 0
    return "".join(part for part in parts[after_last:] if part).lstrip()


def _undecided_length(text: str, at: int) -> int:
    """Where the end of ``text`` may be the beginning of a tag or fence; its length when it cannot."""
    tag = text.rfind("<", max(at, len(text) - _LONGEST_TAG + 1))
    if tag >= 0 and any(name.startswith(text[tag:].lower()) for name in _TAGS):
        return tag
    ticks = 2 if text.endswith("``", at) else 1 if text.endswith("`", at) else 0
    return len(text) - ticks
