"""A question in one language over documents in the other: found, graded, answered in their words, said to be so."""

import pytest

from selfright import Selfright
from selfright.llm.e5_words import installed_file

pytestmark = pytest.mark.skipif(installed_file() is None, reason="the encoder is not installed")

DOCUMENTS = {
    "lamp.md": "# Dunmore lighthouse\n\nThe lamp of the Dunmore lighthouse is replaced every 90 days by its keeper.",
    "library.md": "# Library\n\nBooks may be borrowed for three weeks. A lost card costs five euros.",
    "bakery.md": "# Bakery\n\nThe dough for the rye bread rests for a whole night before it is baked.",
    "ferry.md": "# 여객선\n\n여객선은 월요일을 빼고 매일 아침 일곱 시에 항구를 떠납니다. 자전거는 무료입니다.",
    "pool.md": "# 수영장\n\n수영장은 오전 여섯 시에 문을 엽니다. 수건은 접수처에서 빌릴 수 있습니다.",
}


@pytest.fixture(scope="module")
def selfright(tmp_path_factory: pytest.TempPathFactory) -> Selfright:
    folder = tmp_path_factory.mktemp("across")
    for name, text in DOCUMENTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    opened = Selfright.open(folder / "index", home=folder / "home")
    opened.add([folder / name for name in DOCUMENTS])
    return opened


@pytest.mark.parametrize(
    ("question", "source", "said", "lead"),
    [
        ("등대의 램프는 며칠마다 교체하나요?", "lamp.md", "every 90 days", "영어"),
        ("분실한 카드는 얼마인가요?", "library.md", "five euros", "영어"),
        ("What time does the ferry leave in the morning?", "ferry.md", "일곱 시", "in Korean"),
        ("When does the swimming pool open?", "pool.md", "여섯 시", "in Korean"),
    ],
)
def test_what_stands_in_the_other_language_is_found_and_said(
    selfright: Selfright, question: str, source: str, said: str, lead: str
) -> None:
    assert source in {hit.passage.document_id for hit in selfright.search(question, k=3)}
    answer = selfright.ask(question)
    assert said in answer.answer
    assert lead in answer.answer.splitlines()[0]
    assert source in {citation.document_id for citation in answer.citations}


def test_an_answer_in_the_question_s_own_language_has_no_such_lead(selfright: Selfright) -> None:
    assert "영어" not in selfright.ask("수영장은 몇 시에 문을 여나요?").answer


def test_what_nobody_says_in_either_language_is_refused(selfright: Selfright) -> None:
    for question in ("헬리콥터 착륙장은 어디에 있나요?", "Who designed the town's helicopter pad?"):
        assert selfright.ask(question).abstained
