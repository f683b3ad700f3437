"""A store: all that is asked of what keeps an index, in one protocol, and what one of them can beyond the core."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self

from selfright.domain.passages import Document, Passage
from selfright.domain.ports import Documents, Library, Retriever, TermStatistics, Writer
from selfright.domain.routing import Collection

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Abilities:
    """What an engine can, of what not every engine can; the conformance suite asks for what is declared here."""

    atomic: bool = True
    """A commit that is cut off anywhere happened wholly or not at all."""
    single_writer: bool = True
    """A second writer gets ``IndexBusy`` instead of being mixed with the first."""
    history_free: bool = True
    """An index grown in any steps ranks like one built at once, to the last tie."""
    upkeep: bool = True
    """``verify`` and ``compact``; elsewhere they are the engine's own business."""

    @property
    def missing(self) -> tuple[str, ...]:
        """The names of what it cannot."""
        return tuple(name for name in self.__slots__ if not getattr(self, name))


class Contents(Documents, Protocol):
    """Reads all of the stored documents, vectors too."""

    def passages_of(self, document_id: str) -> list[Passage]:
        """A document's passages in reading order."""

    def vectors_of(self, document_id: str) -> "Mapping[str, NDArray[np.float32]]":
        """The vectors of a document's passages by passage id, of those that have one."""


class Store(Retriever, Contents, Library, Writer, TermStatistics, AbstractContextManager["Store"], Protocol):
    """All ports of a store at once, and what looking after one needs."""

    @property
    def abilities(self) -> Abilities:
        """What it can beyond the core."""

    def collections(self) -> list[Collection]:
        """The named parts, those that have documents and those that were described."""

    def describe(self, collection: Collection) -> None:
        """Keeps what the operator says of a collection; joins what is uncommitted, and commits."""

    def put(
        self,
        batch: Sequence[tuple[Document, Sequence[Passage]]],
        vectors: "Mapping[str, NDArray[np.float32]] | None" = None,
    ) -> None:
        """Adds or replaces documents; ``vectors`` are unit vectors by passage id, what is not among them is embedded.

        Raises ``InputError`` for a passage that is not part of its document, ``IndexBusy`` when another writes;
        nothing of the batch is kept then.
        """

    def discard(self) -> None:
        """Forgets what was put and removed since the last commit."""

    def close(self) -> None:
        """Lets go of files and connections; what was not committed is dropped."""

    def __enter__(self) -> Self: ...


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong with a file of an index, in words; ``mended`` tells whether it was put right."""

    file: str
    problem: str
    mended: bool = False
