"""Opening an index with what it was made with, or to look after it, which needs no embedder."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from selfright.domain.ports import Embedder, Tokenizer
from selfright.retrieval.preparing import embedder_name
from selfright.retrieval.schema import IndexMeta

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class AsMade:
    """Whichever embedder an index was made with; ``make`` gives the one at hand, if anything is to be embedded."""

    make: Callable[[], Embedder | None]


def fitting(
    meta: IndexMeta, where: Path | str, tokenizer: Tokenizer, embedder: Embedder | AsMade | None
) -> Embedder | None:
    """The embedder to open an index with. Raises ``IncompatibleIndex`` when the index was made with another one."""
    if not isinstance(embedder, AsMade):
        meta.check(where, tokenizer.name, *embedder_name(embedder))
        return embedder
    meta.check(where, tokenizer.name, meta.embedder, meta.dimension)
    return _Called(meta, where, embedder.make) if meta.dimension else None


def at_hand(embedder: Embedder | AsMade | None) -> Embedder | None:
    """The embedder to make an index with."""
    return embedder.make() if isinstance(embedder, AsMade) else embedder


@dataclass(frozen=True, slots=True)
class _Called:
    """An embedder known by name until it has to embed."""

    meta: IndexMeta
    where: Path | str
    make: Callable[[], Embedder | None]

    @property
    def name(self) -> str:
        return self.meta.embedder

    @property
    def dimension(self) -> int:
        return self.meta.dimension

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        embedder = self.make()
        self.meta.check(self.where, self.meta.tokenizer, *embedder_name(embedder))
        if embedder is None:
            raise AssertionError("an index with vectors has an embedder")
        return embedder.embed(texts)
