"""Adding files with a cluster: what a node embeds with, and where the index takes it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from selfright.domain.errors import InputError
from selfright.domain.passages import Origin
from selfright.domain.ports import Embedder, Tokenizer
from selfright.ingest.pipeline import Progress, Report, ingest
from selfright.ingest.ray_cluster import Embed, Embedding, EmbeddingWriter, RayCluster
from selfright.retrieval.preparing import embedder_languages, text_to_index
from selfright.retrieval.stores.opening import open_store
from selfright.wiring.networks import make_embedder
from selfright.wiring.open_index import OpenIndex

_ENTRY = f"{__name__}:embedding_of"


@dataclass(frozen=True, slots=True)
class BulkTarget:
    """An index to add to: where it is, and how its passages are prepared.

    ``encoder`` names the embedder for the nodes, which make their own; ``entry`` is what they make it with.
    """

    location: str | Path
    tokenizer: Tokenizer
    embedder: Embedder
    encoder: str
    entry: str = _ENTRY


def add_on(
    ray: str,
    index: OpenIndex,
    paths: Sequence[Path],
    collection: str,
    progress: "Progress | None",
    origin: Origin,
) -> "Report":
    """Reads, splits and indexes files, with their vectors made on the cluster at that address.

    Raises ``InputError`` where nodes cannot make the index's embedder.
    """
    if index.embedder is None or index.overrides.embeddings is not None:
        why = "has none" if index.embedder is None else "was given an object instead"
        raise InputError(f"a cluster embeds with an embedder that the settings name, and this index {why}; add it here")
    place = BulkTarget(index.settings.index, index.tokenizer, index.embedder, index.settings.embedder)
    with RayCluster(ray) as cluster:
        return add_to(cluster, place, paths, collection, progress, origin)


def add_to(
    cluster: RayCluster,
    place: BulkTarget,
    paths: Sequence[Path],
    collection: str,
    progress: Progress | None = None,
    origin: Origin = "index",
) -> Report:
    """``ingest`` with the vectors made on ``cluster``, which has been entered; the same documents and passages.

    Commits as it goes: broken off, the next run goes on behind the last commit.
    """
    languages = embedder_languages(place.embedder)
    embedding = Embedding(
        place.entry,
        place.encoder,
        here=lambda texts: np.asarray(place.embedder.embed(texts), dtype=np.float32),
        text=text_to_index,
        embeds=lambda passage: not languages or passage.language in languages,
    )
    with (
        open_store(place.location, place.tokenizer, place.embedder, create=True) as store,
        EmbeddingWriter(store, cluster, embedding) as writer,
    ):
        report = ingest(paths, writer, store, collection, progress, origin, cluster.batch)
        writer.finish()
    return report


def embedding_of(encoder: str) -> Embed:
    """A node's side: the same embedder again, on the one core that a task is given."""
    embedder = make_embedder(encoder, threads=1)
    return lambda texts: np.asarray(embedder.embed(texts), dtype=np.float32)
