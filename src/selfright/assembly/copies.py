"""An index copied into another, whichever engines keep the two."""

import json
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from selfright.domain.ports import Embedder, Tokenizer
from selfright.domain.stores import Store
from selfright.ingest.comparing import Tolerance
from selfright.ingest.copying import CopyReport, Origin, check_apart, copy_store
from selfright.retrieval.catalogue import Catalogue
from selfright.retrieval.files import read_json, write_atomically
from selfright.retrieval.locations import Location, locate
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
