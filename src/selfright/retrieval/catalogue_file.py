"""The catalogue's file: how it is made, and the sealed record of what it holds, in counts."""

import json
import sqlite3
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from selfright.domain.errors import NotAnIndex
from selfright.domain.passages import Document
from selfright.retrieval.files import sync_folder
from selfright.retrieval.records import damaged, seal
from selfright.retrieval.schema import APPLICATION_ID, FORMAT_VERSION, PAGE_BYTES, TABLES, IndexMeta
from selfright.retrieval.vectors import FIRST_FILE


@dataclass(slots=True)
class IndexStats:
    """Counts of documents and passages, and how far the vectors reach: ``rows`` of the file ``vectors``.

    ``languages`` counts documents, ``passages_in`` passages by language; None in an index last written without it.
    """

    passages: int = 0
    collections: Counter[str] = field(default_factory=Counter)
    languages: Counter[str] = field(default_factory=Counter)
    rows: int = 0
    vectors: str = FIRST_FILE
    passages_in: Counter[str] | None = None

    @property
    def documents(self) -> int:
        """How many documents there are."""
        return self.languages.total()

    def add(self, document: Document, passages: int) -> None:
        """Counts a document that came."""
        self._count(document.collection, document.language, passages, 1)

    def remove(self, collection: str, language: str, passages: int) -> None:
        """Counts a document that went."""
        self._count(collection, language, passages, -1)

    def copy(self) -> "IndexStats":
        """One that changes on its own."""
        passages_in = None if self.passages_in is None else Counter(self.passages_in)
        collections, languages = Counter(self.collections), Counter(self.languages)
        return IndexStats(self.passages, collections, languages, self.rows, self.vectors, passages_in)

    def text(self) -> str:
        """As one line."""
        return json.dumps(
            {
                "passages": self.passages,
                "collections": _sorted(self.collections),
                "languages": _sorted(self.languages),
                "rows": self.rows,
                "vectors": self.vectors,
                **({} if self.passages_in is None else {"passages_in": _sorted(self.passages_in)}),
            },
            ensure_ascii=False,
        )

    @classmethod
    def of(cls, text: str) -> "IndexStats":
        """Reads what ``text`` wrote."""
        read: dict[str, Any] = json.loads(text)
        collections, languages = Counter(read["collections"]), Counter(read["languages"])
        passages_in = Counter(read["passages_in"]) if "passages_in" in read else None
        return cls(read["passages"], collections, languages, read["rows"], read["vectors"], passages_in)

    def _count(self, collection: str, language: str, passages: int, sign: int) -> None:
        self.passages += sign * passages
        self.collections[collection] += sign
        self.languages[language] += sign
        if self.passages_in is not None:
            self.passages_in[language] += sign * passages


def _sorted(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: count for name, count in sorted(counts.items()) if count}


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
