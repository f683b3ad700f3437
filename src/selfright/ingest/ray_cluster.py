"""Passages embedded on a Ray cluster: whatever happens to a node, its tasks get done.

Tasks and results travel by Ray's own serialisation: connect to clusters that you trust. Every node needs the same
version of this package; keys of providers are each node's own and never sent.

What is stored is what ``ingest`` stores without a cluster: names, replacements and what is unchanged are decided here,
in the order of the files, so that a document goes in once however often its task was tried.
"""

import importlib
import logging
import os
import socket
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import metadata
from typing import Any

import numpy as np
from numpy.typing import NDArray

from selfright.domain.errors import MissingExtra, StoreError
from selfright.domain.passages import Document, Passage
from selfright.domain.stores import Store

log = logging.getLogger(__name__)

LOCAL = "local"
_RETRIES = 3  # by Ray, where a worker or a node was lost; after that the task is done here
_STRATEGY = "SPREAD"  # with Ray's own, tasks of seconds wait at a busy node for up to 17 s while another one is idle
_PATIENCE_S = 1_800.0
_HELLO_S = 120.0
_KNOCK_S = 10.0
_PART = 128  # passages that are embedded in one task; with 64, the encoder pads more and takes a tenth longer
_PARTS_A_CORE = 2  # of a batch, so that no core waits for another
_MOST_PARTS = 256  # of a batch; enough for a hundred cores, and some 100 MB
# It does not call home, and workers of one's own get what this process would get, not what is left.
_OPTIONS = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0", "RAY_worker_niceness": "0"}

Embed = Callable[[Sequence[str]], NDArray[np.float32]]


class RayCluster:
    """A connection to the cluster at ``address``, used as a context manager.

    ``local`` starts one on this machine's cores and ends it afterwards, ``auto`` finds the one that this machine
    belongs to, ``host:port`` is a head node's. Raises ``MissingExtra`` without Ray, ``StoreError`` when nothing answers
    there or the nodes have another version of this package.
    """

    def __init__(self, address: str = LOCAL) -> None:
        self._address, self._ray, self._is_ours = address, _ray(), False

    def __enter__(self) -> "RayCluster":
        if not self._ray.is_initialized():
            self._connect()
        try:
            self._greet()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Lets go of the cluster; one that was started here ends."""
        if self._is_ours:
            self._is_ours = False
            self._ray.shutdown()

    @property
    def batch(self) -> int:
        """How many passages keep all cores busy."""
        cores = int(self._ray.cluster_resources().get("CPU", 1))
        return _PART * min(_PARTS_A_CORE * cores, _MOST_PARTS)

    @cached_property
    def _embed(self) -> Any:
        return self._ray.remote(max_retries=_RETRIES, num_cpus=1, scheduling_strategy=_STRATEGY)(embed_there)

    def submit(self, entry: str, encoder: str, texts: Sequence[str]) -> Any:
        """Has texts embedded by what ``entry`` (``module:function``) makes of ``encoder`` once in each process.

        What comes back stands for the result.
        """
        return self._embed.remote([os.path.abspath(place) for place in sys.path], entry, encoder, texts)

    def result(self, reference: Any, texts: Sequence[str], here: Embed) -> NDArray[np.float32]:
        """Waits for it; ``here`` does a task that raised an error, or ended the workers that tried it."""
        try:
            found: NDArray[np.float32] = self._ray.get(reference, timeout=_PATIENCE_S)
        except self._ray.exceptions.RayTaskError as error:
            log.warning("a task failed on the cluster (%s); it is done in this process", type(error.cause).__name__)
            return here(texts)
        except self._ray.exceptions.RayError as error:
            log.warning("the cluster lost a task %d times (%s)", _RETRIES + 1, type(error).__name__)
            self.cancel([reference])
            return here(texts)
        return found

    def cancel(self, references: Iterable[Any]) -> None:
        """Gives up tasks."""
        for reference in references:
            self._ray.cancel(reference, force=True)

    def _connect(self) -> None:
        options = {"include_dashboard": False} if self._address == LOCAL else {}
        try:
            host, colon, port = self._address.removeprefix("ray://").rpartition(":")
            if colon and port.isdecimal():  # Ray itself would try for minutes
                socket.create_connection((host.strip("[]"), int(port)), _KNOCK_S).close()
            self._ray.init(self._address, log_to_driver=False, logging_level=logging.ERROR, **options)
        except (OSError, RuntimeError, ValueError) as error:
            raise StoreError(
                f"no Ray cluster answers at '{self._address}' ({' '.join(str(error).split())[:200]}); start one with "
                "'ray start --head', or use this machine's cores with --ray local"
            ) from error
        self._is_ours = True

    def _greet(self) -> None:
        """Asks one node for its version, so that nothing is prepared by another one's rules."""
        ours = metadata.version("selfright")
        try:
            asked = self._ray.remote(num_cpus=1)(metadata.version).remote("selfright")
            theirs = self._ray.get(asked, timeout=_HELLO_S)
        except self._ray.exceptions.RayError as error:
            theirs = f"{type(error).__name__} instead"
        if theirs != ours:
            raise StoreError(
                f"the nodes of the Ray cluster at '{self._address}' should have selfright {ours}, as this machine, but "
                f"have {theirs}; install it on all of them with what the index needs, and leave a core free"
            )


def embed_there(path: list[str], entry: str, encoder: str, texts: Sequence[str]) -> NDArray[np.float32]:
    """On a node, in a worker's process, which keeps what the entry made for the next task."""
    sys.path += [place for place in path if place not in sys.path and os.path.isdir(place)]
    return _embedder_of(entry, encoder)(texts)


@lru_cache(maxsize=4)
def _embedder_of(entry: str, encoder: str) -> Embed:
    module, name = entry.split(":")
    make: Callable[[str], Embed] = getattr(importlib.import_module(module), name)
    return make(encoder)


def _ray() -> Any:
    for name, value in _OPTIONS.items():
        os.environ.setdefault(name, value)
    return MissingExtra.load("Ray, which spreads the work over machines,", "ray", "ray")


_Documents = Sequence[tuple[Document, Sequence[Passage]]]


@dataclass(frozen=True, slots=True)
class Embedding:
    """How passages get their vectors: ``entry`` makes of ``encoder``, on a node, what ``here`` does in this process.

    ``text`` is what is embedded of a passage, ``embeds`` whether it gets a vector.
    """

    entry: str
    encoder: str
    here: Embed
    text: Callable[[Passage], str]
    embeds: Callable[[Passage], bool]


class EmbeddingWriter:
    """A writer that has each batch embedded on ``cluster``, and meanwhile puts the one before it into ``store``."""

    def __init__(self, store: Store, cluster: RayCluster, embedding: Embedding) -> None:
        self._store, self._cluster, self._embedding = store, cluster, embedding
        self._batch: _Documents = ()
        self._parts: list[tuple[Any, list[Passage], list[str]]] = []
        self._commits = False

    def __enter__(self) -> "EmbeddingWriter":
        return self

    def __exit__(self, *_: object) -> None:
        """Gives up what is still on its way."""
        self._cluster.cancel(reference for reference, _, _ in self._parts)

    def put(self, batch: _Documents) -> None:
        """Sends the passages out, and stores those that were sent before."""
        how = self._embedding
        chosen = [passage for _, passages in batch for passage in passages if how.embeds(passage)]
        parts = []
        for start in range(0, len(chosen), _PART):
            some = chosen[start : start + _PART]
            texts = list(map(how.text, some))
            parts.append((self._cluster.submit(how.entry, how.encoder, texts), some, texts))
        self._settle()
        self._batch, self._parts = batch, parts

    def remove(self, document_ids: Sequence[str]) -> list[str]:
        """Removes documents, after all that was put before."""
        self._settle()
        return self._store.remove(document_ids)

    def commit(self) -> None:
        """Commits what was put so far, once it is ready; the work goes on meanwhile."""
        self._commits = True

    def finish(self) -> None:
        """Waits for everything and commits."""
        self._settle()
        self._store.commit()

    def _settle(self) -> None:
        """Stores the batch that is on its way."""
        vectors: dict[str, NDArray[np.float32]] = {}
        for reference, passages, texts in self._parts:
            rows = self._cluster.result(reference, texts, self._embedding.here)
            vectors.update(zip((passage.id for passage in passages), rows, strict=True))
        if self._batch:
            self._store.put(self._batch, vectors=vectors or None)
        self._batch, self._parts = (), []
        if self._commits:
            self._store.commit()
            self._commits = False
