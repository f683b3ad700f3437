"""An index's documents coming in from files of another program, and going out into such files."""

from pathlib import Path
from typing import TYPE_CHECKING

from selfright.domain.errors import UsageError
from selfright.domain.ports import Embedder
from selfright.domain.stores import Store
from selfright.ingest.exporting import ExportReport, VectorFormat, export, records_of
from selfright.ingest.importing import Import
from selfright.retrieval.faiss_files import FaissVectors, FlatFaissFile

if TYPE_CHECKING:
    from selfright.ingest.pipeline import Progress


def checked_import(corpus: Path, faiss: Path | None, meta: Path | None, embedder: Embedder | None) -> Import:
    """An import of an index made elsewhere; without ``faiss`` of its texts alone."""
    return Import(corpus, meta, FaissVectors(faiss) if faiss else None, embedder)


def write_out(
    store: Store, folder: Path, *, passages: bool, vectors: bool, force: bool, progress: "Progress | None"
) -> ExportReport:
    """Writes the documents, or passages, in BEIR's layout; with their vectors where wanted."""
    info = store.info()
    if vectors and not info.dimension:
        raise UsageError("this index is searched by words alone and has no vectors to write; leave out --vectors")
    form = VectorFormat(lambda path: FlatFaissFile(path, info.dimension), info.dimension) if vectors else None
    records = records_of(store, passages=passages, vectors=vectors)
    return export(
        records, folder, passages=passages, vectors=form, force=force, progress=progress, total=info.documents
    )
