"""Looking after an index: everything is read, checked and mended; the search indexes follow the catalogue."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from selfright.domain.errors import IndexDamaged, StoreError
from selfright.domain.stores import Finding
from selfright.retrieval.catalogue import Catalogue
from selfright.retrieval.catalogue_writer import CatalogueWriter
from selfright.retrieval.preparing import text_to_index
from selfright.retrieval.projection import NotWritten, Projection, catch_up, is_current
from selfright.storage.files import erase
from selfright.storage.sqlite import connect

_MOST_FINDINGS = 100


def check_catalogue(catalogue: Catalogue) -> Iterator[Finding]:
    """What is wrong with the records; all of them are read. At most a hundred findings."""
    problems = _record_problems(catalogue)
    for number, problem in enumerate(problems):
        if number == _MOST_FINDINGS:
            yield Finding(catalogue.path.name, f"more than {_MOST_FINDINGS} records are damaged")
            return
        yield Finding(catalogue.path.name, problem)


def _record_problems(catalogue: Catalogue) -> Iterator[str]:
    try:
        with catalogue.connections.reading() as connection:
            for (message,) in connection.execute(f"PRAGMA integrity_check({_MOST_FINDINGS})").fetchall():
                if message != "ok":
                    yield f"its structure is broken: {message}"
    except StoreError as error:
        yield str(error)
        return
    for read in (_read_documents, _read_passages):
        try:
            yield from read(catalogue)
        except StoreError as error:
            yield str(error)


def _read_documents(catalogue: Catalogue) -> Iterator[str]:
    stats, counted = catalogue.stats(), 0
    for information in catalogue.documents():
        counted += 1
        try:
            catalogue.document(information.id)
            catalogue.passages_of(information.id)
        except IndexDamaged as error:
            yield str(error)
    if counted != stats.documents:
        yield f"{stats.documents:,} documents are listed but {counted:,} were found"


def _read_passages(catalogue: Catalogue) -> Iterator[str]:
    counted = sum(1 for _ in catalogue.all_entries())
    if counted != catalogue.stats().passages:
        yield f"{catalogue.stats().passages:,} passages are listed but {counted:,} were found"
    waiting = catalogue.stats().waiting
    if waiting and len(catalogue.first_waiting(waiting + 1)) != waiting:
        yield f"the list of the {waiting:,} passages that wait for their vectors is not whole"


def check_vectors(catalogue: Catalogue) -> list[Finding]:
    """What is wrong with the file of vectors."""
    if not catalogue.meta.dimension:
        return []
    vectors, places = catalogue.vectors(), catalogue.vector_places()
    bad = int((~vectors.intact(places[:, 2], places[:, 3])).sum())
    return [Finding(f"vectors/{vectors.path.name}", f"{bad:,} of {len(places):,} vectors are damaged")] if bad else []


def mend_vectors(catalogue: Catalogue, writer: CatalogueWriter, embed: Callable[[list[str]], Any]) -> None:
    """Embeds the passages anew whose vectors are damaged. The caller commits."""
    places = catalogue.vector_places()
    bad = places[~catalogue.vectors().intact(places[:, 2], places[:, 3])][:, 0].tolist()
    for start in range(0, len(bad), 256):
        shown = catalogue.search_rows(bad[start : start + 256])
        rows = writer.append(embed([text_to_index(found.passage) for found in shown.values()]))
        writer.revector(shown.values(), rows)


def check_projection(projection: Projection[Any], catalogue: Catalogue) -> Iterator[Finding]:
    """What is wrong with the files of a search index."""
    for problem in projection.check():
        yield Finding(projection.name, problem)
    state = projection.state
    if state is not None and state.sequence > catalogue.sequence():
        yield Finding(projection.name, describe_lost_commits(projection, catalogue))


def describe_lost_commits(projection: Projection[Any], catalogue: Catalogue) -> str:
    """What to say when a search index has seen commits that the catalogue no longer has."""
    seen = projection.state.sequence if projection.state else 0
    return (
        f"{catalogue.path} has lost its last commits: the {projection.name} index has seen change {seen:,}, "
        f"the catalogue ends at {catalogue.sequence():,}"
    )


def compact_vectors(catalogue: Catalogue, writer: CatalogueWriter) -> None:
    """Writes the vectors that are in use into a new file, unless nothing was wasted."""
    places, stats = catalogue.vector_places(), catalogue.stats()
    used, where = np.unique(places[:, 2], return_inverse=True)
    if len(used) == stats.rows:
        return
    name = next_file(stats.vectors)
    old, new = catalogue.vectors(stats.vectors), catalogue.vector_file(name)
    new.path.unlink(missing_ok=True)
    first = np.zeros(len(used), dtype=np.int64)
    first[where] = np.arange(len(places))
    ordered = places[first]
    for start, block in old.read_all(ordered[:, 2], ordered[:, 3]):
        new.write(start, block)
    if len(used):
        new.sync()
    writer.move_vectors(name, len(used), dict(zip(used.tolist(), range(len(used)), strict=True)))


def next_file(name: str) -> str:
    """What the file of vectors behind the one called ``name`` is called."""
    return f"rows-{int(name.partition('.')[0].rpartition('-')[2]) + 1}.f32"


def sweep_vectors(catalogue: Catalogue) -> None:
    """Erases files of vectors that the catalogue no longer names."""
    kept = catalogue.stats().vectors
    folder = catalogue.vector_file(kept).path.parent
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.name != kept:
            erase(path)


def vacuum(path: Path) -> None:
    """Gives unused space of the catalogue back."""
    with closing(connect(path)) as connection:
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


log = logging.getLogger(__name__)


class ProjectionSync:
    """All projections of a catalogue; only the holder of the writer's lock may ``sync`` them."""

    def __init__(self, catalogue: Catalogue, writer: CatalogueWriter, projections: Sequence[Projection[Any]]) -> None:
        self._catalogue = catalogue
        self._writer = writer
        self._projections = projections

    @property
    def current(self) -> bool:
        """Whether all are at the last commit and hold what they should."""
        return all(is_current(projection, self._catalogue) for projection in self._projections)

    @property
    def usable(self) -> bool:
        """Whether all can be searched, if not as of the last commit."""
        return all(projection.state is not None for projection in self._projections)

    def check_order(self) -> None:
        """Raises ``IndexDamaged`` when one has seen commits that the catalogue no longer has."""
        for projection in self._projections:
            state = projection.state
            if state is not None and state.sequence > self._catalogue.sequence():
                raise IndexDamaged(
                    f"{describe_lost_commits(projection, self._catalogue)}; restore it from a backup, "
                    "or go on with what is left: selfright index verify --repair"
                )

    def sync(self, *, anew: bool = False) -> None:
        """Brings all to the last commit; then the catalogue lets go of what was removed.

        One after the other, for each uses all cores by itself when there is much to do.
        """
        for projection in self._projections:
            projection.refresh()
            if anew:
                projection.rebuild(self._catalogue)
            catch_up(projection, self._catalogue)
        self._writer.forget(self._catalogue.sequence())
        sweep_vectors(self._catalogue)

    def sync_where_possible(self) -> None:
        """``sync``; where nothing can be written, they are searched as of the commit that they know."""
        try:
            self.sync()
        except (OSError, StoreError) as error:
            if self.current and not isinstance(error, IndexDamaged):
                return  # what was removed is still there, to be erased by the next writer
            if not self.usable or not isinstance(error, OSError | NotWritten):
                raise
            log.warning("what was committed last in %s cannot be found yet (%s)", self._catalogue.folder, error)

    def findings(self) -> Iterator[Finding]:
        """What is wrong with their files."""
        for projection in self._projections:
            yield from check_projection(projection, self._catalogue)
