"""New vectors for all passages of an index folder, made beside the old ones and put in their place in one step.

They wait in a folder of their own, by the hash of their text, and each block is lasting when the next one begins: a run
that was killed is gone on with. Meanwhile the index is searched and written as before. In the end one transaction of
the catalogue names the new file and the new embedder; whoever still has the index open with the old one is told so.
"""

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from selfright.domain.errors import StoreError
from selfright.domain.ports import Embedder, Tokenizer
from selfright.retrieval.catalogue import Catalogue
from selfright.retrieval.catalogue_file import LOCK_NAME
from selfright.retrieval.catalogue_writer import CatalogueWriter
from selfright.retrieval.files import WriterLock, erase, sync_file, sync_folder
from selfright.retrieval.preparing import embedder_languages, embedder_name, indexed_text, text_hash
from selfright.retrieval.records import Shown, vector_sums
from selfright.retrieval.stores.embedded import EmbeddedStore
from selfright.retrieval.upkeep import next_file
from selfright.retrieval.vectors import FOLDER as VECTORS
from selfright.retrieval.vectors import VectorFile
from selfright.storage.sqlite import connect, transaction

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FOLDER = "reembedding"
_LOCK = "reembedding.lock"
_BLOCK = 128  # passages whose vectors are made at a time: what an interruption costs

_TABLES = """
CREATE TABLE IF NOT EXISTS rows (text_hash BLOB PRIMARY KEY, row INTEGER NOT NULL, vector_sum INTEGER NOT NULL)
    WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS course (
    made_for TEXT NOT NULL, key INTEGER NOT NULL, passages INTEGER NOT NULL, rows INTEGER NOT NULL
);
"""

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class Reembedded:
    """What became of an index: its embedder ``before`` and now, its figures, and the vectors made by this run."""

    before: str
    embedder: str
    documents: int
    passages: int
    vectors: int
    made: int


def reembed(
    folder: Path, tokenizer: Tokenizer, embedder: Embedder | None, progress: Progress | None = None
) -> Reembedded:
    """Gives every passage of the index at ``folder`` a vector of ``embedder``; without one the vectors go.

    Ids, texts, terms, collections and facts stay. An index that has these vectors already stays as it is. Passages in
    a language that the embedder does not know get no vector. Memory holds one block of passages.

    Raises ``IndexNotFound``, ``NotAnIndex``, ``IncompatibleIndex`` (another tokenizer), ``IndexBusy`` when another
    process does the same, or writes at the end, and ``StoreError`` when the disk is full: then the index is as it was,
    and what was made is kept for the next run.
    """
    with closing(Catalogue(folder)) as catalogue, _locked(folder / _LOCK):
        before = catalogue.meta
        before.check(folder, tokenizer.name, before.embedder, before.dimension)
        made = 0
        if embedder_name(embedder) != (before.embedder, before.dimension):
            with closing(_Waiting(catalogue, embedder)) as waiting:
                waiting.fill(progress)
                waiting.take_place(progress)
                made = waiting.made
        erase(folder / FOLDER)
    with EmbeddedStore.open(folder, tokenizer, embedder) as store:  # makes the search index of the vectors
        info = store.info()
    with closing(Catalogue(folder)) as catalogue:
        vectors = len(catalogue.vector_places())
    for name in () if info.dimension else ("dense", VECTORS):
        erase(folder / name)
    return Reembedded(before.embedder, info.embedder, info.documents, info.passages, vectors, made)


class _Waiting:
    """The new vectors until they take their place: rows of a file, and a table that says which text each is of.

    The table also holds the course of the work: up to which key of a passage it is done, over how many of them.
    """

    def __init__(self, catalogue: Catalogue, embedder: Embedder | None) -> None:
        self._catalogue = catalogue
        self._embedder = embedder
        self._languages = frozenset(embedder_languages(embedder))
        self._name, self._dimension = embedder_name(embedder)
        self._folder = catalogue.folder / FOLDER
        self._file = VectorFile(self._folder / "rows.f32", self._dimension)
        self.made = 0
        with self._explained():
            self._table = self._opened()
            self._rows: int = self._table.execute("SELECT rows FROM course").fetchone()[0]

    def close(self) -> None:
        """Closes the file; what was made stays."""
        self._table.close()

    def fill(self, progress: Progress | None) -> None:
        """Makes the vectors that are lacking, block by block, each made lasting before the next."""
        with self._explained():
            key, passages = self._table.execute("SELECT key, passages FROM course").fetchone()
        total = self._catalogue.stats().passages
        shown = self._catalogue.all_shown(key)
        while block := list(islice(shown, _BLOCK)):
            passages += len(block)
            texts = self._lacking(block)
            digests = sorted(texts, key=lambda digest: len(texts[digest]))
            if self._embedder is not None and texts:
                matrix = self._embedder.embed([texts[digest] for digest in digests])
                self._keep(digests, matrix)
            with self._explained():
                self._table.execute("UPDATE course SET key = ?, passages = ?", (block[-1].key, passages))
            if progress:
                progress(passages, max(total, passages), block[-1].passage.document_id)

    def take_place(self, progress: Progress | None) -> None:
        """Makes the new vectors those of the index, with those of what was added meanwhile; nobody writes then."""
        with _locked(self._catalogue.folder / LOCK_NAME):
            self.fill(progress)
            writer = CatalogueWriter(self._catalogue)
            name = next_file(self._catalogue.stats().vectors)
            with self._explained():
                self._bring(self._catalogue.folder / VECTORS / name)
            with writer.step():
                writer.renew_vectors(name, self._rows, self._places, self._name, self._dimension)
            writer.commit()
            erase(self._catalogue.folder / "dense")  # made anew when the index is opened

    def _opened(self) -> sqlite3.Connection:
        """The table; begun anew where it is of another embedder or index, or cannot be read."""
        self._folder.mkdir(exist_ok=True)
        path = self._folder / "rows.sqlite"
        try:
            return self._ready(path)
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError:  # it is no database any more
            erase(path)
            return self._ready(path)

    def _ready(self, path: Path) -> sqlite3.Connection:
        made_for = f"{self._catalogue.meta.identity} {self._name} {self._dimension}"
        table = connect(path)
        try:
            table.executescript(_TABLES)
            found = table.execute("SELECT made_for, rows FROM course").fetchone()
            if found is None or found[0] != made_for or (found[1] and self._file.rows() < found[1]):
                with transaction(table):
                    table.execute("DELETE FROM rows")
                    table.execute("DELETE FROM course")
                    table.execute("INSERT INTO course VALUES (?, 0, 0, 0)", (made_for,))
                erase(self._file.path)  # never written over: an index may have it under another name
        except BaseException:
            table.close()
            raise
        return table

    def _lacking(self, block: Iterable[Shown]) -> dict[bytes, str]:
        """The texts of a block that are to have a vector and have none, by hash."""
        wanted = (one.passage for one in block if not self._languages or one.passage.language in self._languages)
        texts = {text_hash(text): text for text in map(indexed_text, wanted)}
        known = self._known(list(texts))
        return {digest: text for digest, text in texts.items() if digest not in known}

    def _keep(self, digests: Sequence[bytes], matrix: "NDArray[np.float32]") -> None:
        sums = vector_sums(matrix).tolist()
        rows = [(digest, self._rows + n, total) for n, (digest, total) in enumerate(zip(digests, sums, strict=True))]
        with self._explained():
            self._file.write(self._rows, matrix)
            self._file.sync()
            with transaction(self._table):
                self._table.executemany("INSERT INTO rows VALUES (?, ?, ?)", rows)
                self._table.execute("UPDATE course SET rows = ?", (self._rows + len(rows),))
        self._rows += len(rows)
        self.made += len(rows)

    def _known(self, digests: Sequence[bytes]) -> dict[bytes, tuple[int, int]]:
        marks = ", ".join("?" * len(digests))
        query = f"SELECT text_hash, row, vector_sum FROM rows WHERE text_hash IN ({marks})"  # noqa: S608 (marks only)
        with self._explained():
            return {digest: (row, total) for digest, row, total in self._table.execute(query, digests)}

    def _places(self, some: Sequence[Shown]) -> list[tuple[int, int] | None]:
        digests = [text_hash(indexed_text(shown.passage)) for shown in some]
        known = self._known(list(dict.fromkeys(digests)))
        return [known.get(digest) for digest in digests]

    def _bring(self, place: Path) -> None:
        """Puts the file where the catalogue will name it; it stays here too, until that has been committed."""
        erase(place)
        if not self._rows:
            return
        place.parent.mkdir(exist_ok=True)
        try:
            os.link(self._file.path, place)
        except OSError:  # a file system without links
            shutil.copyfile(self._file.path, place)
            sync_file(place)
        sync_folder(place.parent)
        sync_folder(place.parent.parent)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """What the system says of the files, as ``StoreError``."""
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            raise StoreError(
                f"the new vectors could not be kept in {self._folder} ({error}); the index is as it was: see to that "
                "(is the disk full?), then run it again, and it goes on from there"
            ) from error


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    lock = WriterLock(path)
    lock.acquire()
    try:
        yield
    finally:
        lock.release()
