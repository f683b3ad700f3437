"""Makes the tables of an index in PostgreSQL, brings older ones up to date, and says what an index was made with."""

import secrets
from dataclasses import dataclass

import psycopg
from psycopg import sql

from selfright.domain.errors import IndexNotFound, NotAnIndex, StoreError
from selfright.retrieval.locations import Location
from selfright.retrieval.postgres.connections import Connection, Connections, explained, lock_key
from selfright.retrieval.postgres.schema import MIGRATIONS, VECTORS, VERSION, check_version, packed, unpacked
from selfright.retrieval.schema import IndexMeta

_LOCK_S = 60


@dataclass(frozen=True, slots=True)
class IndexSpec:
    """What an index was made with, and whether it may be made."""

    tokenizer: str
    embedder: str
    dimension: int
    create: bool


def open_or_create(connections: Connections, spec: IndexSpec) -> IndexMeta:
    """The index as it was made, of this program's version afterwards; any number may open one at the same time.

    Raises ``IndexNotFound``, ``NotAnIndex`` or ``IncompatibleIndex``.
    """
    place = connections.place
    connection = connections.connect("opener")
    try:
        with explained(place), connection.transaction():
            connection.execute(f"SET LOCAL lock_timeout = '{_LOCK_S}s'")
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (lock_key("opener", place),))
            if not _exists(connection, place):
                _make(connection, place, spec)
            return _brought_up_to_date(connection, place)
    finally:
        connection.close()


def _exists(connection: Connection, place: Location) -> bool:
    name = f'"{place.name}".about'
    row = connection.execute("SELECT to_regclass(%s) IS NOT NULL", (name,)).fetchone()
    if row is None or not row[0]:
        return False
    row = connection.execute("SELECT value FROM about WHERE name = 'kind'").fetchone()
    if row is None or row[0] != "selfright-index":
        raise _occupied(place)
    return True


def _make(connection: Connection, place: Location, spec: IndexSpec) -> None:
    if not spec.create:
        raise IndexNotFound(
            f"there is no index at {place.shown} (schema {place.name}); make one with: selfright index add FILES"
        )
    occupied = connection.execute(
        "SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE nspname = %s LIMIT 1",
        (place.name,),
    ).fetchone()
    if occupied:
        raise _occupied(place)
    if spec.dimension:
        _need_vectors(connection, place)
    connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(place.name)))
    for script in MIGRATIONS:
        connection.execute(script)
    if spec.dimension:
        connection.execute(VECTORS.format(dimension=spec.dimension))
    rows = {
        "kind": "selfright-index",
        "version": str(VERSION),
        "identity": secrets.token_hex(16),
        "tokenizer": spec.tokenizer,
        "embedder": spec.embedder,
        "dimension": str(spec.dimension),
    }
    with connection.cursor() as cursor:
        cursor.executemany("INSERT INTO about VALUES (%s, %s)", [(name, packed(value)) for name, value in rows.items()])


def _need_vectors(connection: Connection, place: Location) -> None:
    there = connection.execute("SELECT 1 FROM pg_extension WHERE extname = 'vector'").fetchone()
    if there:
        return
    try:
        with connection.transaction():
            connection.execute("CREATE EXTENSION vector")
    except psycopg.Error as error:
        raise StoreError(
            f"{place.shown} needs the extension pgvector for vectors, but it could not be made "
            f"({error.diag.message_primary}); install it on the server and run as its owner: CREATE EXTENSION vector; "
            "or index by words alone: --set embedder=none"
        ) from error


def _brought_up_to_date(connection: Connection, place: Location) -> IndexMeta:
    about = {name: unpacked(value) for name, value in connection.execute("SELECT name, value FROM about").fetchall()}
    version = int(about["version"])
    check_version(place.shown, version)
    for script in MIGRATIONS[version:]:
        connection.execute(script)
    if version < VERSION:
        connection.execute("UPDATE about SET value = %s WHERE name = 'version'", (str(VERSION),))
    return IndexMeta(about["identity"], about["tokenizer"], about["embedder"], int(about["dimension"]), VERSION)


def _occupied(place: Location) -> NotAnIndex:
    return NotAnIndex(
        f"cannot make an index at {place.shown}: the schema {place.name} holds something else; name another one with "
        "?schema=NAME"
    )
