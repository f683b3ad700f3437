"""The networks of an index: the embedder that the user hands over or names, and the one that reads pairs beside it."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from selfright.domain.ports import Embedder

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

    from selfright.llm.e5 import E5Words
    from selfright.llm.pair_net import PairViews

_FITTED = "multilingual-e5-small-q4"
_THREADS = 2


def chosen_embedder(wanted: str, given: "Embeddings | Embedder | None") -> Embedder | None:
    """What the user gave, else the one named ``wanted``; None for ``auto`` where no weights are installed."""
    if given is not None:
        return _embedder_of(given)
    if wanted == "none" or (wanted == "auto" and not _is_installed()):
        return None
    return named_embedder(wanted)


def pair_views(embedder: Embedder | None) -> "PairViews | None":
    """The network that reads pairs; None without an embedder, for then nothing goes by more than words, and where the
    encoder is not installed whose word vectors it uses."""
    if embedder is None:
        return None
    from selfright.llm.e5 import E5

    if isinstance(embedder, E5):
        return _views(embedder.words)
    if not _is_installed():
        return None
    from selfright.llm.e5 import shared_words

    return _views(shared_words())


@cache
def _views(words: "E5Words") -> "PairViews":
    from selfright.llm.pair_net import PairViews, shipped_net

    return PairViews(shipped_net(words))


def _is_installed() -> bool:
    from selfright.llm.e5 import installed_file

    return installed_file() is not None


def is_fitted(embedder: Embedder) -> bool:
    """Whether what ships was fitted on this encoder's cosines: routing, judges, abstention."""
    return embedder.name == _FITTED


def named_embedder(name: str, threads: int = 0) -> Embedder:
    """``provider:model``, ``e5:FILE``, else the encoder that ships; on ``threads`` threads, 0 for two.

    Raises ``MissingExtra`` for what is not installed.
    """
    kind, _, place = name.partition(":")
    if place and kind != "e5":
        from selfright.llm.providers import embedder

        return embedder(name)
    from selfright.llm.e5 import E5

    return E5(file=Path(place).expanduser() if place else None, threads=threads or _THREADS)


def _embedder_of(embeddings: "Embeddings | Embedder") -> Embedder:
    from langchain_core.embeddings import Embeddings

    from selfright.llm.embedders import LangChainEmbedder

    return LangChainEmbedder(embeddings) if isinstance(embeddings, Embeddings) else embeddings
