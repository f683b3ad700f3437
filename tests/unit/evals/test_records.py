"""What a pass brought of what was missing before it."""

import pytest

from selfright.evals.worker import gold_texts


@pytest.mark.parametrize(
    ("item", "text", "came"),
    [
        ("vitamin B12 deficiency", "Long use may lead to a deficiency of vitamin B12.", True),
        ("vitamin B12 deficiency", "Vitamin C helps.", False),
        ("위장 장애(설사, 구토)", "주요 부작용은 위장 장애이며 설사와 구토가 있다.", True),
        ("유산증 위험", "비타민이 모자랄 수 있다.", False),
        ("90 days", "every 90 days", True),
        ("90 days", "every 190 days", False),
        ("", "anything", False),
    ],
)
def test_an_item_is_brought_by_three_quarters_of_its_words(item: str, text: str, came: bool) -> None:
    assert gold_texts([item], [text]) == ((item,) if came else ())


def test_the_words_must_stand_in_one_passage() -> None:
    assert gold_texts(["vitamin deficiency"], ["vitamin here", "deficiency there"]) == ()
    assert gold_texts(["one thing", "other thing"], ["the other thing", "one thing"]) == ("one thing", "other thing")
    assert gold_texts(["x"], []) == ()
