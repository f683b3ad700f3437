"""The extractor on the annotated sentences, on what is easily taken wrong, and on any text at all."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfright.domain.slots import Slot
from selfright_medical.extract import MAX_CHARACTERS, MedicalExtractor
from selfright_medical.measures import MEASURED
from selfright_medical.wording import KINDS
from tests.medical_sentences import reading

EXTRACTOR = MedicalExtractor()
SENTENCES = reading.sentences(Path(reading.__file__).parent)


def told(text: str) -> list[str]:
    return [f"{slot.name}={slot.value}{marks(slot)}" for slot in EXTRACTOR.read(text)]


def marks(slot: Slot) -> str:
    subject = "" if slot.subject == "user" else f" @{slot.subject}"
    return " !" * slot.negated + subject + " @past" * (slot.time == "past")


def f1(part: str, language: str = "") -> float:
    right = said = meant = 0
    for sentence in SENTENCES:
        if sentence.part == part and sentence.language.startswith(language):
            found = set(map(reading.fact_of, EXTRACTOR.read(sentence.text)))
            right, said, meant = (
                right + len(found & set(sentence.facts)),
                said + len(found),
                meant + len(sentence.facts),
            )
    return 2 * right / (said + meant)


def test_the_set_is_large_enough_and_a_part_was_held_apart() -> None:
    assert len(SENTENCES) >= 300
    assert sum(sentence.language == "ko" for sentence in SENTENCES) >= 200
    assert sum(sentence.part == "held" for sentence in SENTENCES) >= 60
    facts = [fact for sentence in SENTENCES for fact in sentence.facts]
    assert sum(fact.negated for fact in facts) >= 40
    assert sum(fact.subject == "family" for fact in facts) >= 30
    assert sum(fact.time == "past" for fact in facts) >= 20


@pytest.mark.parametrize("part", ["dev", "held"])
@pytest.mark.parametrize("language", ["ko", "en"])
def test_slots_of_the_annotated_sentences(part: str, language: str) -> None:
    assert f1(part, language) >= 0.9


@pytest.mark.parametrize(
    ("text", "slots"),
    [
        ("60세 남성 제2형 당뇨 환자인데 신장 기능이 조금 떨어져 있어요.",
         ["age=60", "sex=male", "conditions=2형 당뇨병", "conditions=신장 기능 저하"]),
        ("편두통은 치료하지 않으면 얼마나 오래 가나요?", ["conditions=편두통 @other"]),
        ("우울증으로 렉사프로를 먹다가 지금은 안 먹어요.", ["conditions=우울증", "medications=에스시탈로프람 @past"]),
        ("위궤양 수술을 5년 전에 받았어요.", ["conditions=위궤양 @past"]),
        ("딸아이가 계란 알레르기가 있어요.", ["allergies=계란 @family"]),
        ("제 아버지도 할아버지도 대장암이셨어요.", ["conditions=대장암 @family"]),
        ("어머니가 고혈압이 있으세요. 혈압약도 드세요.", ["conditions=고혈압 @family", "medications=혈압약 @family"]),
        ("아이가 39.2도까지 열이 나요. 몸무게는 12kg이에요.",
         ["temperature=39.2 @family", "symptoms=발열 @family", "weight=12 @family"]),
        ("가슴이 아픈 건 아니고 숨이 차요", ["symptoms=흉통 !", "symptoms=호흡곤란"]),
        ("이 약을 먹으면 졸리나요?", ["symptoms=졸음 @other"]),
        ("My 4 year old has a fever of 103.",
         ["age=4 @family", "symptoms=fever @family", "temperature=39.4 @family"]),
        ("I quit taking Zoloft because it made me nauseous.", ["medications=sertraline @past", "symptoms=nausea"]),
        ("I was diagnosed with gout last year.", ["conditions=gout"]),
        ("Ruled out for MI.", ["conditions=myocardial infarction !"]),
        ("Does metformin cause weight loss?", ["medications=metformin @other", "symptoms=weight loss @other"]),
        ("I have gout, can I take aspirin?", ["conditions=gout", "medications=aspirin @other"]),
        ("We ruled out lupus.", ["conditions=lupus !"]),
        ("고혈압(+) 당뇨(-)", ["conditions=고혈압", "conditions=당뇨병 !"]),
        ("혈압약 먹는 중인데 오늘 158/97 나왔어요", ["medications=혈압약", "blood_pressure=158/97"]),
        ("두통 호소하나 구토는 없음", ["symptoms=두통", "symptoms=구토 !"]),
        ("임신 가능성은 없어요.", ["pregnancy=pregnant !"]),
        ("아버지가 60세에 심근경색으로 돌아가셨어요", ["conditions=심근경색 @family"]),
        ("우리 강아지가 설사를 해요", ["symptoms=설사 @other"]),
        ("What does a creatinine of 1.5 mean?", ["creatinine=1.5 @other"]),
        ("If I'm pregnant can I take Accutane?", ["medications=isotretinoin @other"]),
        ("My mom's blood sugar was 320. She takes insulin.", ["glucose=320 @family", "medications=insulin @family"]),
        ("Took Advil but the pain didn't go away.", ["medications=ibuprofen", "symptoms=pain"]),
    ],
)  # fmt: skip
def test_what_is_easily_taken_wrong(text: str, slots: list[str]) -> None:
    assert told(text) == slots


@pytest.mark.parametrize(
    ("text", "allergies"),
    [
        ("알레르기 없음", ["allergies=any !"]),
        ("약물 알레르기는 없습니다. 페니실린을 먹고 있어요.", []),
        ("No known drug allergies.", []),
        ("NKDA", []),
        ("Allergies: None.", ["allergies=any !"]),
        ("Allergies: PCN, but has tolerated cephalosporins.", ["allergies=penicillin"]),
        ("No known drug allergies except penicillin.", ["allergies=penicillin"]),
        ("I have no drug allergies but I am allergic to nuts.", ["allergies=tree nut"]),
        ("I'm not allergic to any medicine.", []),
        ("약 알레르기는 없어요.", []),
        ("I'm allergic to penicillin but not latex.", ["allergies=penicillin", "allergies=latex !"]),
        ("우유 알레르기는 없고 새우 알레르기가 있어요.", ["allergies=우유 !", "allergies=새우"]),
        ("알레르기: 페니실린, 설파제", ["allergies=페니실린", "allergies=설파제"]),
        ("Do you have any allergies? Yes. Penicillin.", ["allergies=penicillin"]),
        ("Can people be allergic to aspirin?", ["allergies=aspirin @other"]),
        ("페니실린 알레르기가 있으면 아목시실린도 안 되나요?", ["allergies=페니실린 @other"]),
        ("알레르기 비염이 있어요.", []),
    ],
)
def test_allergies(text: str, allergies: list[str]) -> None:
    assert [slot for slot in told(text) if slot.startswith("allergies")] == allergies


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("I have no known drug allergies.", ["conditions=drug allergy !"]),
        ("음식 알레르기는 없어요.", ["conditions=식품 알레르기 !"]),
        ("No known drug allergies except penicillin.", ["allergies=penicillin"]),
        ("Gout, NKDA", ["conditions=gout", "conditions=drug allergy !"]),
        ("allergies to medication: none known", ["conditions=drug allergy !"]),
        ("약물 알레르기: 무", ["conditions=약물 알레르기 !"]),
        ("알레르기 - 없음", ["allergies=any !"]),
        ("Allergies: none known", ["allergies=any !"]),
        ("Tell me what NKDA means.", []),
        ("NKDA?", []),
        ("Do I have no drug allergies?", []),
        ("I have a drug allergy.", []),
    ],
)
def test_no_allergy_of_a_kind_is_a_fact_unless_one_is_named(text: str, denied: list[str]) -> None:
    assert told(text) == denied


@pytest.mark.parametrize(
    ("text", "details"),
    [
        (
            "메트포르민 500mg을 하루 두 번 식후에 먹어요",
            {"dose": "500 mg", "frequency": "2/day", "timing": "after meals"},
        ),
        ("lisinopril 10 mg po qd", {"dose": "10 mg", "route": "oral", "frequency": "1/day"}),
        ("ibuprofen 800 mg q8h prn", {"dose": "800 mg", "frequency": "every 8 hours"}),
        ("20 units of Lantus every night", {"dose": "20 units", "frequency": "1/day"}),
        ("메토트렉세이트를 일주일에 한 번 10mg", {"dose": "10 mg", "frequency": "1/week"}),
        ("100 mg of Zoloft", {"dose": "100 mg"}),
        ("벤토린 흡입기를 필요할 때마다", {"route": "inhaled", "frequency": "as needed"}),
    ],
)
def test_doses(text: str, details: dict[str, str]) -> None:
    (slot,) = EXTRACTOR.read(text)
    assert {name: value for name, value in slot.details if name != "key"} == details


def test_a_slot_knows_its_span_turn_and_concept() -> None:
    text = "저는 당뇨가 있고 메트포르민을 먹어요."
    condition, medicine = asyncio.run(EXTRACTOR.extract(text, turn=3))
    assert (text[condition.start : condition.end], text[medicine.start : medicine.end]) == ("당뇨", "메트포르민")
    assert (condition.value, condition.detail("key")) == ("당뇨병", "condition:diabetes")
    assert condition.turn == medicine.turn == 3


def test_of_a_very_long_text_the_beginning_is_read() -> None:
    assert EXTRACTOR.read(" " * MAX_CHARACTERS + "aspirin") == ()


PARTS = [
    "당뇨", "가 ", "없", "어요. ", "aspirin ", "no ", "알레르기 ", "140/90 ", "BP ", "5mg ", "?", "\n", "60세 ",
    "my son ", "and ", ", ", "임신 12주 ", "7.8 mmol/L ", "혈당 ", "ß",
]  # fmt: skip


@settings(max_examples=50)
@given(st.lists(st.sampled_from(PARTS), max_size=40))
def test_any_text_gives_slots_that_lie_in_it(parts: list[str]) -> None:
    text = "".join(parts)
    slots = EXTRACTOR.read(text)
    assert all(isinstance(slot, Slot) and 0 <= slot.start < slot.end <= len(text) and slot.value for slot in slots)
    assert list(slots) == sorted(slots, key=lambda slot: (slot.start, slot.end))


def test_every_slot_is_of_a_kind_that_the_pack_knows() -> None:
    known = {kind.name for kind in KINDS}
    assert {fact.name for sentence in SENTENCES for fact in sentence.facts} <= known
    assert {measure.slot for measure in MEASURED.values()} <= known
