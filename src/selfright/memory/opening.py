"""Sessions over a SQLite file, or over PostgreSQL."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langgraph.checkpoint.sqlite import SqliteSaver

from selfright.memory.checkpoints import Saver, serializer
from selfright.memory.conversation import Retention
from selfright.memory.session_rows import TABLES, UPGRADES, SessionRows
from selfright.memory.sessions import Sessions
from selfright.storage.rows import DatabaseRows, FileRows
from selfright.storage.sqlite import LOG_BYTES, Layout

if TYPE_CHECKING:
    from selfright.storage.postgres import PostgresDatabase

FORMAT = 1 + len(UPGRADES)
_LAYOUT = Layout(
    "sessions",
    FORMAT,
    TABLES,
    (
        # What is committed survives the death of the process; a power cut may cost the last turns, never the file.
        "synchronous = NORMAL",
        # What was deleted is overwritten, or forgetting a conversation would leave it on the disk.
        "secure_delete = ON",
        LOG_BYTES,
    ),
    anew=False,
    upgrades=UPGRADES,
)


async def open_sessions(path: Path, retention: Retention | None = None) -> Sessions:
    """Sessions in the SQLite file ``path``, which is made when it is missing; close them when done.

    Several processes of one machine may have the file open. Raises ``StoreError``, which names the file, when it is
    damaged or cannot be written.
    """
    rows, saver = FileRows(path, _LAYOUT), _sqlite_saver()
    try:
        await rows.read(saver)
    except BaseException:
        rows.close()
        raise
    return Sessions(SessionRows(rows, ("checkpoints", "writes"), whole=True), saver, retention)


def _sqlite_saver() -> Callable[[Any], Saver]:
    last: list[SqliteSaver] = []

    def saver(connection: Any) -> SqliteSaver:
        if not last or last[0].conn is not connection:
            last[:] = [SqliteSaver(connection, serde=serializer())]
            last[0].setup()
        return last[0]

    return saver


async def open_postgres_sessions(database: "PostgresDatabase", retention: Retention | None = None) -> Sessions:
    """Sessions in a database, which stays its owner's to close. Raises ``StoreError`` when it cannot be used."""
    from langgraph.checkpoint.postgres import PostgresSaver

    await database.run(lambda connection: connection.execute("SELECT 1"))
    serde = serializer()
    tables = "checkpoints", "checkpoint_blobs", "checkpoint_writes"
    rows = SessionRows(DatabaseRows(database), tables, whole=False)
    return Sessions(rows, lambda connection: PostgresSaver(connection, serde=serde), retention)
