"""What the user hands over as objects instead of settings."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from selfright.domain.ports import Embedder, PairJudge, ProfileStore

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel
    from langchain_core.retrievers import RetrieverLike


@dataclass(frozen=True, slots=True)
class Overrides:
    """Each takes the place of what settings would name."""

    retriever: "RetrieverLike | None" = None
    embeddings: "Embeddings | Embedder | None" = None
    llm: "BaseChatModel | None" = None
    models: "Mapping[str, BaseChatModel]" = field(default_factory=dict)
    profiles: ProfileStore | None = None
    passage_judge: PairJudge | None = None
    claim_judge: PairJudge | None = None
