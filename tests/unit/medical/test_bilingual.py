"""The bilingual lexicon: what it says in the other language."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfright.domain.passages import Language
from selfright_medical.pack import BilingualLexicon

LEXICON = BilingualLexicon()


@pytest.mark.parametrize(
    ("text", "language", "phrases"),
    [
        ("메트포르민의 부작용은 무엇인가요?", "ko", {"metformin", "side effect"}),
        ("심방세동 환자", "ko", {"atrial fibrillation"}),
        ("당화혈색소가 높아요", "ko", {"HbA1c"}),
        ("무릎이 아파요", "ko", {"knee pain"}),
        ("What is the antidote for an acetaminophen overdose?", "en", {"해독제", "아세트아미노펜 과다복용"}),
        ("Is metformin safe in kidney disease?", "en", {"메트포르민"}),
    ],
)
def test_names_in_the_other_language(text: str, language: Language, phrases: set[str]) -> None:
    assert phrases <= set(LEXICON.expand(text, language))


def test_brand_names_and_general_words_are_left_out() -> None:
    assert "Glucophage" not in LEXICON.expand("메트포르민", "ko")
    assert LEXICON.expand("오늘 날씨가 좋네요", "ko") == ()
    assert LEXICON.expand("", "en") == ()


def test_the_name_tells_the_list() -> None:
    assert LEXICON.name == BilingualLexicon().name
    assert LEXICON.name.startswith("medical-")


@settings(max_examples=30)
@given(st.text(max_size=200), st.sampled_from(["ko", "en"]))
def test_few_phrases_each_once(text: str, language: Language) -> None:
    phrases = list(BilingualLexicon(limit=4).expand(text, language))
    assert len(phrases) <= 4
    assert len(set(phrases)) == len(phrases)
