"""API keys: who may use the service, as what user, over which collections. The keys themselves are not kept."""

import hashlib
import hmac
import json
import secrets
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from selfright.domain.errors import InputError
from selfright.domain.text import several
from selfright.storage.sqlite import Layout, SqliteFile

FILE = "keys.sqlite"
PREFIX = "sr-"
MOST_KEYS = 10_000
MOST_NAME = 200
MOST_COLLECTIONS = 100
_ID_BYTES = 5
_SECRET_BYTES = 32
_MOST_TOKEN = 200
_FORMAT = 1
_BUSY_S = 5.0
_TABLE = """
CREATE TABLE IF NOT EXISTS keys (
    id TEXT PRIMARY KEY, digest BLOB NOT NULL, user TEXT NOT NULL, collections TEXT NOT NULL, admin INTEGER NOT NULL,
    note TEXT NOT NULL, created REAL NOT NULL, revoked REAL
) STRICT
"""
_LAYOUT = Layout("keys", _FORMAT, (_TABLE,), damaged="put a backup in its place")
_COLUMNS = "id, user, collections, admin, note, created, revoked"


@dataclass(frozen=True, slots=True)
class Key:
    """What is known of a key. No ``collections`` means all of them; times are Unix seconds."""

    id: str
    user: str
    collections: tuple[str, ...] = ()
    admin: bool = False
    note: str = ""
    created: float = 0.0
    revoked: float | None = None


class KeyRing:
    """The keys in ``keys.sqlite`` of a folder; the file is made with the first key, readable for its owner alone.

    Of a key only its SHA-256 is kept: it is 256 random bits, which nobody finds by trying, so that a slow hash would
    protect nothing more. Several processes may use the file, and a change is seen by the next request.
    """

    remote = False

    def __init__(self, home: Path) -> None:
        self.path = home / FILE
        self._file = SqliteFile(self.path, _LAYOUT, _BUSY_S)

    def add(
        self, user: str, collections: str | Sequence[str] = (), *, admin: bool = False, note: str = ""
    ) -> tuple[Key, str]:
        """A new key, and its secret: this is the only time that it can be seen. Raises ``InputError``."""
        key, token = made(user, collections, admin=admin, note=note)
        row = (key.id, digest(token), user, json.dumps(key.collections), int(admin), note, key.created)
        with self._file.connected() as connection:
            if _count(connection) >= MOST_KEYS:
                connection.execute("DELETE FROM keys WHERE revoked IS NOT NULL")
            if _count(connection) >= MOST_KEYS:
                raise most_reached()
            connection.execute("INSERT INTO keys VALUES (?, ?, ?, ?, ?, ?, ?, NULL)", row)
        return key, token

    def listed(self) -> list[Key]:
        """All keys, the oldest first, revoked ones too."""
        if not self.path.exists():
            return []
        with self._file.connected() as connection:
            rows = connection.execute(f"SELECT {_COLUMNS} FROM keys ORDER BY created, id").fetchall()  # noqa: S608
        return [_key(row) for row in rows]

    def revoke(self, key_id: str) -> bool:
        """Ends a key for good; false when there is none of that id that still holds."""
        if not self.path.exists():
            return False
        with self._file.connected() as connection:
            done = connection.execute(
                "UPDATE keys SET revoked = ? WHERE id = ? AND revoked IS NULL", (time.time(), key_id)
            )
            return done.rowcount > 0

    def any(self) -> bool:
        """Whether any key was ever made; revoking the last one does not open the service again."""
        if not self.path.exists():
            return False
        with self._file.connected() as connection:
            return connection.execute("SELECT 1 FROM keys LIMIT 1").fetchone() is not None

    def find(self, token: str) -> Key | None:
        """The key that this is the secret of, unless it was revoked."""
        key_id = key_id_of(token)
        if key_id is None or not self.path.exists():
            return None
        query = f"SELECT {_COLUMNS}, digest FROM keys WHERE id = ? AND revoked IS NULL"  # noqa: S608
        with self._file.connected() as connection:
            row = connection.execute(query, (key_id,)).fetchone()
        if row is None or not hmac.compare_digest(row[-1], digest(token)):
            return None
        return _key(row[:-1])

    def close(self) -> None:
        """Closes the file."""
        self._file.close()


def _count(connection: sqlite3.Connection) -> int:
    (count,) = connection.execute("SELECT count(*) FROM keys").fetchone()
    return int(count)


def made(user: str, collections: str | Sequence[str], *, admin: bool, note: str) -> tuple[Key, str]:
    """A new key that is nowhere kept yet, and its secret. Raises ``InputError``."""
    collections = several(collections)
    for what, name in (("user", user), *(("collection", name) for name in collections)):
        if not 0 < len(name) <= MOST_NAME:
            raise InputError(f"the name of a {what} has 1 to {MOST_NAME} characters, but has {len(name):,}")
    if len(collections) > MOST_COLLECTIONS or len(note) > MOST_NAME:
        raise InputError(f"a key takes at most {MOST_COLLECTIONS} collections and {MOST_NAME} characters of note")
    key = Key(secrets.token_hex(_ID_BYTES), user, tuple(dict.fromkeys(collections)), admin, note, time.time())
    return key, f"{PREFIX}{key.id}-{secrets.token_urlsafe(_SECRET_BYTES)}"


def most_reached() -> InputError:
    """What is said when there are as many keys as there may be."""
    return InputError(f"there are {MOST_KEYS:,} keys, and no more are taken; revoke some first")


def key_id_of(token: str) -> str | None:
    """The id in a secret; None when it is none of ours."""
    if not token.startswith(PREFIX) or len(token) > _MOST_TOKEN:
        return None
    return token.removeprefix(PREFIX).partition("-")[0]


def digest(token: str) -> bytes:
    """What is kept of a secret."""
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


def _key(row: Sequence[object]) -> Key:
    key_id, user, collections, admin, note, created, revoked = row
    return Key(
        str(key_id), str(user), tuple(json.loads(str(collections))), bool(admin), str(note), float(str(created)),
        None if revoked is None else float(str(revoked)),
    )  # fmt: skip
