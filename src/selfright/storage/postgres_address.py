"""The address of a PostgreSQL database and schema, and text as PostgreSQL can hold it: without NUL and lone surrogates.

Needs none of the packages of the extra ``postgres``.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from selfright.domain.errors import SelfrightError, SettingsError

DEFAULT_SCHEMA = "selfright_memory"
_SCHEME = re.compile(r"postgres(ql)?://")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_SCHEMA = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,47}")
_SECRET = ("pass", "secret", "key", "token")
_MARK, _NUL = "\x1a", "\0"


@dataclass(frozen=True, slots=True)
class Address:
    """A database and the schema in it. ``uri`` is as libpq takes it, ``shown`` is fit for messages: no password."""

    uri: str = field(repr=False)
    shown: str
    schema: str


def read_address(
    text: str,
    what: str = "setting 'database'",
    schema: str = DEFAULT_SCHEMA,
    error: type[SelfrightError] = SettingsError,
) -> Address:
    """``postgresql://user:password@host:port/database?schema=name``; libpq's other parameters may follow.

    ``schema`` is the default. Raises ``error``, which names ``what`` and does not quote the password.
    """
    if not _SCHEME.match(text):
        raise error(
            f"{what} is postgresql://user@host/database?schema=name, or nothing for files in the home folder; what "
            "came begins otherwise"
        )
    place, _, query = text.partition("?")
    given = [(name, value) for name, _, value in (part.partition("=") for part in query.split("&") if part)]
    schema = dict(given).get("schema", schema)
    if not _SCHEMA.fullmatch(schema):
        raise error(
            f"the schema in {what} is named by a letter and at most 47 letters, digits and _, but came {schema[:60]!r}"
        )
    return Address(_with_query(place, [pair for pair in given if pair[0] != "schema"]), format_address(text), schema)


def format_address(text: str) -> str:
    """An address without its password; of what begins like none nothing is told."""
    if not _ADDRESS.match(text):
        return "***" if text else ""
    place, _, query = text.partition("?")
    scheme, _, rest = place.partition("://")
    *credentials, where = rest.rsplit("@", 1)
    user = f"{credentials[0].partition(':')[0]}@" if credentials else ""
    parts = [part.partition("=") for part in query.split("&") if part]
    open_ = [(name, value) for name, _, value in parts if not any(word in unquote(name).lower() for word in _SECRET)]
    return _with_query(f"{scheme}://{user}{where}", open_)


def _with_query(place: str, pairs: Sequence[tuple[str, str]]) -> str:
    """As it was written: libpq reads a query in its own way, in which '+' is no blank."""
    query = "&".join(f"{name}={value}" for name, value in pairs)
    return f"{place}{'?' if query else ''}{query}"


def encode(text: str) -> str:
    """The text without NUL, so that ``decode`` makes it whole again; lone surrogates become question marks."""
    if _MARK in text or _NUL in text:
        text = text.replace(_MARK, f"{_MARK}1").replace(_NUL, f"{_MARK}0")
    return text.encode("utf-8", "replace").decode()


def decode(text: str) -> str:
    """The text that ``encode`` was given."""
    return text.replace(f"{_MARK}0", _NUL).replace(f"{_MARK}1", _MARK) if _MARK in text else text


def encode_row(row: Iterable[Any]) -> tuple[Any, ...]:
    """A row whose texts PostgreSQL can hold."""
    return tuple(encode(value) if isinstance(value, str) else value for value in row)


def decode_row(row: Iterable[Any]) -> tuple[Any, ...]:
    """The row that ``encode_row`` was given."""
    return tuple(decode(value) if isinstance(value, str) else value for value in row)
