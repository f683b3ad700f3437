"""API keys in the database that is set, so that all replicas know the same ones. See ``KeyRing``."""

import hmac
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from selfright.entrypoints.server.keys import MOST_KEYS, Key, KeyRing, digest, key_id_of, made, most_reached
from selfright.memory.postgres_address import decode, encode

if TYPE_CHECKING:
    from psycopg import Connection

    from selfright.memory.postgres import PostgresDatabase
    from selfright.settings import Settings

_CONNECTIONS = 3
_COLUMNS = "id, owner, collections, admin, note, created, revoked"
_PUT = "INSERT INTO api_keys VALUES (%s, %s, %s, %s, %s, %s, %s, NULL) ON CONFLICT (id) DO NOTHING"
_LISTED = f"SELECT {_COLUMNS} FROM api_keys ORDER BY created, id"  # noqa: S608  # only names of columns are put in
_FOUND = f"SELECT {_COLUMNS}, digest FROM api_keys WHERE id = %s AND revoked IS NULL"  # noqa: S608
_REVOKE = "UPDATE api_keys SET revoked = extract(epoch FROM now()) WHERE id = %s AND revoked IS NULL"


class Keys(Protocol):
    """Knows who may use the service; see ``KeyRing``."""

    @property
    def remote(self) -> bool:
        """Whether asking may take a while, so that it is done on a thread."""
        ...

    def add(
        self, user: str, collections: str | Sequence[str] = (), *, admin: bool = False, note: str = ""
    ) -> tuple[Key, str]:
        """A new key and its secret."""
        ...

    def listed(self) -> list[Key]:
        """All keys, revoked ones too."""
        ...

    def revoke(self, key_id: str) -> bool:
        """Ends a key for good; false when there is none such."""
        ...

    def any(self) -> bool:
        """Whether any key was ever made."""
        ...

    def find(self, token: str) -> Key | None:
        """The key that this is the secret of."""
        ...

    def close(self) -> None:
        """Closes what they are kept in."""
        ...


def open_keys(settings: "Settings") -> Keys:
    """The keys, in the database where one is set; else in a file in the home folder."""
    if not settings.database:
        return KeyRing(settings.home)
    from selfright.memory.postgres import PostgresDatabase

    return DatabaseKeys(PostgresDatabase(settings.database, _CONNECTIONS))


class DatabaseKeys:
    """Keys in a database, which is closed with them. A change is seen by the next request on every replica."""

    remote = True

    def __init__(self, database: "PostgresDatabase") -> None:
        self._database = database
        self._some = False

    def add(
        self, user: str, collections: str | Sequence[str] = (), *, admin: bool = False, note: str = ""
    ) -> tuple[Key, str]:
        """A new key, and its secret: this is the only time that it can be seen. Raises ``InputError``."""
        key, token = made(user, collections, admin=admin, note=note)
        names = encode(json.dumps(key.collections))
        row = (key.id, digest(token), encode(user), names, admin, encode(note), key.created)

        def work(connection: "Connection[Any]") -> None:
            if _count(connection) >= MOST_KEYS:
                connection.execute("DELETE FROM api_keys WHERE revoked IS NOT NULL")
            if _count(connection) >= MOST_KEYS:
                raise most_reached()
            connection.execute(_PUT, row)

        self._database.within(work)
        return key, token

    def listed(self) -> list[Key]:
        """All keys, the oldest first, revoked ones too."""
        return [_key(row) for row in self._database.within(lambda connection: connection.execute(_LISTED).fetchall())]

    def revoke(self, key_id: str) -> bool:
        """Ends a key for good; false when there is none of that id that still holds."""
        return self._database.within(lambda connection: connection.execute(_REVOKE, (encode(key_id),)).rowcount) > 0

    def any(self) -> bool:
        """Whether any key was ever made; once there was one, that stays so."""
        if not self._some:
            query = "SELECT 1 FROM api_keys LIMIT 1"
            self._some = self._database.within(lambda connection: connection.execute(query).fetchone()) is not None
        return self._some

    def find(self, token: str) -> Key | None:
        """The key that this is the secret of, unless it was revoked."""
        key_id = key_id_of(token)
        if key_id is None:
            return None
        row = self._database.within(lambda connection: connection.execute(_FOUND, (encode(key_id),)).fetchone())
        if row is None or not hmac.compare_digest(bytes(row[-1]), digest(token)):
            return None
        return _key(row[:-1])

    def close(self) -> None:
        """Closes the database."""
        self._database.close()


def _count(connection: "Connection[Any]") -> int:
    row = connection.execute("SELECT count(*) FROM api_keys").fetchone()
    return int(row[0]) if row else 0


def _key(row: Sequence[Any]) -> Key:
    key_id, user, collections, admin, note, created, revoked = row
    return Key(key_id, decode(user), tuple(json.loads(decode(collections))), admin, decode(note), created, revoked)
