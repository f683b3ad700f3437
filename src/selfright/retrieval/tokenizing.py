"""Many texts tokenised at a time, here or by another process that makes the same tokenizer again."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from selfright.domain.ports import Tokenizer
from selfright.retrieval.korean import HangulBigrams, KoreanMorphemes
from selfright.retrieval.tokenizer import BilingualTokenizer


class PretokenizedQuery:
    """A tokenizer that knows the terms of some texts beforehand, from whoever made them by the same rules."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._known: dict[str, str] = {}

    @property
    def name(self) -> str:
        """The tokenizer's own."""
        return self._tokenizer.name

    def tokens(self, text: str) -> list[str]:
        """Terms in reading order."""
        known = self._known.get(text)
        return self._tokenizer.tokens(text) if known is None else known.split(" ") if known else []

    def translations(self, term: str) -> Sequence[tuple[str, float]]:
        """The tokenizer's own."""
        return self._tokenizer.translations(term)

    def learn(self, terms: Mapping[str, str]) -> None:
        """Knows these, joined by blanks, by their texts, and forgets those before."""
        self._known = dict(terms)


def join_all(tokenizer: Tokenizer, texts: Sequence[str]) -> list[str]:
    """The terms of each text joined by blanks, the quick way where the tokenizer has one."""
    if isinstance(tokenizer, BilingualTokenizer):
        return tokenizer.join_all_terms(texts)
    return [" ".join(tokenizer.tokens(text)) for text in texts]


def work(setup: dict[str, Any]) -> Callable[[list[str]], list[str]]:
    """The worker's side: the same tokenizer again. Raises ``ValueError`` when it would be another one."""
    korean = KoreanMorphemes(setup["user_words"]) if setup["morphemes"] else HangulBigrams()
    tokenizer = BilingualTokenizer(korean)
    if tokenizer.name != setup["name"]:
        raise ValueError(f"expected the tokenizer {setup['name']}, but this would be {tokenizer.name}")
    return tokenizer.join_all_terms


def setup_of(tokenizer: Tokenizer) -> dict[str, Any] | None:
    """What makes the same tokenizer in another process, None when that cannot be known."""
    if type(tokenizer) is not BilingualTokenizer or type(tokenizer.korean) not in (KoreanMorphemes, HangulBigrams):
        return None
    morphemes = isinstance(tokenizer.korean, KoreanMorphemes)
    words = tokenizer.korean.user_words if isinstance(tokenizer.korean, KoreanMorphemes) else ()
    return {"name": tokenizer.name, "morphemes": morphemes, "user_words": list(words)}
