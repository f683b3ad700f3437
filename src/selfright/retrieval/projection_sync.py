"""The search indexes of one catalogue, kept up with it together."""

import logging
from collections.abc import Iterator, Sequence
from typing import Any

from selfright.domain.errors import IndexDamaged
from selfright.domain.stores import Finding
from selfright.retrieval import upkeep
from selfright.retrieval.catalogue import Catalogue
from selfright.retrieval.catalogue_writer import CatalogueWriter
from selfright.retrieval.projection import Projection, catch_up, is_current

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
                    f"{upkeep.lost_commits(projection, self._catalogue)}; restore it from a backup, "
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
        upkeep.sweep_vectors(self._catalogue)

    def sync_where_possible(self) -> None:
        """``sync``; where nothing can be written, they are searched as of the commit that they know."""
        try:
            self.sync()
        except OSError as error:
            if not self.usable:
                raise
            log.warning("what was committed last in %s cannot be found yet (%s)", self._catalogue.folder, error)

    def findings(self) -> Iterator[Finding]:
        """What is wrong with their files."""
        for projection in self._projections:
            yield from upkeep.check_projection(projection, self._catalogue)
