"""Signs that call for help at once: seen in both languages, not where they are denied or long past; with sources."""

import json
from pathlib import Path

import pytest

from selfright_medical.red_flags import find_flags, red_flags, urgent

QUESTIONS = Path(__file__).parents[3] / "src" / "selfright" / "demo" / "questions.jsonl"

SEEN = {
    "chest pain with dyspnoea": (
        "가슴이 너무 아프고 숨이 차요",
        "흉통과 호흡곤란이 있어요",
        "I have chest pain and I'm short of breath",
        "tightness in my chest, and cold sweat",
    ),
    "stroke signs": (
        "갑자기 한쪽 팔에 힘이 빠지고 말이 어눌해요",
        "아침에 일어나니 입이 돌아갔어요",
        "My mother's speech is suddenly slurred",
        "sudden weakness on one side of his body",
    ),
    "suicidal intent": ("요즘 죽고 싶다는 생각이 들어요", "살고 싶지 않아요", "I want to kill myself", "I am suicidal"),
    "anaphylaxis": (
        "땅콩을 먹고 입술이 붓고 숨쉬기 힘들어요",
        "벌에 쏘인 뒤 두드러기가 나고 숨이 막혀요",
        "My lips are swelling and I can't breathe after eating nuts",
    ),
    "unconscious": ("아버지가 쓰러졌는데 의식이 없어요", "He collapsed and is unresponsive"),
    "prolonged seizure": ("아이가 경련을 하는데 멈추지 않아요", "her seizure won't stop"),
    "thunderclap headache": ("태어나서 처음 겪는 심한 두통이에요", "This is the worst headache of my life"),
    "meningitis signs": ("열이 나고 목이 뻣뻣해요", "fever and a stiff neck"),
    "gastrointestinal bleeding": ("피를 토했어요", "I have been vomiting blood"),
    "severe bleeding": ("피가 멈추지 않아요", "the bleeding won't stop"),
    "poisoning or overdose": ("아이가 세제를 마셨어요", "수면제를 한꺼번에 먹었어요", "She swallowed bleach"),
    "fever of a young baby": ("생후 2개월 아기가 열이 39도예요", "my 3-week-old has a fever"),
    "urgent signs in pregnancy": ("임신 30주인데 하혈을 해요", "I'm pregnant and have heavy bleeding"),
    "cauda equina": ("허리가 아프고 소변을 못 보겠어요", "back pain and I lost control of my bladder"),
    "sudden loss of vision": ("갑자기 한쪽 눈이 안 보여요", "I suddenly lost vision in one eye"),
    "ketoacidosis signs": ("당뇨인데 계속 토하고 의식이 흐려요", "diabetic, vomiting and confused"),
    "cannot breathe": ("숨을 쉴 수가 없어요", "I can't breathe"),
}
UNSEEN = (
    "흉통은 없고 숨만 조금 찹니다",
    "가슴 통증이나 호흡곤란은 없습니다",
    "He denies chest pain and shortness of breath",
    "No chest pain, no trouble breathing",
    "3년 전에 경련이 멈추지 않아 입원했어요",
    "My father had slurred speech five years ago, suddenly",
    "혈압약은 언제 먹나요?",
    "What are the side effects of metformin?",
    "아세트아미노펜을 과다 복용하면 어떻게 되나요?",
    "저장소의 파일이 손상되었어요",
    "How do I kill a process that holds the lock?",
)


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in SEEN.items() for text in texts])
def test_a_sign_is_seen_and_what_to_do_is_said_in_both_languages(name: str, text: str) -> None:
    assert name in [flag.name for flag in find_flags(text)]
    assert "119" in urgent(text, "ko") or "109" in urgent(text, "ko")
    assert any(number in urgent(text, "en") for number in ("911", "988"))


@pytest.mark.parametrize("text", UNSEEN)
def test_what_is_denied_past_or_something_else_is_no_sign(text: str) -> None:
    assert urgent(text, "ko") == ""


def test_every_sign_is_tried_here_and_names_its_source() -> None:
    flags = red_flags()
    assert {flag.name for flag in flags} == set(SEEN)
    for flag in flags:
        assert len(flag.source) > 10
        assert set(flag.what) == {"ko", "en"}


def test_several_signs_of_one_kind_make_one_call() -> None:
    text = urgent("가슴이 아프고 숨이 차요. 피를 토했어요.", "ko")
    assert text.count("119") == 1
    assert len(text.splitlines()) == 1


def test_the_questions_of_the_demo_are_no_emergencies() -> None:
    rows = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    alarmed = [row["id"] for row in rows if urgent(row["question"], "en")]
    assert alarmed == []


def test_a_long_text_is_read_quickly() -> None:
    """Time grows with the length: nothing in a pattern tries everything again from every place."""
    import time

    text = "가슴이 아프고 no " * 2_000
    began = time.process_time()
    urgent(text, "ko")
    assert time.process_time() - began < 2.0
