"""The networks of an index, the encoder and the reader of pairs: which they are, and when they are loaded."""

import logging
import threading
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from selfright.domain.errors import SelfrightError
from selfright.domain.ports import Embedder, PairJudge

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

    from selfright.models.reader import PairViews

log = logging.getLogger(__name__)

_FITTED = "multilingual-e5-small-q4"
_THREADS = 2


def resolve_embedder(wanted: str, given: "Embeddings | Embedder | None") -> Embedder | None:
    """What the user gave, else the one named ``wanted``; None for ``none``."""
    if given is None:
        return None if wanted == "none" else make_embedder(wanted)
    from langchain_core.embeddings import Embeddings

    from selfright.llm.embedders import LangChainEmbedder

    return LangChainEmbedder(given) if isinstance(given, Embeddings) else given


def pair_views(embedder: Embedder | None) -> "PairViews | None":
    """The network that reads pairs; None without an embedder, for then nothing goes by more than words."""
    return None if embedder is None else _views()


@cache
def _views() -> "PairViews":
    from selfright.models.reader import PairViews, load_net

    return PairViews(load_net())


def is_fitted(embedder: Embedder) -> bool:
    """Whether what ships was fitted on this encoder's cosines: routing, judges, abstention."""
    return embedder.name == _FITTED


def make_embedder(name: str, threads: int = 0) -> Embedder:
    """``provider:model``, else the encoder that ships; on ``threads`` threads, 0 for two.

    Raises ``MissingExtra`` for what is not installed.
    """
    if ":" in name:
        from selfright.llm.providers import embedder

        return embedder(name)
    from selfright.models.encoder import E5

    return E5(threads=threads or _THREADS)


class Preload:
    """Loads the encoder of an index and, with ``reads``, the reader that ships; once.

    Most of that runs without Python's lock, so it takes a second core instead of time. The Korean analyser is left to
    the turn: it holds the lock while it loads, and nothing would go on beside it.
    """

    def __init__(self, embedder: Callable[[], Embedder | None], *, reads: bool) -> None:
        self._embedder = embedder
        self._reads = reads
        self._unbegun = threading.Lock()  # taken by the first question, and never given back

    def warm_up(self) -> None:
        """Begins to load what a question in either language needs, and does not wait for it."""
        if not self._unbegun.acquire(blocking=False):
            return
        try:
            embedder = self._embedder()
            if embedder is None or not is_fitted(embedder):  # another's may cost money
                return
            views = pair_views(embedder) if self._reads else None
        except SelfrightError:
            return  # the turn meets the same, and says it where it is heard
        networks = embedder, views.questions if views else None
        # No daemon, also when a daemon starts it: a process that ended within the foreign code of a load would crash.
        threading.Thread(target=_load, args=networks, name="selfright-preload", daemon=False).start()


def _load(embedder: Embedder, reader: PairJudge | None) -> None:
    try:
        embedder.embed([])
        if reader is not None:
            reader.read("", [])
    except Exception as error:  # as above
        log.debug("not loaded ahead: %s", error)
