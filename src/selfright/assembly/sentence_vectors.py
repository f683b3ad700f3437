"""Vectors of all sentences, made in advance: the first answers are then judged as fast as later ones."""

from collections.abc import Callable
from dataclasses import dataclass

from selfright.assembly.encoders import is_fitted
from selfright.domain.errors import UsageError
from selfright.domain.ports import Embedder
from selfright.domain.stores import Store
from selfright.roles.likeness import sentences

Progress = Callable[[int, int, str], None]

_BLOCK = 1_024  # sentences embedded at a time
_BYTES = 1.25  # that the cache needs for one of a vector
_SHARE = 0.9  # of the cache, which drops a tenth of its vectors when it is full


@dataclass(frozen=True, slots=True)
class SentencesReport:
    """Documents whose sentences have vectors in the cache now, of how many, and these sentences."""

    documents: int
    of: int
    sentences: int


def embed_sentences(
    opened: Callable[[], Store], embedder: Embedder | None, most_bytes: int, progress: Progress | None
) -> SentencesReport:
    """Has ``embedder``, which caches, embed every sentence of the index that judges would look at.

    Stops where the cache of ``most_bytes`` would be full. What is cached already costs nothing, so the same call
    resumes an interrupted one. Raises ``UsageError`` where judges use no vectors of sentences, or nothing caches them.
    """
    if embedder is None or not is_fitted(embedder):
        raise UsageError("only the built-in encoder's vectors of sentences are used for judging, and it is not in use")
    if not most_bytes:
        raise UsageError("vectors of sentences are kept in the embedding cache, and embedding_cache=0 turns it off")
    store = opened()
    total = store.info().documents
    most = int(_SHARE * most_bytes / (_BYTES * 4 * embedder.dimension))
    waiting: list[str] = []
    done = made = 0
    for document in store.documents():
        texts = dict.fromkeys(text for passage in store.passages_of(document.id) for text in sentences(passage))
        if made + len(waiting) + len(texts) > most:
            break
        waiting += texts
        if len(waiting) >= _BLOCK:
            embedder.embed(waiting)
            made, waiting = made + len(waiting), []
        done += 1
        if progress:
            progress(done, max(total, done), document.id)
    if waiting:
        embedder.embed(waiting)
    return SentencesReport(done, total, made + len(waiting))
