"""A PostgreSQL database that keeps sessions and profiles: its address, and text as it can hold it.

It takes neither NUL nor lone surrogates.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from selfright.domain.errors import SettingsError

DEFAULT_SCHEMA = "selfright_memory"
_SCHEME = re.compile(r"postgres(ql)?://")
_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,47}")
_SECRET = ("pass", "secret", "key")


@dataclass(frozen=True, slots=True)
class Address:
    """A database and the schema in it. ``uri`` is as libpq takes it, ``shown`` is fit for messages: no password."""

    uri: str = field(repr=False)
    shown: str
    schema: str = DEFAULT_SCHEMA


def read_address(text: str) -> Address:
    """``postgresql://user:password@host:port/database?schema=name``; libpq's other parameters may follow.

    Raises ``SettingsError``, which does not quote the password.
    """
    if not _SCHEME.match(text):
        raise SettingsError(
            "setting 'database' is postgresql://user@host/database?schema=name, or nothing for files in the home "
            "folder; what came begins otherwise"
        )
    place, _, query = text.partition("?")
    given = [(name, value) for name, _, value in (part.partition("=") for part in query.split("&") if part)]
    schema = dict(given).get("schema", DEFAULT_SCHEMA)
    if not _SCHEMA.fullmatch(schema):
        raise SettingsError(
            "the schema in setting 'database' has 1 to 48 small letters, digits or '_' and begins with no digit; "
            f"{schema[:60]!r} does not"
        )
    return Address(_with_query(place, [pair for pair in given if pair[0] != "schema"]), shown(text), schema)


def shown(text: str) -> str:
    """An address without its password; empty when none is given."""
    if not _SCHEME.match(text):
        return "***" if text else ""
    place, _, query = text.partition("?")
    scheme, _, rest = place.partition("://")
    *credentials, where = rest.rsplit("@", 1)
    user = f"{credentials[0].partition(':')[0]}@" if credentials else ""
    parts = [part.partition("=") for part in query.split("&") if part]
    kept = [(name, value) for name, _, value in parts if not any(word in unquote(name).lower() for word in _SECRET)]
    return _with_query(f"{scheme}://{user}{where}", kept)


def _with_query(place: str, pairs: Sequence[tuple[str, str]]) -> str:
    """As it was written: libpq reads a query in its own way, in which '+' is no blank."""
    query = "&".join(f"{name}={value}" for name, value in pairs)
    return f"{place}{'?' if query else ''}{query}"


_MARK, _NUL = "\x1a", "\0"


def encode(text: str) -> str:
    """The text without NUL, so that ``decode`` makes it whole again; lone surrogates become question marks."""
    if _MARK in text or _NUL in text:
        text = text.replace(_MARK, f"{_MARK}1").replace(_NUL, f"{_MARK}0")
    return text.encode("utf-8", "replace").decode()


def decode(text: str) -> str:
    """The text that ``encode`` was given."""
    return text.replace(f"{_MARK}0", _NUL).replace(f"{_MARK}1", _MARK) if _MARK in text else text


def encode_value(value: Any) -> Any:
    """``encode`` for all texts in a value of JSON, names included."""
    return _through(value, encode)


def decode_value(value: Any) -> Any:
    """``decode`` for all texts in a value of JSON."""
    return _through(value, decode)


def _through(value: Any, change: Any) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change(name): _through(one, change) for name, one in value.items()}
    return [_through(one, change) for one in value] if isinstance(value, list | tuple) else value
