"""What of a message is asked, and what is only told."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.roles.rewrite.question_context import asking_part
from tests.support.texts import analyzer

ANALYZER = analyzer(
    "The maximum dose of metformin is 2,550 mg a day.",
    "메트포르민의 하루 최대 용량은 2,550 mg이다.",
    "The dose of insulin is adjusted; the maximum is rarely reached.",
    "A kettle with limescale is descaled with acid.",
    "주전자의 물때는 구연산으로 없앤다.",
    "Type 2 diabetes is common in men. 2형 당뇨병은 흔하다.",
    "fxstore keeps deleted entries for seven days by default.",
)
DOSE = "What is the highest licensed daily dose of metformin tablets?"
DOSE_KO = "메트포르민을 하루에 최대 얼마까지 먹을 수 있나요?"
SCALE = "How do I remove limescale from a steel kettle?"


@pytest.mark.parametrize(
    ("message", "question", "told"),
    [
        (f"I am a 60-year-old man with type 2 diabetes. {DOSE}", DOSE, "I am a 60-year-old man with type 2 diabetes."),
        (f"저는 60세 남성이고 2형 당뇨병이 있습니다. {DOSE_KO}", DOSE_KO, "저는 60세 남성이고 2형 당뇨병이 있습니다."),
        (f"60세 당뇨 환자인데요, {DOSE_KO}", DOSE_KO, "60세 당뇨 환자인데요,"),
        (
            "I'm 60 and diabetic, what is the highest daily dose of metformin?",
            "what is the highest daily dose of metformin?",
            "I'm 60 and diabetic,",
        ),
        (f"Hello there! {SCALE} Thanks in advance!", SCALE, ""),
        (f"안녕하세요. {DOSE_KO} 감사합니다!", DOSE_KO, ""),
        (f"Hi, {SCALE}", SCALE, ""),
        (
            f"We moved house last month. The boxes are still everywhere. {SCALE}",
            SCALE,
            "We moved house last month. The boxes are still everywhere.",
        ),
        (f"{DOSE} I am 60 years old.", DOSE, "I am 60 years old."),
    ],
)
def test_what_is_told_is_no_part_of_the_question(message: str, question: str, told: str) -> None:
    assert asking_part(message, ANALYZER)[:2] == (question, told)


@pytest.mark.parametrize(
    "message",
    [
        DOSE,
        "My kettle is from 1990. Is that normal?",
        "어제 산 주전자에서 소리가 나요. 왜 그런가요?",
        "I have gout. My toe hurts.",
        "I take metformin. What is the maximum dose?",
        "메트포르민을 먹고 있어요. 최대 용량은요?",
        "I use fxstore 3.8 at work. How long are deleted entries kept by default?",
        "Acid comes up my throat. What should I change about my bed?",
        "They wait for the writer. How long is that?",
        "회사에서 노트북을 주는데 기종을 고를 수 있나요?",
    ],
    ids=[
        "one sentence", "points back", "Korean, points back", "nothing is asked", "names what it is about",
        "Korean, names it", "a version", "one's own", "a greeting inside a word", "a clause that is no profile",
    ],
)  # fmt: skip
def test_a_question_that_leans_on_what_is_told_keeps_it(message: str) -> None:
    assert asking_part(message, ANALYZER).question == message


def test_a_follow_up_leans_on_its_conversation_and_not_on_who_asks() -> None:
    message = "저는 60세 남성이고 2형 당뇨병이 있습니다. 그럼 아이 열은 무슨 약으로 내려요?"
    assert asking_part(message, ANALYZER).question == message
    assert asking_part(message, ANALYZER, follows=True).question == "그럼 아이 열은 무슨 약으로 내려요?"


def test_a_subject_line_stays() -> None:
    asked = asking_part("Limescale in kettles. I am 40 years old. I would like information on removing it.", ANALYZER)
    assert asked.question.startswith("Limescale in kettles.")


@given(
    st.lists(st.sampled_from([DOSE, DOSE_KO, SCALE, "Hi.", "감사합니다.", "I am 60.", "It rained.", "왜요?", "…", ""]))
)
def test_nothing_is_invented_and_a_question_is_left(sentences: list[str]) -> None:
    message = " ".join(sentences)
    asked = asking_part(message, ANALYZER)
    assert set(f"{asked.question} {asked.told}".split()) <= set(message.split())
    assert asked.question or not message.strip()


@given(st.text(max_size=400))
def test_any_text_is_read(text: str) -> None:
    asked = asking_part(text, ANALYZER)
    assert asked.question or not text.strip()


@pytest.mark.parametrize(
    "message", ["?" * 9_999, "?" * 9_998 + "a", "so" + "." * 9_990 + "b", "저는" + "," * 9_990 + "세"]
)
def test_long_runs_of_signs_are_read_at_once(message: str) -> None:
    """Somebody may send them to keep a service busy; one took over four seconds."""
    began = time.process_time()
    asking_part(message, ANALYZER)
    assert time.process_time() - began < 1.0
