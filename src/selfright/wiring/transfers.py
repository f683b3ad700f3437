"""An index given another embedder's vectors, in its place or in another one."""

from pathlib import Path
from typing import TYPE_CHECKING

from selfright.domain.errors import NotAnIndex, UsageError
from selfright.domain.ports import Embedder, Tokenizer
from selfright.domain.stores import Store
from selfright.retrieval import reembedding
from selfright.retrieval.locations import format_location, locate
from selfright.retrieval.preparing import embedder_name
from selfright.retrieval.reembedding import ReembedReport
from selfright.retrieval.schema import ExistingEmbedder
from selfright.retrieval.stores.opening import open_store

if TYPE_CHECKING:
    from selfright.ingest.pipeline import Progress

_BATCH = 256  # passages that are embedded and put at a time


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
        return reembedding.reembed(place.path, tokenizer, embedder, progress)
    with open_store(location, tokenizer, ExistingEmbedder(lambda: embedder)) as source:
        info, (name, dimension) = source.info(), embedder_name(embedder)
        if (info.embedder, info.dimension) == (name, dimension):
            raise UsageError(f"{place.shown} has vectors of {name} already; for a second one use export and import")
        with open_store(to, tokenizer, embedder, create=True) as target:
            vectors = _build(source, target, progress)
    return ReembedReport(format_location(to), info.embedder, name, info.documents, info.passages, vectors)


def _build(source: Store, target: Store, progress: "Progress | None") -> int:
    """Puts all that ``source`` holds into the empty ``target``, which embeds it; how many vectors that made.

    One commit makes it visible. Raises ``NotAnIndex`` where the target holds documents.
    """
    if target.info().documents:
        raise NotAnIndex(f"{target.info().location} holds documents already; name an empty place with --to")
    total, batch, waiting = source.info().documents, [], 0
    try:
        for done, info in enumerate(source.documents(), start=1):
            document = source.document(info.id)
            if document is None:
                continue  # removed meanwhile
            batch.append((document, source.passages_of(info.id)))
            waiting += info.passages
            if waiting >= _BATCH:
                target.put(batch)
                batch, waiting = [], 0
            if progress:
                progress(done, max(total, done), info.id)
        target.put(batch)
        target.commit()
    except BaseException:
        target.discard()
        raise
    for collection in source.collections():
        if collection.description or collection.classes or collection.slots:
            target.describe(collection)
    return sum(len(target.vectors_of(info.id)) for info in target.documents())
