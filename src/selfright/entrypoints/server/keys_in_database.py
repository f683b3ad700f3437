"""API keys in the database that is set, so that all replicas know the same ones."""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from selfright.entrypoints.server.keys import KeyRing, Keys
from selfright.memory.postgres_address import decode, encode
from selfright.memory.profile_rows import Connection

if TYPE_CHECKING:
    from selfright.memory.postgres import PostgresDatabase
    from selfright.settings import Settings

T = TypeVar("T")
_CONNECTIONS = 3


def open_keys(settings: "Settings") -> Keys:
    """The keys, in the database where one is set; else in a file in the home folder."""
    if not settings.database:
        return KeyRing(settings.home)
    from selfright.memory.postgres import PostgresDatabase

    return DatabaseKeys(PostgresDatabase(settings.database, _CONNECTIONS))


class DatabaseKeys(Keys):
    """Keys in a database, which is closed with them. A change is seen by the next request on every replica."""

    remote = True
    _table, _owner, _mark = "api_keys", "owner", "%s"

    def __init__(self, database: "PostgresDatabase") -> None:
        self._database = database
        self._some = False

    def any(self) -> bool:
        """As of all keys; remembered, for it is asked with every request."""
        self._some = self._some or super().any()
        return self._some

    def close(self) -> None:
        """Closes the database."""
        self._database.close()

    def _within(self, work: Callable[[Connection], T]) -> T:
        return self._database.within(work)

    def _encode(self, text: str) -> str:
        return encode(text)

    def _decode(self, text: str) -> str:
        return decode(text)
