"""What the learnt list of translations says, and what a search makes of it."""

import numpy as np
import pytest

from selfright.retrieval.search_request import SearchRequest
from selfright.retrieval.tokenizer import BilingualTokenizer, Translations, load_translations


@pytest.mark.parametrize(
    ("term", "expected"),
    [("광고", "advertis"), ("환불", "refund"), ("비밀번호", "password"), ("refund", "환불"), ("deploy", "배포")],
)
def test_words_of_daily_life_have_their_translation(term: str, expected: str) -> None:
    assert expected in [name for name, _ in load_translations().of(term)]


def test_weights_are_bounded_and_fall() -> None:
    for term in ("설정", "password", "휴가"):
        found = load_translations().of(term)
        weights = [weight for _, weight in found]
        assert weights == sorted(weights, reverse=True)
        assert all(0 < weight <= 1 for weight in weights)
        assert sum(weights) ** 2 >= sum(weight**2 for weight in weights)


def test_an_unknown_term_has_none() -> None:
    assert load_translations().of("qzxvw") == ()


def test_translations_read_their_arrays() -> None:
    found = Translations(
        {
            "ko": np.frombuffer("물\n불".encode(), np.uint8),
            "en": np.frombuffer(b"fire\nwater", np.uint8),
            "ko_starts": np.array([0, 1, 1]),
            "ko_targets": np.array([1]),
            "ko_weights": np.array([0.5]),
            "en_starts": np.array([0, 0, 1]),
            "en_targets": np.array([0]),
            "en_weights": np.array([1.0]),
        }
    )
    assert found.of("물") == [("water", 0.5)]
    assert found.of("water") == [("물", 1.0)]
    assert list(found.of("불")) == []


def _request(query: str) -> SearchRequest:
    return SearchRequest(query, query, "", query, BilingualTokenizer(), 3, (), None, lambda _: np.zeros(0, np.float32))


def test_only_the_languages_of_the_index_are_searched_for() -> None:
    own = _request("환불 환불 기한")
    assert own.weight_terms(["ko"]) == {"환불": 2.0, "기한": 1.0}
    both = own.weight_terms(["ko", "en"])
    assert both["환불"] == 2.0
    assert both["refund"] > both["reimburs"] > 0
    assert _request("refund").weight_terms(["en"]) == {"refund": 1.0}
    assert "환불" in _request("refund").weight_terms(["ko"])
