"""The embedder that a setting names."""

from selfright.domain.ports import Embedder


def named_embedder(name: str, threads: int = 0) -> Embedder:
    """``provider:model``, else the English encoder, on ``threads`` threads where 0 is as many as it takes by itself.

    Raises ``MissingExtra`` for what is not installed.
    """
    if ":" in name:
        from selfright.llm.providers import embedder

        return embedder(name)
    from selfright.llm.minilm import MiniLM

    return MiniLM(threads=threads) if threads else MiniLM()
