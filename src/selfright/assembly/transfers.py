"""An index taken elsewhere: copied, given another embedder's vectors, or exchanged with other programs' files."""

import json
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from selfright.domain.errors import UsageError
from selfright.domain.ports import Embedder, Tokenizer
from selfright.domain.stores import Store
from selfright.ingest.comparing import Tolerance
from selfright.ingest.copying import CopyReport, Origin, check_apart, copy_store
from selfright.ingest.exporting import ExportReport, VectorFormat, export, records_of
from selfright.ingest.importing import Import
from selfright.retrieval import reembedding
from selfright.retrieval.catalogue import Catalogue
from selfright.retrieval.faiss_files import FaissVectors, FlatFaissFile
from selfright.retrieval.files import read_json, write_atomically
from selfright.retrieval.locations import Location, locate, shown
from selfright.retrieval.preparing import embedder_name
from selfright.retrieval.schema import AsMade
from selfright.retrieval.stores.opening import open_store

if TYPE_CHECKING:
    from selfright.ingest.pipeline import Progress

ORIGIN = "copy-of.json"

# What engines may differ by. Both databases keep whole vectors; BM25 is the same formula everywhere, but lengths of
# passages and the nearest vectors are approximated by some.
_ROUNDED = {"embedded": 0.0, "milvus": 1e-6, "postgres": 1e-6}
_APPROXIMATE, _OTHER_ENGINE = 0.9, 0.8


class _Notes(Protocol):
    """A store that keeps a few texts about itself."""

    def note(self, name: str) -> str | None:
        """The text called ``name``."""
        ...

    def keep_note(self, name: str, text: str) -> None:
        """Keeps it, lastingly."""
        ...


def copy_index(
    source: Store,
    location: str | Path,
    to: str | Path,
    tokenizer: Tokenizer,
    embedder: Embedder | None,
    into: bool = False,
    progress: "Progress | None" = None,
    *,
    anew: bool = False,
) -> CopyReport:
    """Copies the open index ``source``, kept at ``location``, to the place ``to``; see ``copy_store``."""
    here, there = locate(location), locate(to)
    check_apart(_where(here), _where(there))
    with open_store(to, tokenizer, embedder, create=True) as target:
        return copy_store(
            source,
            target,
            _name(source, here),
            _origin(target, there),
            into=into,
            anew=anew,
            tolerance=_tolerance(source, here, target, there),
            progress=progress,
        )


def _where(place: Location) -> str:
    return str(place.path.resolve()) + f"#{place.name}" if place.path else place.shown


def _name(source: Store, place: Location) -> str:
    """What the index is called for good, wherever a folder is moved."""
    if place.engine == "embedded" and place.path:
        with closing(Catalogue(place.path)) as catalogue:
            return f"index {catalogue.meta.identity}"
    return str(getattr(source, "identity", "") or place.shown)


class _FolderOrigin:
    """Kept in a file of the target's folder, and so gone when the index is."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / ORIGIN

    def read(self) -> str | None:
        found = read_json(self._path)
        return str(found["source"]) if found and "source" in found else None

    def write(self, name: str) -> None:
        write_atomically(self._path, json.dumps({"source": name}).encode())


class _NoteOrigin:
    """Kept by the store itself."""

    def __init__(self, notes: _Notes) -> None:
        self._notes = notes

    def read(self) -> str | None:
        return self._notes.note("copy-of")

    def write(self, name: str) -> None:
        self._notes.keep_note("copy-of", name)


def _origin(target: object, place: Location) -> Origin | None:
    if place.engine == "embedded" and place.path:
        return _FolderOrigin(place.path)
    return _NoteOrigin(target) if hasattr(target, "note") and hasattr(target, "keep_note") else None


def _tolerance(source: Store, here: Location, target: Store, there: Location) -> Tolerance:
    rounded = max(_ROUNDED[here.engine], _ROUNDED[there.engine])
    if here.engine != there.engine:
        return Tolerance(rounded, _OTHER_ENGINE)
    exact = {source.info().dense_kind, target.info().dense_kind} <= {"exact", "none"}
    return Tolerance(rounded, 1.0 if exact and here.engine == "embedded" else _APPROXIMATE)


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
    location: str | Path,
    to: str | None,
    tokenizer: Tokenizer,
    embedder: Embedder | None,
    progress: "Progress | None" = None,
) -> ReembedReport:
    """Gives the passages of the index at ``location`` vectors of ``embedder``, in the place ``to`` where one is named.

    Raises ``UsageError`` without ``to`` for an index that is kept by an engine, and with it where there is no other
    embedder.
    """
    place = locate(location)
    if to is None:
        if place.engine != "embedded" or place.path is None:
            raise UsageError(
                f"{place.shown} is kept by its engine, where new vectors cannot take the place of the old ones at "
                "once: name a place for the index with new vectors with --to, and use that one afterwards"
            )
        done = reembedding.reembed(place.path, tokenizer, embedder, progress)
        return ReembedReport(place.shown, done.before, done.embedder, done.documents, done.passages, done.vectors)
    with open_store(location, tokenizer, AsMade(lambda: embedder)) as source:
        info, (name, dimension) = source.info(), embedder_name(embedder)
        if (info.embedder, info.dimension) == (name, dimension):
            raise UsageError(
                f"{place.shown} has vectors of {name} already; copy it as it is with: selfright index copy"
            )
        copied = copy_index(source, location, to, tokenizer, embedder, progress=progress, anew=True)
    return ReembedReport(shown(to), info.embedder, name, copied.documents, copied.passages, copied.vectors)


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
