"""API keys in the database that is set, so that all replicas know the same ones."""

from typing import TYPE_CHECKING

from selfright.entrypoints.server.keys import KeyRing, Keys
from selfright.memory.postgres_schema import DatabaseRows

if TYPE_CHECKING:
    from selfright.memory.postgres import PostgresDatabase
    from selfright.settings import Settings

_CONNECTIONS = 3


def open_keys(settings: "Settings") -> Keys:
    """The keys, in the database where one is set; else in a file in the home folder."""
    if not settings.database:
        return KeyRing(settings.home)
    from selfright.memory.postgres import PostgresDatabase

    return DatabaseKeys(PostgresDatabase(settings.database, _CONNECTIONS))


class DatabaseKeys(Keys, DatabaseRows):
    """Keys in a database, which is closed with them."""

    remote = True
    table, owner = "api_keys", "owner"

    def __init__(self, database: "PostgresDatabase") -> None:
        super().__init__(database)
        self._some = False

    def any(self) -> bool:
        """As of all keys; remembered, for it is asked with every request."""
        self._some = self._some or super().any()
        return self._some

    def close(self) -> None:
        """Closes the database."""
        self.database.close()
