"""Loading ahead: the networks an answer needs are read while the first turn still imports and opens.

Most of that runs without Python's lock, so it takes a second core instead of time. The Korean analyser is left to the
turn: it holds the lock while it loads, and nothing would go on beside it.
"""

import logging
import threading

from selfright.assembly.encoders import is_fitted, pair_views
from selfright.assembly.index import IndexService
from selfright.domain.errors import SelfrightError
from selfright.domain.ports import Embedder, PairJudge

log = logging.getLogger(__name__)


class Preload:
    """Loads the encoder of an index and, with ``reads``, the reader that ships; once."""

    def __init__(self, index: IndexService, *, reads: bool) -> None:
        self._index = index
        self._reads = reads
        self._unbegun = threading.Lock()  # taken by the first question, and never given back

    def expect(self, question: str) -> None:
        """Begins to load what an answer to ``question`` needs, and does not wait for it."""
        del question  # either language needs the same
        if not self._unbegun.acquire(blocking=False):
            return
        try:
            embedder = self._index.embedder
            if embedder is None or not is_fitted(embedder):  # another's may cost money
                return
            views = pair_views(embedder) if self._reads else None
        except SelfrightError:
            return  # the turn meets the same, and says it where it is heard
        # No daemon: a process that ended within the foreign code of a load could crash.
        networks = embedder, views.questions if views else None
        threading.Thread(target=_load, args=networks, name="selfright-preload").start()


def _load(embedder: Embedder, reader: PairJudge | None) -> None:
    try:
        embedder.embed([])
        if reader is not None:
            reader.read("", [])
    except Exception as error:  # as above
        log.debug("not loaded ahead: %s", error)
