"""A follow-up that names something: new, or part of the subject before, by what the index has."""

from collections.abc import Sequence

import pytest

from selfright.roles.analysis import TextAnalyzer
from selfright.roles.rewrite.leaning import only_names
from selfright.roles.rewrite.subject import on_new_subject
from tests.support.texts import CountedTerms, PlainTokenizer, analyzer
from tests.support.turns import hit

TARN = "# Tarn Hut\n\nA night costs 42 euros for adults. Dogs may stay in the winter room."
GLETSCH = "# Gletsch Hut\n\nGletsch Hut has 64 beds. Its warden is Lotte Brandt."
BOOKS = "# 교재\n\n교재는 배송비를 내면 교환할 수 있습니다."
REFUNDS = "# 환불 규정\n\n온라인 강의는 7일 이내에 환불됩니다. 수강률이 30%를 넘으면 환불되지 않습니다."
ANALYZER = analyzer(TARN, GLETSCH, BOOKS, REFUNDS)


@pytest.mark.parametrize(
    ("named", "question", "found"),
    [
        ("What about dogs?", "Gletsch warden: What about dogs?", "What about dogs?"),
        ("And dogs?", "Gletsch Hut: dogs?", "Hut: dogs?"),
        ("And the warden?", "Gletsch Hut: the warden?", ""),
        ("What about dogs?", "adults night costs: What about dogs?", ""),
        ("What about cats?", "Gletsch Hut: What about cats?", ""),
        ("그럼 교재는?", "수강률 30% 교재는?", "교재는?"),
        ("수강률은?", "온라인 강의 환불 수강률은?", ""),
        ("And dogs?", "And dogs?", ""),
        ("And the beds?", "Gletsch warden children: the beds?", "Gletsch warden: the beds?"),
    ],
)
@pytest.mark.parametrize("together", [True, False])
def test_what_the_index_has_together_decides(named: str, question: str, found: str, together: bool) -> None:
    texts = (
        ["\n\n".join((TARN, GLETSCH)), "\n\n".join((REFUNDS, BOOKS))] if together else [TARN, GLETSCH, BOOKS, REFUNDS]
    )
    hits = [hit(f"d{n}", text) for n, text in enumerate(texts)]
    assert on_new_subject(named, question, hits, ANALYZER) == found


class Translating(PlainTokenizer):
    """Knows one Korean word in English."""

    def translations(self, term: str) -> Sequence[tuple[str, float]]:
        return (("dog", 0.5),) if term == "강아지" else ()


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("교재 강아지는?", ""),
        ("교재 Tarn Hut winter 강아지는?", "Tarn Hut winter 강아지는?"),
        ("Tarn Hut 강아지는?", ""),
    ],
)
def test_a_translation_alone_makes_no_new_subject(question: str, found: str) -> None:
    translating = TextAnalyzer(Translating(), CountedTerms((TARN, GLETSCH, BOOKS, REFUNDS)))
    hits = [hit(f"d{n}", text) for n, text in enumerate((TARN, GLETSCH, BOOKS, REFUNDS))]
    assert on_new_subject("강아지는?", question, hits, translating) == found


def test_without_hits_nothing_is_new() -> None:
    assert on_new_subject("And dogs?", "Gletsch Hut: dogs?", [], ANALYZER) == ""


@pytest.mark.parametrize(
    "question",
    ["What about dogs?", "and for children?", "교재는?", "그럼 교재는요?", "And dogs?", "Tarn Hut: What about dogs?"],
)
def test_what_only_names_something(question: str) -> None:
    assert only_names(question, ANALYZER)


@pytest.mark.parametrize(
    "question",
    ["What about its warranty?", "Why?", "Where did she live?", "How can I apply?", "tell me more", "ok", ""],
)
def test_what_does_more_than_name_something(question: str) -> None:
    assert not only_names(question, ANALYZER)
