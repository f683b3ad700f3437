"""New vectors for all passages of an index folder, made beside the old ones and put in their place in one step.

One transaction of the catalogue names the new file and the new embedder; until it is committed the index is searched
as before, and nobody else writes. Whoever has the index open with the old embedder is told so afterwards.
"""

from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from selfright.domain.ports import Embedder, Tokenizer
from selfright.retrieval.catalogue import Catalogue
from selfright.retrieval.catalogue_file import LOCK_NAME
from selfright.retrieval.catalogue_writer import CatalogueWriter
from selfright.retrieval.maintenance import next_file, sweep_vectors
from selfright.retrieval.preparing import Preparer, embedder_name
from selfright.retrieval.stores.embedded import EmbeddedStore
from selfright.retrieval.vector_filler import Progress
from selfright.retrieval.vectors import FOLDER as VECTORS
from selfright.storage.files import WriterLock, erase

_BLOCK = 256  # passages in memory at a time


@dataclass(frozen=True, slots=True)
class ReembedReport:
    """What was done: where the index is, its embedder ``before`` and now, its figures."""

    location: str
    before: str
    embedder: str
    documents: int
    passages: int
    vectors: int


def reembed(
    folder: Path, tokenizer: Tokenizer, embedder: Embedder | None, progress: Progress | None = None
) -> ReembedReport:
    """Gives every passage of the index at ``folder`` a vector of ``embedder``; without one the vectors go.

    Ids, texts, terms, collections and facts stay. An index that has these vectors already stays as it is. Passages in
    a language that the embedder does not know get no vector. Memory holds one block of passages.

    Raises ``IndexNotFound``, ``NotAnIndex``, ``IncompatibleIndex`` (another tokenizer), ``IndexBusy`` when another
    process writes, and ``StoreError`` when the disk is full: then the index is as it was.
    """
    with closing(Catalogue(folder)) as catalogue, WriterLock(folder / LOCK_NAME):
        before = catalogue.meta
        before.check(folder, tokenizer.name, before.embedder, before.dimension)
        if embedder_name(embedder) != (before.embedder, before.dimension):
            _renew(catalogue, tokenizer, embedder, progress)
            erase(folder / "dense")  # made anew when the index is opened
        else:
            sweep_vectors(catalogue)  # the old file, where a run was killed at its very end
    with EmbeddedStore.open(folder, tokenizer, embedder) as store:
        store.fill(progress)  # what waited for its vector before
        info = store.info()
    with closing(Catalogue(folder)) as catalogue:
        vectors = len(catalogue.vector_places())
    for name in () if info.dimension else ("dense", VECTORS):
        erase(folder / name)
    return ReembedReport(str(folder), before.embedder, info.embedder, info.documents, info.passages, vectors)


def _renew(catalogue: Catalogue, tokenizer: Tokenizer, embedder: Embedder | None, progress: Progress | None) -> None:
    """Makes the file of new vectors and names it, in one transaction."""
    name, total, done = next_file(catalogue.stats().vectors), catalogue.stats().passages, 0
    erase(catalogue.vector_file(name).path)
    writer, preparer = CatalogueWriter(catalogue), Preparer(tokenizer, embedder)
    with writer.step():
        writer.begin_vectors(name, *embedder_name(embedder))
        rest = catalogue.all_shown()
        while block := list(islice(rest, _BLOCK)):
            writer.revector(block, preparer.places([one.passage for one in block], writer))
            done += len(block)
            if progress:
                progress(done, total, block[-1].passage.document_id)
    writer.commit()
