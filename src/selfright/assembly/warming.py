"""Loading ahead: the networks an English answer needs are read while the first turn still imports and opens.

Most of that runs without Python's lock, so it takes a second core instead of time. The Korean analyser is left to the
turn: it holds the lock while it loads, and nothing would go on beside it.
"""

import logging
import threading

from selfright.assembly.encoders import is_fitted
from selfright.assembly.index import IndexRoom
from selfright.assembly.roles import shipped_reader
from selfright.domain.errors import SelfrightError
from selfright.domain.ports import Embedder, PairJudge
from selfright.domain.text import has_hangul

log = logging.getLogger(__name__)


class Warming:
    """Loads the encoder of an index room and, with ``reads``, the reader that ships; once."""

    def __init__(self, index: IndexRoom, *, reads: bool) -> None:
        self._index = index
        self._reads = reads
        self._unbegun = threading.Lock()  # taken by the first question, and never given back

    def expect(self, question: str) -> None:
        """Begins to load what an answer to ``question`` needs, and does not wait for it."""
        if has_hangul(question) or not self._unbegun.acquire(blocking=False):
            return
        try:
            embedder = self._index.embedder
            # Another's embedder may cost money, and the reader is not asked beside it.
            if embedder is None or not is_fitted(embedder):
                return
            reader = shipped_reader() if self._reads else None
        except SelfrightError:
            return  # the turn meets the same, and says it where it is heard
        # No daemon: a process that ended within the foreign code of a load could crash.
        threading.Thread(target=_load, args=(embedder, reader), name="selfright-warming").start()


def _load(embedder: Embedder, reader: PairJudge | None) -> None:
    try:
        embedder.embed([])
        if reader is not None:
            reader.read("", [])
    except Exception as error:  # as above
        log.debug("not loaded ahead: %s", error)
