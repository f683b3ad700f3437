"""The tables in PostgreSQL and their versions, made by one opener at a time; and rows in them that programs share."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, LiteralString, TypeVar

from selfright.domain.errors import StoreError
from selfright.memory.postgres_address import decode, encode
from selfright.storage.rows import Connection as RowsConnection
from selfright.storage.rows import Rows

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg.sql import Composed

    from selfright.memory.postgres import PostgresDatabase

_WAIT_S = 60
_LOCK = 5_417_296_003  # any number, always the same; the schema's name is hashed into it
_ALONE = "SELECT pg_advisory_xact_lock(%s # hashtext(%s))"
_VERSIONS = "selfright_version"

STEPS: tuple[tuple[str, ...], ...] = (
    (
        # Who runs a turn of a session: ``token`` is new with every lock, so that whoever lost one cannot write.
        "CREATE TABLE session_claims (key bigint PRIMARY KEY, token bigint NOT NULL,"
        " at timestamptz NOT NULL DEFAULT now())",
        "CREATE TABLE profile_facts (id bigserial PRIMARY KEY, owner text NOT NULL, state text NOT NULL,"
        " at double precision NOT NULL, name text NOT NULL, value text NOT NULL, unit text, negated boolean NOT NULL,"
        " subject text NOT NULL, time text NOT NULL, turn integer NOT NULL, first integer NOT NULL,"
        " past integer NOT NULL, details text NOT NULL)",
        "CREATE INDEX profile_facts_of ON profile_facts (owner, state, id)",
        "CREATE TABLE profile_users (owner text PRIMARY KEY, at double precision NOT NULL)",
        "CREATE INDEX profile_users_at ON profile_users (at)",
        "CREATE TABLE turn_traces (id text PRIMARY KEY, at double precision NOT NULL, owner bytea NOT NULL,"
        " bytes bigint NOT NULL, head bytea NOT NULL, recording bytea NOT NULL)",
        "CREATE INDEX turn_traces_at ON turn_traces (at, id)",
        "CREATE INDEX turn_traces_of ON turn_traces (owner, at)",
        "CREATE TABLE api_keys (id text PRIMARY KEY, digest bytea NOT NULL, owner text NOT NULL,"
        " collections text NOT NULL, admin boolean NOT NULL, note text NOT NULL, created double precision NOT NULL,"
        " revoked double precision)",
    ),
)
"""What brings the tables from each version to the next; a step that was released is never changed."""


def bring_up_to_date(database: "PostgresDatabase") -> None:
    """Makes the schema and the tables, or changes older ones. Openers at the same moment wait for one another.

    Raises ``StoreError`` for tables of a newer version, and when somebody else is at it for too long.
    """
    import psycopg

    with database.connect() as connection:
        try:
            if _is_current(connection, database):
                return
            connection.execute(f"SET lock_timeout = '{_WAIT_S}s'")
            connection.execute("SET statement_timeout = 0")
            with connection.transaction():
                connection.execute(_ALONE, (_LOCK, database.address.schema))
                _make(connection, database)
        except psycopg.errors.LockNotAvailable as error:
            raise StoreError(
                f"another program has been changing the tables of {database.address.shown} for {_WAIT_S} s; wait for "
                "it or end it, then try again"
            ) from error
        except psycopg.Error as error:
            raise database.explained(error) from error


def _is_current(connection: "Connection[Any]", database: "PostgresDatabase") -> bool:
    """Whether nothing has to be done. Raises ``StoreError`` for what a newer version made."""
    ours, saver, store = (_version(connection, name) for name in _TABLES)
    newest = len(STEPS), *_newest()
    for found, known, what in zip((ours, saver, store), newest, _MAKERS, strict=True):
        if found > known:
            raise StoreError(
                f"the tables in {database.address.shown} are of version {found} of {what}, but here is version "
                f"{known}; update this program"
            )
    return (ours, saver, store) == newest


_TABLES = (_VERSIONS, "checkpoint_migrations", "store_migrations")
_MAKERS = ("Selfright", "LangGraph's checkpoints", "LangGraph's store")


def _newest() -> tuple[int, int]:
    from langgraph.checkpoint.postgres import PostgresSaver
    from langgraph.store.postgres import PostgresStore

    return len(PostgresSaver.MIGRATIONS) - 1, len(PostgresStore.MIGRATIONS) - 1


def _version(connection: "Connection[Any]", table: str) -> int:
    """The version that a table of versions names; -1 when there is none."""
    (there,) = _one(connection.execute("SELECT to_regclass(%s) IS NOT NULL", (table,)).fetchone())
    if not there:
        return -1
    (version,) = _one(connection.execute(_on("SELECT coalesce(max(v), -1) FROM {}", table)).fetchone())
    return int(version)


def _on(statement: LiteralString, name: str) -> "Composed":
    """A statement with the name of a table or schema in it."""
    from psycopg import sql

    return sql.SQL(statement).format(sql.Identifier(name))


def _one(row: Sequence[Any] | None) -> Sequence[Any]:
    assert row is not None
    return row


def _make(connection: "Connection[Any]", database: "PostgresDatabase") -> None:
    schema = database.address.schema
    (there,) = _one(connection.execute("SELECT to_regnamespace(%s) IS NOT NULL", (schema,)).fetchone())
    if not there:
        connection.execute(_on("CREATE SCHEMA {}", schema))
    if _is_current(connection, database):  # somebody else was quicker
        return
    connection.execute(_on("CREATE TABLE IF NOT EXISTS {} (v integer PRIMARY KEY)", _VERSIONS))
    done = max(_version(connection, _VERSIONS), 0)
    for version, step in enumerate(STEPS[done:], done + 1):
        for statement in step:
            connection.execute(statement.encode())
        connection.execute(_on("INSERT INTO {} VALUES (%s)", _VERSIONS), (version,))
    _make_theirs(connection)


def _make_theirs(connection: "Connection[Any]") -> None:
    """LangGraph's tables, by its own statements, in our transaction: there indexes cannot be made ``CONCURRENTLY``."""
    from langgraph.checkpoint.postgres import PostgresSaver
    from langgraph.store.postgres import PostgresStore

    for table, steps in zip(_TABLES[1:], (PostgresSaver.MIGRATIONS, PostgresStore.MIGRATIONS), strict=True):
        connection.execute(_on("CREATE TABLE IF NOT EXISTS {} (v integer PRIMARY KEY)", table))
        done = _version(connection, table)
        for version, statement in enumerate(steps[done + 1 :], done + 1):
            connection.execute(statement.replace(" CONCURRENTLY", "").encode())
            connection.execute(_on("INSERT INTO {} VALUES (%s)", table), (version,))


T = TypeVar("T")


class DatabaseRows(Rows):
    """Rows in a database. A change is seen by the next request of every program."""

    mark = "%s"

    def __init__(self, database: "PostgresDatabase") -> None:
        self.database = database

    def within(self, work: Callable[[RowsConnection], T]) -> T:
        """What ``work`` gives, in a transaction."""
        return self.database.within(work)

    def encode(self, text: str) -> str:
        """Text without NUL."""
        return encode(text)

    def decode(self, text: str) -> str:
        """Text as it was given to ``encode``."""
        return decode(text)

    def close(self) -> None:
        """Nothing: the database is its owner's."""
