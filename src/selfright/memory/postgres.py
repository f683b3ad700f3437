"""The PostgreSQL database of sessions, profiles, traces and API keys: its tables."""

from langgraph.checkpoint.postgres import PostgresSaver

from selfright.memory import profiles, session_rows, traces
from selfright.storage.postgres import CONNECTIONS, Connection, PostgresDatabase, Use
from selfright.storage.postgres_address import read_address
from selfright.storage.postgres_tables import Tables, open_tables

_KEYS = (
    "CREATE TABLE api_keys (id text PRIMARY KEY, digest bytea NOT NULL, owner text NOT NULL,"
    " collections text NOT NULL, admin boolean NOT NULL, note text NOT NULL, created double precision NOT NULL,"
    " revoked double precision)",
)
_FACTS = (table.format(serial="bigserial PRIMARY KEY") for table in profiles.TABLES)
TABLES = Tables(
    "selfright-memory",
    ";\n".join((*_FACTS, *session_rows.TABLES, *traces.TABLES, *_KEYS)),
    upgrades=tuple(map(";\n".join, session_rows.UPGRADES)),
)


def open_database(address: str, most: int = CONNECTIONS) -> PostgresDatabase:
    """The database at an address, opened when it is first used; its tables are made then.

    Raises ``SettingsError`` for an address that is none.
    """
    hint = "see whether it runs and what setting 'database' says"

    def make(database: PostgresDatabase) -> None:
        open_tables(database, TABLES, lambda _: {}, _make_theirs)

    return PostgresDatabase(read_address(address), Use("the database", hint, make=make), most)


def _make_theirs(connection: Connection) -> None:
    """LangGraph's tables, by its own statements, in our transaction: there indexes cannot be made ``CONCURRENTLY``."""
    connection.execute(PostgresSaver.MIGRATIONS[0].encode())
    found = connection.execute("SELECT coalesce(max(v), -1) FROM checkpoint_migrations").fetchone()
    assert found is not None
    for version, statement in enumerate(PostgresSaver.MIGRATIONS[found[0] + 1 :], found[0] + 1):
        connection.execute(statement.replace(" CONCURRENTLY", "").encode())
        connection.execute("INSERT INTO checkpoint_migrations VALUES (%s)", (version,))
