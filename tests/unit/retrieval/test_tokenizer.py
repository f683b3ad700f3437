"""The tokenizer on the cases of the specification, with morphemes and without."""

import subprocess
import sys
import threading
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.errors import InputError
from selfright.retrieval import tokenizer as implementation
from selfright.retrieval.korean import HangulBigrams, KoreanMorphemes
from selfright.retrieval.tokenizer import BilingualTokenizer, content_terms
from selfright.roles.analysis import TermMatcher, TextAnalyzer
from selfright.roles.words import KOREAN_HOMONYMS
from tests.support.texts import CountedTerms

needs_kiwi = pytest.mark.skipif(not KoreanMorphemes.is_installed(), reason="kiwipiepy is not installed")

plain = BilingualTokenizer(HangulBigrams())


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Tablets, TABLET tablet's", ["tablet", "tablet", "tablet"]),
        ("500mg", ["500mg", "500", "mg"]),
        ("500 mg", ["500mg", "500", "mg"]),
        ("1,000 IU", ["1000iu", "1000", "iu"]),
        ("7.5%", ["7.5%", "7.5"]),
        ("37.5℃", ["37.5°c", "37.5", "c"]),
        ("HbA1c", ["hba1c"]),
        ("CYP2C9", ["cyp2c9"]),
        ("FX-1007", ["fx-1007", "fx", "1007"]),
        ("x-ray", ["x", "ray"]),
        ("max_tokens=500", ["max_tokens", "max", "token", "500"]),
        ("__init__", ["init"]),
        ("2015-03-01", ["2015-03-01", "2015", "03", "01"]),
        ("store.maxSize", ["store", "maxsiz", "max", "size"]),
        ("memoryMode", ["memorymod", "memori", "mode"]),
        ("naïve Ｆｕｌｌ", ["naiv", "full"]),
        ("고혈압", ["고혈", "혈압"]),
        ("메트포르민500mg", ["메트", "트포", "포르", "르민", "500mg", "500", "mg"]),
        ("", []),
        ("?! \n", []),
    ],
)
def test_terms(text: str, terms: list[str]) -> None:
    assert plain.tokens(text) == terms


@needs_kiwi
@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("메트포르민500mg을 복용했습니다", ["메트포르민", "500mg", "500", "mg", "복용"]),
        ("고혈압은", ["고혈압", "혈압"]),
        ("신장기능저하", ["신장", "기능", "저하", "신장기능저하"]),
        ("HbA1c와 CYP2C9", ["hba1c", "cyp2c9"]),
        ("트랜잭션이 롤백되었다\nsecond line", ["트랜잭션", "롤백", "second", "line"]),
    ],
)
def test_korean_morphemes(text: str, terms: list[str]) -> None:
    assert sorted(BilingualTokenizer().tokens(text)) == sorted(terms)


@needs_kiwi
def test_endings_and_particles_do_not_matter() -> None:
    tokenizer = BilingualTokenizer()
    assert tokenizer.tokens("약을 먹었다") == tokenizer.tokens("약은 먹습니다") == ["약", "먹"]


@needs_kiwi
def test_user_words_stay_whole_and_change_the_name() -> None:
    tokenizer = BilingualTokenizer(user_words=["가나다라마"])
    assert "가나다라마" in tokenizer.tokens("가나다라마를 켠다")
    assert tokenizer.name != BilingualTokenizer().name


@pytest.mark.parametrize("word", ["", "두 낱말", "비타민D", "가-나", "word"])
def test_user_words_are_hangul_words(word: str) -> None:
    with pytest.raises(InputError, match="user word"):
        KoreanMorphemes(["가나다", word])


def test_names_tell_the_scheme() -> None:
    assert plain.name == "bilingual-2-bigrams-1"
    assert BilingualTokenizer(KoreanMorphemes()).name == "bilingual-2-kiwi-1"


@given(st.text(max_size=200))
def test_terms_can_be_joined_by_blanks_and_never_surprise(text: str) -> None:
    terms = plain.tokens(text)
    assert " ".join(terms).split(" ") == (terms or [""])
    assert all(0 < len(term) <= 64 and not any(map(str.isspace, term)) for term in terms)
    assert plain.tokens(text) == terms


def test_threads_share_one_tokenizer() -> None:
    text = "Two tablets of 메트포르민 500 mg, taken daily. " * 20
    expected = plain.tokens(text)
    found: list[list[str]] = []
    threads = [threading.Thread(target=lambda: found.append(plain.tokens(text))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4


def test_queries_lose_stop_words_unless_nothing_else_is_there() -> None:
    assert content_terms(plain.tokens("What are the limits of the store?")) == ["limit", "store"]
    assert content_terms(plain.tokens("What is it?")) == ["what", "is", "it"]


# What decides where terms begin and end: numbers, units near and apart, connectors, blanks of all kinds, odd letters.
PIECES = [
    *"5 %°C-–/.:'’_+aKxé²ßİ٣\n\0\t\u00a0\u2009\x1f\u1100", "1,000", "500", "mg", "MG/day", "km-2", "mmHg", "min", "IU",
    "ﬁ", "µg", "Ω", "wordOne", "HbA1c", "tablets, ", "x" * 70,
]  # fmt: skip


@given(st.one_of(st.lists(st.sampled_from(PIECES), max_size=12).map("".join), st.text(max_size=80)))
def test_the_quick_way_for_text_without_hangul_gives_what_the_general_way_gives(text: str) -> None:
    # One Hangul syllable at the end sends the same text the general way.
    *terms, last = plain.tokens(f"{text}\n가")
    if not any("가" <= sign <= "힣" for sign in unicodedata.normalize("NFKC", text)):
        assert last == "가"
        assert plain.tokens(text) == terms


@given(st.one_of(st.lists(st.sampled_from([*PIECES, "가", "나다 "]), max_size=12).map("".join), st.text(max_size=80)))
def test_joined_is_the_tokens_joined(text: str) -> None:
    assert plain.join_terms(text) == " ".join(plain.tokens(text))


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(implementation, "_REMEMBERED", 10)
    implementation._chunks.clear()
    for n in range(100):
        assert plain.join_terms(f"word{n} {'y' * 100}") == f"word{n} {'y' * 64}"
        assert len(implementation._chunks) <= 10


def test_importing_the_tokenizer_loads_no_large_library() -> None:
    program = "import sys, selfright.retrieval.tokenizer; print(*{name.split('.')[0] for name in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.split()
    assert "selfright" in loaded
    assert not {"kiwipiepy", "numpy", "faiss", "tantivy", "onnxruntime", "langgraph"} & set(loaded)


@needs_kiwi
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("이가 아파요", ["이"]),
        ("등이 아플 때", ["등"]),
        ("수의 종류는?", ["수"]),
        ("중은 몇 시에 일어나나요?", ["중"]),
        ("이 문서와 그 등 여러 가지를 쓸 수 있나요?", []),
        ("사과, 배 등이 있다. 회의 중에는 쉰다.", []),
    ],
)
def test_nouns_are_told_from_light_words_spelled_alike(text: str, found: list[str]) -> None:
    analyzer = TextAnalyzer(BilingualTokenizer(), CountedTerms(()))
    assert [noun for _, noun in analyzer.homonyms(text)] == found
    assert [term.token for term in analyzer.key_terms(text) if term.token in KOREAN_HOMONYMS] == found


@needs_kiwi
def test_a_homonym_is_looked_for_as_the_noun() -> None:
    analyzer = TextAnalyzer(BilingualTokenizer(), CountedTerms(()))
    matcher = TermMatcher(analyzer, analyzer.key_terms("등 통증에는 무엇이 좋나요?"))
    assert matcher.places("등이 아플 때")
    assert not matcher.places("사과, 배 등이 등록되어 있다.")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("What does the IT policy say?", ["it", "policy", "say"]),
        ("it is what the policy says", ["policy", "says"]),
        ("the WHO guideline on salt", ["who", "guideline", "salt"]),
        ("Who wrote the guideline?", ["wrote", "guideline"]),
        ("Is the office closed in May?", ["office", "closed", "may"]),
        ("May I work from home?", ["work", "home"]),
        ("WHO MAY DO IT", ["who", "may", "do", "it"]),  # nothing else would be left
        ("HOW TO DO IT WITH GIT", ["git"]),  # a headline has no names
        ("IT 정책", ["it", "정책"]),
        ("WHO 지침은", ["who", "지침은"]),
    ],
)
def test_a_stop_word_that_is_a_name_is_searched_for(text: str, kept: list[str]) -> None:
    terms = text.lower().replace("?", "").split()
    assert content_terms(terms, text) == kept
