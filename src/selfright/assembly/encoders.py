"""The embedder that a setting names."""

from selfright.domain.ports import Embedder


def named_embedder(name: str) -> Embedder:
    """``provider:model``, else the English encoder. Raises ``MissingExtra`` for what is not installed."""
    if ":" in name:
        from selfright.llm.providers import embedder

        return embedder(name)
    from selfright.llm.minilm import MiniLM

    return MiniLM()
