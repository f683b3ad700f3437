"""What in a profile speaks against a medicine: each rule has a source, fires on its own words, and not without them."""

import pytest

from selfright.domain.slots import Profile, Slot
from selfright_medical.contraindications import concerns, rules
from selfright_medical.extract import MedicalExtractor
from selfright_medical.pack import MEDICAL


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


@pytest.mark.parametrize(("value", "unit"), [("20", "months"), ("30", "weeks"), ("9", "years"), ("9", None)])
def test_a_child_is_one_whatever_its_age_is_counted_in(value: str, unit: str | None) -> None:
    assert concerns("아스피린을 줘도 되나요?", Profile((Slot("age", value, unit),)), "ko")
    assert not concerns("아스피린을 줘도 되나요?", Profile((Slot("age", "2000", unit),)), "ko")


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


@pytest.mark.parametrize(
    ("told", "question", "said"),
    [
        ("I am allergic to penicillin.", "Can I take amoxicillin?", "penicillins with a penicillin allergy"),
        ("아스피린 알레르기가 있어요.", "이부프로펜을 먹어도 되나요?", "ibuprofen with an allergy to aspirin"),
        (
            "I am allergic to erythromycin.",
            "Is azithromycin safe for me?",
            "azithromycin with an allergy to erythromycin",
        ),
    ],
)
def test_an_allergy_to_the_class_speaks_against_a_medicine(told: str, question: str, said: str) -> None:
    profile = Profile().with_slots(MedicalExtractor().read(told), MEDICAL.kinds_by_name)
    assert any(said in concern.text for concern in MEDICAL.concerns(question, profile, "en"))
    assert not MEDICAL.concerns("Can I take paracetamol?", profile, "en")


@pytest.mark.parametrize("denial", ["No known allergies.", "알레르기는 없어요."])
def test_an_allergy_after_a_denial_is_a_contradiction(denial: str) -> None:
    read = MedicalExtractor().read
    denied = Profile().with_slots(read(denial), MEDICAL.kinds_by_name)
    assert [(slot.name, slot.negated) for slot in denied.slots] == [("allergies", True)]
    later = denied.with_slots(read("I am allergic to penicillin.", 1), MEDICAL.kinds_by_name)
    assert later.values("allergies") == ("penicillin",)
    assert [slot.negated for slot in later.disputed] == [True]
    assert "said both ways" in MEDICAL.summary(later, "en")


@pytest.mark.parametrize(
    "text",
    ["No penicillin allergy.", "Do I have no allergies?", "No known drug allergies.", "약물 알레르기는 없습니다.",
     "알레르기 없나요?", "No allergy pills, please."],
)  # fmt: skip
def test_what_denies_one_kind_or_asks_denies_no_other(text: str) -> None:
    assert not [slot for slot in MedicalExtractor().read(text) if slot.name == "allergies" and slot.value == "any"]
