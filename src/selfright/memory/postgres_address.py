"""Where sessions and profiles are kept when that is a PostgreSQL database: its address, and how it is shown."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
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
