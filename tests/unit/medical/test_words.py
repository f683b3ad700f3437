"""The medical word list: written correctly, read completely, and kept whole by the tokenizer."""

import re
from importlib import resources

import pytest

from selfright.retrieval.korean import KoreanMorphemes
from selfright.retrieval.tokenizer import BilingualTokenizer
from selfright_medical.pack import user_words

needs_kiwi = pytest.mark.skipif(not KoreanMorphemes.is_installed(), reason="kiwipiepy is not installed")


def ends_in_consonant(word: str) -> bool:
    return (ord(word[-1]) - ord("가")) % 28 > 0


def test_the_list_is_sorted_and_holds_hangul_words_once_each() -> None:
    text = resources.files("selfright_medical").joinpath("words.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert lines == sorted(set(lines)) == list(user_words())
    assert len(lines) >= 400
    assert all(re.fullmatch("[가-힣]{2,}", word) for word in lines)


@needs_kiwi
def test_every_word_stays_whole_with_and_without_particles() -> None:
    tokenizer = BilingualTokenizer(user_words=user_words())
    for word in user_words():
        particles = ("은", "을") if ends_in_consonant(word) else ("는", "를")
        for text in (f"{word} 환자", *(f"{word}{particle} 나타난다" for particle in particles)):
            terms = tokenizer.tokens(text)
            assert terms in ([word, "환자"], [word, "나타나"]), text


@needs_kiwi
@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("고혈압", ["고혈압"]),
        ("고혈압환자의", ["고혈압", "환자", "고혈압환자"]),
        ("메트포르민500mg을", ["메트포르민", "500mg", "500", "mg"]),
        ("메트포르민은 HbA1c를 낮춘다", ["메트포르민", "hba1c", "낮추"]),
        ("CYP2C9가", ["cyp2c9"]),
        ("LDL콜레스테롤과 비타민D", ["ldl", "콜레스테롤", "비타민", "d"]),
        ("혈액검사", ["혈액", "검사", "혈액검사"]),  # a compound of meaningful parts is found by them too
    ],
)
def test_terms(text: str, terms: list[str]) -> None:
    assert sorted(BilingualTokenizer(user_words=user_words()).tokens(text)) == sorted(terms)


@needs_kiwi
def test_general_korean_is_as_before() -> None:
    text = "어제 저녁에 친구와 강가를 걸으며 오래된 다리를 구경했다. 이름이 알려지지 않은 화가의 그림도 보았다."
    assert BilingualTokenizer(user_words=user_words()).tokens(text) == BilingualTokenizer().tokens(text)
