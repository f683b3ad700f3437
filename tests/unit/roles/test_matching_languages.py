"""Terms of a question are found in a text of the other language by their translations, and there alone."""

from selfright.retrieval.tokenizer import BilingualTokenizer
from selfright.roles.analysis import TermMatcher, TextAnalyzer
from tests.support.texts import CountedTerms

ANALYZER = TextAnalyzer(BilingualTokenizer(), CountedTerms([]))


def _found(question: str, text: str) -> set[str]:
    terms = ANALYZER.key_terms(question)
    return {terms[i].token for i in TermMatcher(ANALYZER, terms, translated=True).places(text)}


def test_a_korean_question_reads_an_english_text() -> None:
    assert _found("환불은 언제까지 신청해?", "Refunds must be requested within 14 days.") >= {"환불"}
    assert _found("비밀번호 설정", "The office is closed on Monday.") == set()


def test_an_english_question_reads_a_korean_text() -> None:
    assert _found("When do I get a refund?", "환불은 14일 안에 받을 수 있습니다.") == {"refund"}


def test_a_text_in_the_own_language_is_read_by_its_own_words() -> None:
    assert _found("환불 기한", "비용은 refund 창구에서 돌려받습니다.") == set()
    assert _found("refund policy", "Das Wort 환불 heißt refund.") == {"refund"}
    assert _found("환불 비밀번호", "The form for a 환불 asks for a password, and for nothing else at all.") == {
        "환불",
        "비밀번호",
    }
    assert _found("refund policy", "The word 환불 is Korean, and nothing else here is said in English.") == set()


def test_names_are_found_in_both() -> None:
    assert _found("VPN 비밀번호", "Choose a password for the VPN.") == {"vpn", "비밀번호"}
