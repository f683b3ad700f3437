"""An index given the vectors of another embedder: a folder where it lies, any index in another place."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from selfright.assembly.copies import copy_index
from selfright.domain.errors import UsageError
from selfright.domain.ports import Embedder, Tokenizer
from selfright.retrieval import reembedding
from selfright.retrieval.locations import locate, shown
from selfright.retrieval.preparing import embedder_name
from selfright.retrieval.schema import AsMade
from selfright.retrieval.stores.opening import open_store

if TYPE_CHECKING:
    from selfright.ingest.pipeline import Progress


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
