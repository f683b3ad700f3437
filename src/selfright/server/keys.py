"""API keys: who may use the service, as what user, over which collections; in a file, or in the database."""

import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from selfright.domain.errors import InputError
from selfright.domain.routing import collection_name
from selfright.domain.text import check_name, several
from selfright.storage.postgres_address import decode, encode
from selfright.storage.rows import Connection, DatabaseRows, FileRows, Rows
from selfright.storage.sqlite import Layout

if TYPE_CHECKING:
    from selfright.settings import Settings

FILE = "keys.sqlite"
USED = "keys.in-use"
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
_COLUMNS = "id, {owner}, collections, admin, note, created, revoked"
_LAYOUT = Layout("keys", _FORMAT, (_TABLE,), damaged="put a backup in its place")


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


class Keys(Rows):
    """Keys as rows. Of a key only its SHA-256 is kept.

    It is 256 random bits, which nobody finds by trying, so that a slow hash would protect nothing more. Several
    processes may use the database, and a change is seen by the next request.
    """

    remote: ClassVar[bool]
    """Whether asking may take a while, so that it is done on a thread."""

    _some = False

    def add(
        self, user: str, collections: str | Sequence[str] = (), *, admin: bool = False, note: str = ""
    ) -> tuple[Key, str]:
        """A new key, and its secret: this is the only time that it can be seen."""
        key, token = make_key(user, collections, admin=admin, note=note)
        owner, names, said = map(encode, (key.user, json.dumps(key.collections), note))
        row = (key.id, digest(token), owner, names, admin, said, key.created)

        def work(connection: Connection) -> None:
            for _ in range(2):
                ((count,),) = self.run(connection, "SELECT count(*) FROM {table}").fetchall()
                if count < MOST_KEYS:
                    break
                self.run(connection, "DELETE FROM {table} WHERE revoked IS NOT NULL")
            else:
                raise InputError(f"there are {MOST_KEYS:,} keys, and no more are taken; revoke some first")
            put = "INSERT INTO {table} VALUES (%s, %s, %s, %s, %s, %s, %s, NULL) ON CONFLICT (id) DO NOTHING"
            self.run(connection, put, *row)

        self.transact(work)
        return key, token

    def list_keys(self) -> list[Key]:
        """All keys, the oldest first, revoked ones too."""
        return [self._key(row) for row in self.rows(f"SELECT {_COLUMNS} FROM {{table}} ORDER BY created, id")]

    def revoke(self, key_id: str) -> bool:
        """Ends a key for good; false when there is none such."""
        end = "UPDATE {table} SET revoked = %s WHERE id = %s AND revoked IS NULL"
        values = time.time(), encode(key_id)
        return self.is_there and self.within(lambda connection: self.run(connection, end, *values).rowcount) > 0

    def any(self) -> bool:
        """Whether any key was ever made; without one, everyone may use a service that only this machine reaches."""
        self._some = self._some or self._has_rows()
        return self._some

    def check_there(self) -> None:
        """Raises ``InputError`` when keys were in use and are gone."""

    def _has_rows(self) -> bool:
        return bool(self.rows("SELECT 1 FROM {table} LIMIT 1"))

    def find(self, token: str) -> Key | None:
        """The key that this is the secret of; None for a wrong one, or one that was revoked."""
        if not token.startswith(PREFIX) or len(token) > _MOST_TOKEN:
            return None
        key_id = token.removeprefix(PREFIX).partition("-")[0]
        find = f"SELECT {_COLUMNS}, digest FROM {{table}} WHERE id = %s AND revoked IS NULL"
        row = next(iter(self.rows(find, encode(key_id))), None)
        if row is None or not hmac.compare_digest(bytes(row[-1]), digest(token)):
            return None
        return self._key(row[:-1])

    def _key(self, row: Sequence[Any]) -> Key:
        key_id, user, collections, admin, note, created, revoked = row
        names = tuple(json.loads(decode(collections)))
        return Key(key_id, decode(user), names, bool(admin), decode(note), created, revoked)


class KeyRing(Keys, FileRows):
    """The keys in ``keys.sqlite`` of a folder. A file beside it says that they were in use, also when it is gone."""

    remote = False
    table, owner = "keys", "user"

    def __init__(self, home: Path) -> None:
        super().__init__(home / FILE, _LAYOUT, _BUSY_S)
        self._used = home / USED

    def any(self) -> bool:
        """As of all keys; true as well when they were in use and are gone."""
        if not self._some and super().any():
            with suppress(OSError):  # a folder that is only read
                self._used.touch()
        self._some = self._some or self._used.exists()
        return self._some

    def check_there(self) -> None:
        """As of all keys."""
        if self._used.exists() and not self._has_rows():
            raise InputError(
                f"API keys were in use here, but there are none in '{self.path}'; put a backup of it in its place, "
                "or make a key: selfright keys add --user NAME --admin. To serve this machine without keys, delete "
                f"'{self._used}'"
            )


def make_key(user: str, collections: str | Sequence[str], *, admin: bool, note: str) -> tuple[Key, str]:
    """A new key that is nowhere kept yet, and its secret. Raises ``InputError``."""
    collections = [collection_name(name) for name in several(collections)]
    user = check_name("user", user)
    if len(collections) > MOST_COLLECTIONS or len(note) > MOST_NAME:
        raise InputError(f"a key takes at most {MOST_COLLECTIONS} collections and {MOST_NAME} characters of note")
    key = Key(secrets.token_hex(_ID_BYTES), user, tuple(dict.fromkeys(collections)), admin, note, time.time())
    return key, f"{PREFIX}{key.id}-{secrets.token_urlsafe(_SECRET_BYTES)}"


def digest(token: str) -> bytes:
    """What is kept of a secret."""
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


_CONNECTIONS = 3


def open_keys(settings: "Settings") -> Keys:
    """The keys, in the database where one is set; else in a file in the home folder."""
    if not settings.database:
        return KeyRing(settings.home)
    from selfright.memory.postgres import open_database

    return DatabaseKeys(open_database(settings.database, _CONNECTIONS))


class DatabaseKeys(Keys, DatabaseRows):
    """Keys in a database, which is closed with them."""

    remote = True
    table, owner = "api_keys", "owner"

    def close(self) -> None:
        """Closes the database."""
        self.database.close()
