"""Which medicines are asked about, and which a text names."""

import pytest

from selfright_medical.contraindications import things_asked, things_in


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("임신 12주인데 리시노프릴 먹어도 되나요?", {"drug:lisinopril"}),
        ("제스트릴은 언제 먹나요?", {"drug:lisinopril"}),
        ("메트포르민의 부작용은?", {"drug:metformin"}),
        ("Is it safe to take ibuprofen with lisinopril?", {"drug:ibuprofen", "drug:lisinopril"}),
        ("나는 아스피린을 먹고 있는데 이부프로펜을 같이 먹어도 되나요", {"drug:ibuprofen"}),
        ("I take metformin. What helps with a cold?", set()),
        ("당뇨약은 언제 먹나요?", set()),  # a class
        ("비타민 D는 얼마나 필요한가요?", set()),
        ("Why is iron critical to bacteria?", set()),  # no medicine there
        ("인슐린은 어디에서 나오나요?", set()),
        ("등대의 등은 며칠마다 바꾸나요?", set()),
    ],
)
def test_what_is_asked_about(question: str, asked: set[str]) -> None:
    single = {key for key in things_asked(question) if "-" not in key}
    assert single == asked


def test_what_is_named_more_closely_or_combined_answers_for_it() -> None:
    assert things_in("Regular insulin is given.") == {"drug:regular-insulin"}
    assert things_asked("Is heparin safe?") >= things_in("Heparin sodium is given.")
    assert "drug:lisinopril-hydrochlorothiazide" in things_asked("What is lisinopril for?")


def test_names_of_both_languages_brands_and_classes_are_the_same_thing() -> None:
    for text in ("Lisinopril lowers it.", "리시노프릴은", "Zestril", "ACE inhibitors harm the fetus."):
        assert "drug:lisinopril" in things_in(text), text
    assert "drug:lisinopril" not in things_in("와파린은 비타민 K의 작용을 막습니다.")
    assert things_in("임신부는 이 검사를 받습니다.") == frozenset()
