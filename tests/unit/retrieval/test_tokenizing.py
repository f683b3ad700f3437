"""Many texts at a time have the terms that each of them has alone."""

from collections.abc import Iterator

import pytest

from selfright.domain.ports import Tokenizer
from selfright.retrieval import preparing
from selfright.retrieval.korean import HangulBigrams, Term
from selfright.retrieval.tokenizer import BilingualTokenizer

TEXTS = [f"Tablet {n}: 500 mg of 가나다라 daily, store.maxSize {n / 7}\0" for n in range(300)]
TEXTS += ["", " ", "연은 바람이 있어야 난다.\n\nNo Hangul here.\n고혈압의 기준은 140mmHg", "plain words"]


class Foreign:
    name = "foreign"

    def tokens(self, text: str) -> list[str]:
        return text.upper().split()

    def translations(self, term: str) -> tuple[()]:
        return ()


class Syllables:
    name = "syllables"

    def terms(self, text: str) -> Iterator[Term]:
        yield from ((n, syllable) for n, syllable in enumerate(text) if syllable >= "가")


@pytest.mark.parametrize(
    "tokenizer",
    [BilingualTokenizer(), BilingualTokenizer(HangulBigrams()), BilingualTokenizer(Syllables()), Foreign()],
    ids=["as installed", "bigrams", "own", "foreign"],
)
def test_all_at_once_gives_the_same_terms(tokenizer: Tokenizer) -> None:
    assert preparing.join_all(tokenizer, TEXTS) == [" ".join(tokenizer.tokens(text)) for text in TEXTS]
