"""Rows of a question set, read with care: what a field must be, and the line that is named when it is not."""

import codecs
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from selfright.domain.errors import InputError

LONGEST_ROW = 20_000_000
_NAMED = 5
T = TypeVar("T")

Row = tuple[str, Any]
"""Where the row stands in its file (``line 3``), and its value: an object, or a ``BadRow``."""


class BadRow(ValueError):
    """A row that is no question; the message says what was expected and what came."""


def json_lines(path: Path) -> Iterator[Row]:
    """The rows of a JSON Lines file but blank ones; a ``BadRow`` for a line that is no JSON object."""
    with path.open("rb") as lines:
        number = 0
        while line := lines.readline(LONGEST_ROW + 1):
            number += 1
            where = f"line {number}"
            if len(line) > LONGEST_ROW:
                yield where, BadRow(f"longer than {LONGEST_ROW:,} bytes")
                return
            if line.strip():
                yield where, _object(line.removeprefix(codecs.BOM_UTF8))


def read_rows(path: Path, read: Callable[[Mapping[str, Any], str], T]) -> list[T]:
    """What ``read`` makes of each row and where it stands.

    Raises ``InputError`` when there are bad rows, with the first of them and what was expected there: nothing is left
    out in silence.
    """
    found, bad = list[T](), list[str]()
    for where, row in json_lines(path):
        try:
            if isinstance(row, BadRow):
                raise row
            found.append(read(row, where))
        except BadRow as error:
            bad.append(f"{where}: {error}")
    refuse_bad(path, bad)
    return found


def refuse_bad(path: Path, bad: Sequence[str]) -> None:
    """Raises ``InputError`` with the first of the lines that are bad."""
    if bad:
        more = f"; and {len(bad) - _NAMED} more rows" if len(bad) > _NAMED else ""
        raise InputError(f"{path}: {'; '.join(bad[:_NAMED])}{more}; docs/evaluation.md says what a row holds")


def _object(line: bytes) -> Mapping[str, Any] | BadRow:
    try:
        value = json.loads(line.decode("utf-8"))
        if b"\\u" in line:  # only an escape writes half of a pair
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeDecodeError:
        return BadRow("not UTF-8; save the file as UTF-8")
    except UnicodeEncodeError:
        return BadRow("half of a surrogate pair (\\ud800 to \\udfff) stands in it; take it out")
    except (ValueError, RecursionError) as error:
        return BadRow(f"not JSON ({error}); expected one object a line")
    return value if isinstance(value, dict) else BadRow(f"expected an object, got {kind(value)}")


def text(row: Mapping[str, Any], name: str) -> str:
    """A field that must be a string with something in it."""
    value = row.get(name)
    if not isinstance(value, str) or not value.strip():
        raise BadRow(f"expected a text as '{name}', got {kind(value)}")
    return value


def identifier(row: Mapping[str, Any], names: Sequence[str], otherwise: str) -> str:
    """The first of the fields that is there, as a string; ``otherwise`` without any."""
    value = next((row[name] for name in names if row.get(name) not in (None, "")), otherwise)
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise BadRow(f"expected a string or a whole number as '{names[0]}', got {kind(value)}")
    return str(value)


def texts(row: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """A field that is a list of strings, or one string; empty without it. Blank ones are left out."""
    value = row.get(name)
    if value is None:
        return ()
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list | tuple) or not all(isinstance(item, str) for item in items):
        raise BadRow(f"expected a list of strings as '{name}', got {kind(value)}")
    return tuple(item for item in items if item.strip())


def truth(row: Mapping[str, Any], name: str) -> bool | None:
    """A field that is true or false; None without it."""
    value = row.get(name)
    if value is None or isinstance(value, bool):
        return value
    raise BadRow(f"expected true or false as '{name}', got {kind(value)}")


def objects(row: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """A field that is a list of objects; empty without it."""
    value = row.get(name)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise BadRow(f"expected a list of objects as '{name}', got {kind(value)}")
    return value


def kind(value: object) -> str:
    """A value's kind in words; never the value, which may be anything."""
    names = {
        dict: "an object", list: "a list", str: "a text", bool: "true or false", int: "a number", float: "a number",
        type(None): "nothing",
    }  # fmt: skip
    return "an empty text" if value == "" else names.get(type(value), f"a {type(value).__name__}")
