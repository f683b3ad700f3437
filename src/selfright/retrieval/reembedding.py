"""New vectors for all passages of an index folder, made beside the old ones and put in their place in one step.

One transaction of the catalogue names the new file and the new embedder; until it is committed the index is searched
as before, and nobody else writes. Whoever has the index open with the old embedder is told so afterwards.
"""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from selfright.domain.errors import StoreError
from selfright.domain.ports import Embedder, Tokenizer
from selfright.retrieval.catalogue import Catalogue
from selfright.retrieval.catalogue_file import LOCK_NAME
from selfright.retrieval.catalogue_writer import CatalogueWriter
from selfright.retrieval.files import erase, lock_file
from selfright.retrieval.maintenance import next_file, sweep_vectors
from selfright.retrieval.preparing import embedder_languages, embedder_name, text_hash, text_to_index
from selfright.retrieval.records import SearchRow, vector_sums
from selfright.retrieval.stores.embedded import EmbeddedStore
from selfright.retrieval.vectors import FOLDER as VECTORS
from selfright.retrieval.vectors import VectorFile

_BLOCK = 256  # passages in memory at a time

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class ReembedReport:
    """What was done: where the index is, its embedder ``before`` and now, its figures.

    ``dropped`` names the calibrations that went because they held for the embedder before.
    """

    location: str
    before: str
    embedder: str
    documents: int
    passages: int
    vectors: int
    dropped: tuple[str, ...] = ()


def reembed(
    folder: Path, tokenizer: Tokenizer, embedder: Embedder | None, progress: Progress | None = None
) -> ReembedReport:
    """Gives every passage of the index at ``folder`` a vector of ``embedder``; without one the vectors go.

    Ids, texts, terms, collections and facts stay. An index that has these vectors already stays as it is. Passages in
    a language that the embedder does not know get no vector. Memory holds one block of passages.

    Raises ``IndexNotFound``, ``NotAnIndex``, ``IncompatibleIndex`` (another tokenizer), ``IndexBusy`` when another
    process writes, and ``StoreError`` when the disk is full: then the index is as it was.
    """
    with closing(Catalogue(folder)) as catalogue, lock_file(folder / LOCK_NAME):
        before = catalogue.meta
        before.check(folder, tokenizer.name, before.embedder, before.dimension)
        if embedder_name(embedder) != (before.embedder, before.dimension):
            _renew(catalogue, embedder, progress)
            erase(folder / "dense")  # made anew when the index is opened
        else:
            sweep_vectors(catalogue)  # the old file, where a run was killed at its very end
    with EmbeddedStore.open(folder, tokenizer, embedder) as store:
        info = store.info()
    with closing(Catalogue(folder)) as catalogue:
        vectors = len(catalogue.vector_places())
    for name in () if info.dimension else ("dense", VECTORS):
        erase(folder / name)
    return ReembedReport(str(folder), before.embedder, info.embedder, info.documents, info.passages, vectors)


def _renew(catalogue: Catalogue, embedder: Embedder | None, progress: Progress | None) -> None:
    """Makes the file of new vectors and names it."""
    name, (made_by, dimension) = next_file(catalogue.stats().vectors), embedder_name(embedder)
    file = VectorFile(catalogue.vector_file(name).path, dimension)
    erase(file.path)
    with closing(_NewVectors(file, embedder)) as made:
        waiting, total, done = catalogue.all_shown(), catalogue.stats().passages, 0
        while block := list(islice(waiting, _BLOCK)):
            made.add(block)
            done += len(block)
            if progress:
                progress(done, total, block[-1].passage.document_id)
        made.sync()
        writer = CatalogueWriter(catalogue)
        with writer.step():
            writer.renew_vectors(name, made.rows, made.places, made_by, dimension)
        writer.commit()


class _NewVectors:
    """Writes vectors into ``file``, one for equal texts; a temporary table says which row each text has."""

    def __init__(self, file: VectorFile, embedder: Embedder | None) -> None:
        self._file, self._embedder = file, embedder
        self._languages = frozenset(embedder_languages(embedder))
        self._table = sqlite3.connect("")  # on disk once it is large, and gone when closed
        self._table.execute("CREATE TABLE rows (text_hash BLOB PRIMARY KEY, row, vector_sum) WITHOUT ROWID")
        self.rows = 0

    def close(self) -> None:
        """Drops the table."""
        self._table.close()

    def add(self, block: Sequence[SearchRow]) -> None:
        """Embeds the texts of a block that have no vector yet; those of one length go together."""
        if self._embedder is None:
            return
        known = self.places(block)
        texts = {
            text_hash(text): text
            for one, place in zip(block, known, strict=True)
            if place is None and (not self._languages or one.passage.language in self._languages)
            for text in (text_to_index(one.passage),)
        }
        if not texts:
            return
        digests = sorted(texts, key=lambda digest: len(texts[digest]))
        matrix = self._embedder.embed([texts[digest] for digest in digests])
        with self._explain_errors():
            self._file.write(self.rows, matrix)
        rows = zip(digests, range(self.rows, self.rows + len(digests)), vector_sums(matrix).tolist(), strict=True)
        self._table.executemany("INSERT INTO rows VALUES (?, ?, ?)", rows)
        self.rows += len(digests)

    def sync(self) -> None:
        """Makes what was written lasting."""
        with self._explain_errors():
            if self.rows:
                self._file.sync()

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StoreError(
                f"the new vectors could not be kept in {self._file.path} ({error}); the index is as it was: see to "
                "that (is the disk full?), then run it again"
            ) from error

    def places(self, some: Sequence[SearchRow]) -> list[tuple[int, int] | None]:
        """Row and checksum of each passage's vector, None for one without."""
        find = "SELECT row, vector_sum FROM rows WHERE text_hash = ?"
        digests = [text_hash(text_to_index(shown.passage)) for shown in some]
        return [self._table.execute(find, (digest,)).fetchone() for digest in digests]
