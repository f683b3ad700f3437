"""Where an index is: a folder, or the address of a server."""

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from selfright.domain.errors import UsageError
from selfright.storage.postgres_address import Address, format_address, read_address

Engine = Literal["embedded", "milvus", "postgres"]

_SCHEMES: dict[str, Engine] = {"milvus": "milvus", "postgresql": "postgres", "postgres": "postgres"}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,47}")
_ADDRESS = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://")
DEFAULT_NAME = "selfright_index"
_MILVUS_PORT = 19530


@dataclass(frozen=True, slots=True)
class Location:
    """An index's place. ``path`` is a folder, or Milvus Lite's file; ``name`` keeps indexes on one server apart.

    ``shown`` is fit for messages: it holds no password. ``address`` is that of PostgreSQL, the parts of an address are
    Milvus's.
    """

    engine: Engine
    shown: str
    name: str = DEFAULT_NAME
    path: Path | None = None
    host: str = ""
    port: int | None = None
    user: str = ""
    password: str = field(default="", repr=False)
    options: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    address: Address | None = None

    def option(self, name: str, default: str = "") -> str:
        """A value of the address's query."""
        return dict(self.options).get(name, default)


def is_address(location: str | Path) -> bool:
    """Whether an index's place is written as a server's address and not as a path."""
    return isinstance(location, str) and _ADDRESS.match(location) is not None


def locate(location: str | Path) -> Location:
    """Reads an index's place; raises ``UsageError`` for an address that names no engine or a name that none takes."""
    text = str(location)
    found = None if isinstance(location, Path) else _ADDRESS.match(text)
    if found is None:
        return Location("embedded", text, path=Path(location))
    engine = _SCHEMES.get(found["scheme"].lower())
    if engine is None:
        raise UsageError(
            f"an index is kept in a folder, or at milvus://… or postgresql://…, but not at {found['scheme']}://…"
        )
    if engine == "milvus":
        return _milvus(text)
    address = read_address(text, "the address of an index", DEFAULT_NAME, UsageError)
    if not _parts(text)[0].path.strip("/"):
        raise UsageError(f"the address names no database: postgresql://user@host/database, but came {address.shown}")
    return Location("postgres", address.shown, address.schema, address=address)


def format_location(location: str | Path) -> str:
    """An index's place without its password, for messages and reports."""
    return format_address(str(location)) if is_address(location) else str(location)


def _milvus(text: str) -> Location:
    parts, options = _parts(text)
    name = dict(options).get("name", DEFAULT_NAME)
    if parts.hostname:
        name = unquote(parts.path.strip("/")) or DEFAULT_NAME
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"an index on a server is named by a letter and at most 47 letters, digits and _, but came '{name}'"
        )
    place = Location("milvus", format_location(text), name, options=options)
    if parts.hostname:
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        port = parts.port or _MILVUS_PORT
        return replace(place, host=parts.hostname, port=port, user=user, password=password)
    path = Path(unquote(parts.path))
    if path.suffix != ".db" or not path.is_absolute():
        raise UsageError(
            f"Milvus Lite keeps an index in one file: milvus:///folder/file.db, but came {place.shown}; "
            "for a server give its host: milvus://host:19530/name"
        )
    return replace(place, path=path)


def _parts(text: str) -> tuple[SplitResult, tuple[tuple[str, str], ...]]:
    try:
        parts = urlsplit(text)
        _ = parts.port  # read only now
    except ValueError:
        raise UsageError(
            f"the address of the index cannot be read: {format_location(text)}; "
            "write special characters of a password as %xx"
        ) from None
    return parts, tuple(parse_qsl(parts.query, keep_blank_values=True))
