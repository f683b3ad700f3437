"""The embedder that a setting names."""

from pathlib import Path

from selfright.domain.ports import Embedder

_THREADS = 2


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
