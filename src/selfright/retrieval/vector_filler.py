"""Makes missing vectors in batches; until then, their passages are found by words only.

The catalogue lists what waits. A batch is embedded without the writer's lock and committed by itself, so whatever stops
the work costs one batch at most, and the next process goes on from the list.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from selfright.domain.errors import IndexBusy
from selfright.domain.ports import Embedder
from selfright.retrieval.catalogue import Catalogue
from selfright.retrieval.preparing import text_hash, text_to_index
from selfright.retrieval.records import SearchRow
from selfright.storage.files import WriterLock

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LOCK_NAME = "embedder.lock"
_BATCH = 256  # passages between two commits
_COMMIT_S = 10.0
_SLICE = 16  # texts; between them the work can be broken off
_REST_S = 0.2
_PATIENCE_S = 600.0

Progress = Callable[[int, int, str], None]
Keep = Callable[[Sequence[SearchRow], "Mapping[bytes, NDArray[np.float32]]"], None]


class VectorFiller:
    """Makes the vectors that passages of ``catalogue`` wait for; ``keep`` stores and commits those of a batch.

    One process at a time embeds; others wait for it, and take over when it ends early.
    """

    def __init__(self, catalogue: Catalogue, embedder: Embedder, keep: Keep) -> None:
        self._catalogue, self._embedder, self._keep = catalogue, embedder, keep
        self._lock = WriterLock(catalogue.folder / LOCK_NAME)

    def run(self, progress: Progress | None, stop: Callable[[], bool]) -> int:
        """Works until nothing waits or ``stop`` says so; returns how many still wait. ``progress`` counts passages."""
        total = left = self._catalogue.stats().waiting

        def tell(done: int, name: str = "") -> None:
            if progress:
                progress(max(0, total - left + done), total, name)

        while left and not stop():
            tell(0)
            try:
                self._lock.acquire()
            except IndexBusy:
                time.sleep(_REST_S)
            else:
                try:
                    self._batch(tell, stop)
                finally:
                    self._lock.release()
            left = self._catalogue.stats().waiting
            total = max(total, left)
        if total:
            tell(0)
        return left

    def _batch(self, tell: Callable[[int, str], None], stop: Callable[[], bool]) -> None:
        """Embeds some passages that wait: texts of one length together, so that little is spent on padding."""
        waiting = self._catalogue.first_waiting(_BATCH)
        texts = {shown.key: text_to_index(shown.passage) for shown in waiting}
        waiting.sort(key=lambda shown: len(texts[shown.key]))
        vectors: dict[bytes, NDArray[np.float32]] = {}
        done, until = 0, time.monotonic() + _COMMIT_S
        while done < len(waiting) and time.monotonic() < until and not stop():
            some = [texts[shown.key] for shown in waiting[done : done + _SLICE]]
            vectors.update(zip(map(text_hash, some), self._embedder.embed(some), strict=True))
            done += len(some)
            tell(done, waiting[done - 1].passage.document_id)
        self._store(waiting[:done], vectors, stop)

    def _store(
        self, some: Sequence[SearchRow], vectors: "Mapping[bytes, NDArray[np.float32]]", stop: Callable[[], bool]
    ) -> None:
        """Stores the vectors as soon as nobody else writes; drops them if ``stop`` says so before.

        Raises ``IndexBusy`` for a writer that does not end, which may be the caller's own change.
        """
        until = time.monotonic() + _PATIENCE_S
        while some:
            try:
                return self._keep(some, vectors)
            except IndexBusy:
                if stop():
                    return None
                if time.monotonic() > until:
                    raise
                time.sleep(_REST_S)
        return None
