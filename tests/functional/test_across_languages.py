"""A question in one language over documents in the other: found, graded, answered in their words, said to be so."""

from collections.abc import Iterator

import pytest

from selfright import Selfright
from tests.support.folders import opened_over

DOCUMENTS = {
    "lamp.md": "# Dunmore lighthouse\n\nThe lamp of the Dunmore lighthouse is replaced every 90 days by its keeper.",
    "library.md": "# Library\n\nBooks may be borrowed for three weeks. A lost card costs five euros.",
    "bakery.md": "# Bakery\n\nThe dough for the rye bread rests for a whole night before it is baked.",
    "ferry.md": "# 여객선\n\n여객선은 월요일을 빼고 매일 아침 일곱 시에 항구를 떠납니다. 자전거는 무료입니다.",
    "sauna.md": "# Sauna\n\nThe sauna opens at ten in the morning. Children under twelve do not enter the sauna.",
    "사우나.md": "# 사우나\n\n사우나는 오전 열 시에 문을 엽니다. 열두 살 미만 어린이는 사우나에 들어가지 않습니다.",
    "pool.md": "# 수영장\n\n수영장은 오전 여섯 시에 문을 엽니다. 수건은 접수처에서 빌릴 수 있습니다.",
}


@pytest.fixture(scope="module")
def selfright(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Selfright]:
    with opened_over(tmp_path_factory.mktemp("across"), DOCUMENTS) as selfright:
        yield selfright


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
    answer = selfright.ask("수영장은 몇 시에 문을 여나요?").answer
    assert "여섯 시" in answer
    assert "영어" not in answer


@pytest.mark.parametrize(
    ("question", "wish", "said", "lead"),
    [
        ("When does the sauna open?", "in Korean, please", "열 시", ""),
        ("사우나는 몇 시에 문을 여나요?", "영어로 알려줘", "at ten", ""),
        ("How often is the lamp of the lighthouse replaced?", "한국어로", "90 days", "한국어 자료를 찾지 못해"),
        ("여객선은 아침 몇 시에 떠나나요?", "in English, please", "일곱 시", "no English sources"),
    ],
)
def test_an_answer_asked_for_in_a_language_is_from_its_pages_where_they_answer(
    selfright: Selfright, question: str, wish: str, said: str, lead: str
) -> None:
    selfright.ask(question, session=question)
    answer = selfright.ask(wish, session=question)
    assert said in answer.answer
    first = answer.answer.splitlines()[0]
    assert lead in first if lead else "영어" not in first and "Korean" not in first


def test_what_nobody_says_in_either_language_is_refused(selfright: Selfright) -> None:
    for question in ("헬리콥터 착륙장은 어디에 있나요?", "Who designed the town's helicopter pad?"):
        assert selfright.ask(question).abstained


HANDBOOK = {
    "leave": "직원은 해마다 15일의 휴가를 쓸 수 있습니다. 휴가는 2주 전에 신청합니다.",
    "illness": "직원이 아프면 첫날 아침에 팀장에게 알립니다. 사흘이 넘으면 진단서를 냅니다.",
    "travel": "직원의 출장은 팀장이 승인합니다. 출장비는 돌아온 뒤 열흘 안에 정산합니다.",
    "devices": "직원은 입사 첫날 노트북을 받습니다. 고장 난 장비는 지원팀에 맡깁니다.",
    "security": "직원은 석 달마다 암호를 바꿉니다. 낯선 메일의 첨부 파일은 열지 않습니다.",
    "wages": "급여는 매달 25일에 직원의 계좌로 들어옵니다.",
    "courses": "직원은 해마다 이틀의 교육을 받을 수 있고 회사가 비용을 냅니다.",
    "lunch": "점심은 구내식당에서 회사가 제공합니다.",
    "parking": "직원 주차장은 지하 2층이며 등록한 차만 들어올 수 있습니다.",
    "hiring": "회사는 지원자를 추천한 직원에게 상금을 줍니다.",
    "meetings": "회사 회의는 한 시간을 넘기지 않습니다.",
    "health": "회사는 직원의 건강 검진을 해마다 지원합니다.",
    "parental": "Parental leave lasts sixteen weeks with full pay for every new mother or father.",
    "moving": "We pay up to 3,000 euros when somebody moves house to join an office.",
    "pets": "Dogs may come to the office on Fridays if nobody in the room objects.",
    "books": "Anyone may order technical books without asking; send the receipt to finance.",
}


@pytest.fixture(scope="module")
def handbook(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Selfright]:
    with opened_over(
        tmp_path_factory.mktemp("handbook"), {f"{name}.md": text for name, text in HANDBOOK.items()}
    ) as selfright:
        yield selfright


@pytest.mark.parametrize(
    ("question", "source"),
    [
        ("직원이 회사에 강아지를 데려와도 되나요?", "pets"),
        ("직원이 아이를 낳으면 휴가를 며칠 쓸 수 있나요?", "parental"),
        pytest.param(
            "직원의 이사 비용을 회사가 내나요?",
            "moving",
            marks=pytest.mark.xfail(
                reason="without a pack's list of names words count for more here: it comes fourth", strict=True
            ),
        ),
        ("직원이 책을 사면 회사가 비용을 내나요?", "books"),
    ],
)
def test_an_answer_in_english_alone_comes_before_korean_passages_with_the_question_s_words(
    handbook: Selfright, question: str, source: str
) -> None:
    assert f"{source}.md" in [hit.passage.document_id for hit in handbook.search(question, k=3)]


@pytest.mark.parametrize(
    ("question", "source"), [("직원의 휴가는 며칠인가요?", "leave"), ("암호는 얼마나 자주 바꾸나요?", "security")]
)
def test_an_answer_in_the_question_s_own_language_stays_first(handbook: Selfright, question: str, source: str) -> None:
    assert handbook.search(question, k=1)[0].passage.document_id == f"{source}.md"
