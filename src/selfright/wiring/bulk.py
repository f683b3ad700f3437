"""Adding files with a cluster: what a node prepares, and where the index takes it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from selfright.domain.passages import Origin
from selfright.domain.ports import Embedder, Tokenizer
from selfright.ingest.bulk import Prepared, PreparedAhead, Preparing
from selfright.ingest.pipeline import Progress, Report, ingest
from selfright.ingest.ray_cluster import RayCluster
from selfright.retrieval.preparing import PretokenizedQuery, embedder_languages, join_all, setup_of, text_to_index, work
from selfright.retrieval.stores.opening import open_store
from selfright.wiring.encoders import make_embedder
from selfright.wiring.open_index import OpenIndex

_ENTRY = f"{__name__}:prepare"


@dataclass(frozen=True, slots=True)
class BulkTarget:
    """An index to add to: where it is, and how its passages are prepared.

    ``encoder`` names the embedder for the nodes, which make their own; None has passages embedded in this process, for
    an embedder that was handed over as an object. ``entry`` is what the nodes run.
    """

    location: str | Path
    tokenizer: Tokenizer
    embedder: Embedder | None
    encoder: str | None
    entry: str = _ENTRY


def add_on(
    ray: str,
    index: OpenIndex,
    paths: Sequence[Path],
    collection: str,
    progress: "Progress | None",
    origin: Origin,
) -> "Report":
    """Reads, splits and indexes files on the cluster at that address."""
    encoder = None if index.overrides.embeddings is not None else index.settings.embedder
    place = BulkTarget(index.settings.index, index.tokenizer, index.embedder, encoder)
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
    """``ingest`` with the work done on ``cluster``, which has been entered; the same documents, passages and vectors.

    Commits as it goes: broken off, the next run goes on behind the last commit.
    """
    terms = PretokenizedQuery(place.tokenizer)
    languages = embedder_languages(place.embedder)
    sent = place.embedder is not None and place.encoder is not None
    setup = {"tokenizer": setup_of(place.tokenizer), "encoder": place.encoder if sent else None}
    preparing = Preparing(
        here=_make_preparer(partial(join_all, place.tokenizer), place.embedder),
        text=text_to_index,
        embeds=lambda passage: sent and (not languages or passage.language in languages),
        learn=terms.learn,
    )
    with (
        open_store(place.location, terms, place.embedder, create=True) as store,
        PreparedAhead(store, preparing, cluster.workers(place.entry, setup)) as writer,
    ):
        report = ingest(paths, writer, store, collection, progress, origin=origin)
        writer.finish()
    return report


def prepare(setup: dict[str, Any]) -> Callable[[dict[str, Any]], Prepared]:
    """A node's side: the same tokenizer and embedder again, the latter on the one core that a task is given."""
    embedder = make_embedder(setup["encoder"], threads=1) if setup["encoder"] else None
    return _make_preparer(work(setup["tokenizer"]), embedder)


def _make_preparer(
    tokenize: Callable[[list[str]], list[str]], embedder: Embedder | None
) -> Callable[[dict[str, Any]], Prepared]:
    def do(task: dict[str, Any]) -> Prepared:
        texts = task["texts"]
        chosen = [texts[place] for place in task["embedded"]]
        matrix = np.asarray(embedder.embed(chosen), dtype=np.float32) if embedder and chosen else None
        return tokenize(texts), matrix

    return do
