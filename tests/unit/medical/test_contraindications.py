"""What in a profile speaks against a medicine: each rule has a source, fires on its own words, and not without them."""

import pytest

from selfright.domain.slots import Profile, Slot
from selfright.medical.contraindications import concerns, rules


def of(question: str, **facts: object) -> list[str]:
    return [concern.text for concern in concerns(question, Profile.of(facts), "ko")]


@pytest.mark.parametrize(
    ("question", "facts"),
    [
        ("메트포르민 부작용은?", {"conditions": ["경도 신장 기능 저하"]}),
        ("Can I take metformin?", {"egfr": "28"}),
        ("부루펜 먹어도 돼요?", {"medications": ["와파린"]}),
        ("Is Advil safe for me?", {"conditions": ["stomach ulcer"]}),
        ("아목시실린을 먹어도 되나요?", {"allergies": ["페니실린"]}),
        ("리시노프릴은 언제 먹나요?", {"pregnancy": "12주"}),
        ("아스피린을 줘도 되나요?", {"age": 9}),
        ("Does propranolol help against stage fright?", {"conditions": ["asthma"]}),
        ("비아그라를 써도 될까요?", {"medications": ["니트로글리세린"]}),
    ],
    ids=["kidney", "egfr", "anticoagulant", "ulcer", "penicillin", "pregnancy", "child", "asthma", "nitrate"],
)
def test_a_contraindication_in_the_profile_is_a_concern(question: str, facts: dict[str, object]) -> None:
    found = of(question, **facts)
    assert found
    assert of(question) == []
    assert of("날씨가 어떤가요?", **facts) == []


@pytest.mark.parametrize(
    "slot",
    [
        Slot("conditions", "신부전", negated=True),
        Slot("conditions", "신부전", subject="family"),
        Slot("egfr", "95"),
        Slot("conditions", "통풍"),
    ],
    ids=["denied", "family", "normal", "something else"],
)
def test_what_is_not_true_of_the_user_is_no_concern(slot: Slot) -> None:
    assert concerns("메트포르민 부작용은?", Profile((slot,)), "ko") == ()


def test_what_was_said_both_ways_counts() -> None:
    denied = Profile((Slot("allergies", "페니실린", negated=True),), disputed=(Slot("allergies", "페니실린"),))
    assert concerns("아목시실린 먹어도 되나요?", denied, "ko")


def test_an_allergy_to_the_very_thing_is_a_concern() -> None:
    (found,) = concerns("Can I take codeine?", Profile((Slot("allergies", "codeine"),)), "en")
    assert found.is_met_by("Do not use it with a known hypersensitivity.")
    assert not found.is_met_by("It may cause sleepiness.")


def test_names_are_whole_words() -> None:
    assert of("What is aspirinoid?", age=9) == []
    assert of("Are statins safe?", conditions=["간경변"])


def test_every_rule_has_words_and_a_source_in_both_languages() -> None:
    for rule in rules():
        assert rule.drugs
        assert rule.words
        assert set(rule.text) == {"ko", "en"}
        assert "label" in rule.source or len(rule.source) > 20
        assert rule.pattern or rule.below


def test_there_are_never_more_than_four() -> None:
    everything = ["신부전", "심부전", "위궤양", "천식", "간경변", "협심증"]
    assert len(of("이부프로펜, 메트포르민, 아스피린 먹어도 되나요?", conditions=everything, pregnancy="9")) == 4
