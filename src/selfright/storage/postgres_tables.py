"""The tables of a schema and their version, made by one opener at a time.

A table ``about`` says what they are. Nobody else's schema is touched.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from psycopg import Error, sql
from psycopg.errors import LockNotAvailable

from selfright.domain.errors import StoreError
from selfright.storage.postgres import Connection, PostgresDatabase, lock_key
from selfright.storage.postgres_address import decode, encode

_WAIT_S = 60


@dataclass(frozen=True, slots=True)
class Tables:
    """A kind of tables, and the ``script`` that makes them.

    ``occupied`` and ``newer`` are the errors for a schema of something else, and for tables of a newer version.
    ``upgrades`` are scripts: the first makes of version 1 version 2, and so on.
    """

    kind: str
    script: str
    occupied: type[StoreError] = StoreError
    newer: type[StoreError] = StoreError
    upgrades: tuple[str, ...] = ()

    @property
    def version(self) -> int:
        """Of the tables that ``script`` makes."""
        return 1 + len(self.upgrades)


def open_tables(
    database: PostgresDatabase,
    tables: Tables,
    make: Callable[[Connection], Mapping[str, str]],
    finish: Callable[[Connection], None] = lambda _: None,
) -> dict[str, str]:
    """What is said of the tables, which are made where there are none: any number may open them at the same time.

    ``make`` is called before they are made, may refuse that, and gives what is to be said of them. ``finish`` is called
    at the end, in the same transaction.
    """
    with database.connect("selfright opener") as connection:
        try:
            connection.execute(f"SET lock_timeout = '{_WAIT_S}s'")
            with connection.transaction():
                connection.execute("SELECT pg_advisory_xact_lock(%s)", (lock_key("opener", database.address.schema),))
                about = _read_or_make(connection, database, tables, make)
                finish(connection)
                return about
        except LockNotAvailable as error:
            raise StoreError(
                f"another program has been changing the tables of {database.shown} for {_WAIT_S} s; wait for it or "
                "end it, then try again"
            ) from error
        except Error as error:
            raise database.explain_errors(error) from error


def _read_or_make(
    connection: Connection, database: PostgresDatabase, tables: Tables, make: Callable[[Connection], Mapping[str, str]]
) -> dict[str, str]:
    schema = database.address.schema
    about = _about(connection, schema)
    if about is None:
        about = {"kind": tables.kind, "version": str(tables.version), **make(connection)}
        taken = "SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE nspname = %s LIMIT 1"
        if connection.execute(taken, (schema,)).fetchone():
            raise _occupied_error(database, tables)
        row = connection.execute("SELECT to_regnamespace(%s) IS NULL", (f'"{schema}"',)).fetchone()
        if row is not None and row[0]:  # a user who may not make schemas can be given one
            connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
        connection.execute("CREATE TABLE about (name text PRIMARY KEY, value text NOT NULL)")
        connection.execute(tables.script.encode())
        for name, value in about.items():
            connection.execute("INSERT INTO about VALUES (%s, %s)", (name, encode(value)))
    if about.get("kind") != tables.kind:
        raise _occupied_error(database, tables)
    if (version := int(about["version"])) > tables.version:
        raise tables.newer(
            f"{database.shown} has tables of version {version}, but this program knows them up to {tables.version}; "
            "use the newer selfright that made them"
        )
    for script in tables.upgrades[version - 1 :]:
        connection.execute(script.encode())
        connection.execute("UPDATE about SET value = %s WHERE name = 'version'", (encode(str(tables.version)),))
    return {**about, "version": str(tables.version)}


def _about(connection: Connection, schema: str) -> dict[str, str] | None:
    row = connection.execute("SELECT to_regclass(%s) IS NOT NULL", (f'"{schema}".about',)).fetchone()
    if row is None or not row[0]:
        return None
    columns = "SELECT count(*) FROM information_schema.columns WHERE table_schema = %s AND table_name = 'about'"
    found = connection.execute(f"{columns} AND column_name IN ('name', 'value')", (schema,)).fetchone()
    if found is None or found[0] != 2:
        return {}
    return {name: decode(value) for name, value in connection.execute("SELECT name, value FROM about").fetchall()}


def _occupied_error(database: PostgresDatabase, tables: Tables) -> StoreError:
    return tables.occupied(
        f"{database.shown} cannot be made: the schema {database.address.schema} holds something else; name another one "
        "with ?schema=NAME"
    )
