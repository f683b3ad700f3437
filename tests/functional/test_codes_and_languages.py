"""Messages in no language of their own (codes, signs) are answered in that of the documents; near codes are named."""

from pathlib import Path

import pytest

from tests.support.folders import opened_over

BOILER = """# 보일러 오류 코드

| 코드 | 뜻 | 조치 |
|---|---|---|
| E01 | 점화 실패 | 가스 밸브를 열고 다시 켭니다. |
| E02 | 물 부족 | 보충수 밸브를 엽니다. |
"""
POOL = "# 수영장\n\n자유 수영은 한 번에 6,000원입니다. 수영모를 꼭 써야 합니다.\n"
FERRY = "# Ferry\n\nA single ticket costs 4.20 EUR. Dogs may travel on the lower deck.\n"


@pytest.mark.parametrize(
    ("question", "language"),
    [("E07", "ko"), ("???", "ko"), ("FX-1031?", "ko"), ("E02", "ko"), ("What is E02?", "en"), ("ferry", "en")],
)
def test_a_message_in_no_language_gets_that_of_most_documents(tmp_path: Path, question: str, language: str) -> None:
    with opened_over(tmp_path, {"보일러.md": BOILER, "수영장.md": POOL, "ferry.md": FERRY}) as selfright:
        answer = selfright.ask(question)
        assert answer.language == language
        assert question != "E02" or answer.answer.startswith("보일러 오류 코드")
        # In a conversation it is the language that was spoken last.
        before = [
            {"role": "user", "content": "What does a ticket cost?"},
            {"role": "assistant", "content": "4.20 EUR."},
        ]
        assert selfright.ask(question, history=before).language == "en"


@pytest.mark.parametrize("question", ["E02", "E02는 무슨 뜻이야?", "E01이 뜨면 어떻게 해요?"])
def test_the_row_of_a_code_is_an_answer(tmp_path: Path, question: str) -> None:
    """It is not taken for a text that only speaks of answering."""
    with opened_over(tmp_path, {"보일러.md": BOILER, "수영장.md": POOL}) as selfright:
        answer = selfright.ask(question)
        assert not answer.abstained
        assert f"코드: {question[:3]}; 뜻: " in answer.answer


def test_a_refusal_on_a_code_names_where_its_neighbours_are(tmp_path: Path) -> None:
    with opened_over(tmp_path, {"보일러.md": BOILER, "수영장.md": POOL}) as selfright:
        near = selfright.ask("E09가 뜨면 어떻게 해요?")
        assert near.abstained
        assert "찾지 못한 내용: E09. 가장 가까운 자료: 보일러 오류 코드 (보일러.md)." in near.answer
        assert "수영장" not in near.answer
        assert "관련된 자료가 없습니다" in selfright.ask("ZQ-4471은 뭐예요?").answer


ERRORS = "# Boiler errors\n\n| Code | Meaning | Action |\n|---|---|---|\n| {0} | {1} | {2} |\n| {3} | {4} | {5} |\n"


@pytest.mark.parametrize(
    ("more", "said"), [({"a.md": FERRY, "b.md": FERRY}, "waited too long"), ({"수영장.md": POOL}, "오래 기다림")]
)
def test_a_code_alone_is_told_in_the_language_of_most_documents(
    tmp_path: Path, more: dict[str, str], said: str
) -> None:
    english = ERRORS.format("FX-1003", "unknown format", "Upgrade.", "FX-1007", "waited too long", "Split it.")
    korean = ERRORS.format("FX-1003", "지원하지 않는 형식", "올립니다.", "FX-1007", "오래 기다림", "나눕니다.")
    documents = {"en.md": english, "ko.md": korean.replace("Boiler errors", "보일러 오류"), **more}
    with opened_over(tmp_path, documents) as selfright:
        answer = selfright.ask("FX-1007").answer
        assert said in answer
        assert ("waited too long" in answer) != ("오래 기다림" in answer)
