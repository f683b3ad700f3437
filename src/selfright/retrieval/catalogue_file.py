"""The catalogue's file: how it is made, and the sealed record of what it holds."""

import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

from selfright.domain.errors import NotAnIndex
from selfright.retrieval.checksums import seal
from selfright.retrieval.files import sync_folder
from selfright.retrieval.index_stats import IndexStats
from selfright.retrieval.records import damaged
from selfright.retrieval.schema import APPLICATION_ID, FORMAT_VERSION, PAGE_BYTES, TABLES, IndexMeta

FILE_NAME = "catalogue.sqlite"
LOCK_NAME = "writer.lock"
_UNFINISHED = ".new"
_SEALED = ("identity", "tokenizer", "embedder", "dimension", "tally")


def read_stats(connection: sqlite3.Connection, path: Path, opened: IndexMeta | None = None) -> IndexStats:
    """The counts, after checking the seal on them and on how the index was made; raises ``IndexDamaged``.

    Raises ``IncompatibleIndex`` when that is no longer how it was made when it was ``opened``.
    """
    found = dict(connection.execute("SELECT name, value FROM meta").fetchall())
    if found.get("seal") != str(seal(*(found.get(name) for name in _SEALED))):
        raise damaged(path, "the record of how the index was made")
    if opened is not None:
        opened.check_unchanged(path.parent, found["embedder"], int(found["dimension"]))
    return IndexStats.of(found["tally"])


def passages_in(connection: sqlite3.Connection, stats: IndexStats) -> Counter[str]:
    """The number of passages by language; summed up from the documents if the index was last written without it."""
    if stats.passages_in is not None:
        return stats.passages_in
    return Counter(dict(connection.execute("SELECT language, SUM(passages) FROM documents GROUP BY language")))


def write_stats(connection: sqlite3.Connection, stats: IndexStats) -> None:
    """Writes the counts and seals them within the open transaction."""
    found = {**dict(connection.execute("SELECT name, value FROM meta").fetchall()), "tally": stats.text()}
    sealed = seal(*(found.get(name) for name in _SEALED))
    connection.executemany(
        "INSERT OR REPLACE INTO meta VALUES (?, ?)", [("tally", found["tally"]), ("seal", str(sealed))]
    )


def make_file(folder: Path, meta: IndexMeta, name: str = FILE_NAME) -> None:
    """An empty catalogue; under another name until it is whole, so that a crash leaves no half-made one."""
    unfinished = folder / f"{name}{_UNFINISHED}"
    unfinished.unlink(missing_ok=True)
    with closing(sqlite3.connect(unfinished)) as connection:
        connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
        connection.executescript(TABLES)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {FORMAT_VERSION}")
        rows = [(name, str(value)) for name, value in asdict(meta).items()]
        connection.executemany("INSERT INTO meta VALUES (?, ?)", rows)
        write_stats(connection, IndexStats())
        connection.commit()
        connection.execute("PRAGMA journal_mode = WAL")
    unfinished.replace(folder / name)
    sync_folder(folder)


def check_unused(folder: Path) -> None:
    """Raises ``NotAnIndex`` for a folder that has content."""
    if folder.exists() and (not folder.is_dir() or any(map(is_content, folder.iterdir()))):
        raise NotAnIndex(f"cannot make an index at {folder}: expected an empty or new folder, but it has content")


def is_content(path: Path) -> bool:
    """Whether a file means that a folder is in use; what a crash while making an index may leave does not."""
    return path.name != LOCK_NAME and not path.name.startswith(f"{FILE_NAME}{_UNFINISHED}")
