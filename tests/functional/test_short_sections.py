"""Release notes, error codes, part numbers, questions with answers: each section speaks for itself alone.

Also rows of a long table, which are said with the names of their columns.
"""

from collections.abc import Iterator

import pytest

from selfright import Selfright
from tests.support.folders import opened_over

DOCUMENTS = {
    "releases.md": """# Releases of the Marlow editor

## v4.2.1

Mends the printing of tables.

## v4.2.10

Adds a spelling checker for Korean.

## v4.12.1

Drops the old file format.
""",
    "faults.md": """# 오류 코드

## KR-20417

배터리 온도가 60도를 넘었습니다. 전원을 끄고 10분 기다리십시오.

## KR-20471

통신 모듈이 응답하지 않습니다. 케이블을 다시 연결하십시오.
""",
    "parts.md": """# Seals

## KX99-0070

Ring of 4 mm for the pump in hall A.

## KX99-0007

Ring of 9 mm for the pump in hall B.
""",
    "faq.html": """<title>Pool</title><h1>Pool</h1><h3>What does a day ticket cost?</h3><p>It costs 7.50 euros.</p>
<h3>When does the pool close?</h3><p>The pool closes at 21:30, on Sundays at 18:00.</p>
<h3>Are dogs allowed?</h3><p>Only guide dogs may come in.</p>""",
    "sauna.md": """# Sauna

**How hot is the sauna?**

It has 85 degrees.

Q: Are towels included?

A: Towels cost 2 euros.
""",
    "dryer.md": """# Dryer

## Error codes

| Code | Meaning | What to do |
|---|---|---|
| E1 | Sensor faulty | Unplug the dryer for ten minutes |
| E3 | Coil frozen | Warm the room above 10 degrees |
| E4 | Tank missing | Push the tank in until it clicks |

## Use

Press the button. The tank holds 4.5 litres. Wash the filter every two weeks.
""",
    "club.md": """# Sailing club

## Moorings

Moorings are let for one season, from 1 April to 31 October. Boats must be out of the water by 7 November so that the
chains can be inspected. A mooring costs 28 pounds for every metre of the boat's length.
""",
    "gym.md": """# 헬스장 안내

## 회비

| 기간 | 회비 |
| --- | --- |
| 1개월 | 60,000원 |
| 3개월 | 150,000원 |
| 12개월 | 480,000원 |
""",
    "rates.csv": "\n".join(
        [
            "station,zone,single_won,child_won",
            *(f"Stop{n:03},Z{n % 7},{1000 + n * 10},{500 + n * 5}" for n in range(150)),
        ]
    ),
}


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Selfright]:
    with opened_over(tmp_path_factory.mktemp("short"), DOCUMENTS) as selfright:
        yield selfright


@pytest.mark.parametrize(
    ("question", "said", "unsaid"),
    [
        ("What is new in v4.2.1?", "printing of tables", ("spelling", "file format")),
        ("What is new in 4.2.10?", "spelling checker", ("printing", "file format")),
        ("Which version adds a spelling checker?", "4.2.10", ("printing", "file format")),
        ("KR-20417 오류는 무슨 뜻인가요?", "60도", ("통신",)),
        ("KR-20471 오류가 나면 어떻게 하나요?", "케이블", ("배터리", "10분")),
        ("Which pump is KX99-0070 for?", "hall A", ("hall B",)),
        ("Which pump is KX990007 for?", "hall B", ("hall A",)),
        ("When does the pool close on Sundays?", "18:00", ("7.50", "dogs")),
        ("What does a day ticket cost?", "7.50", ("21:30", "dogs")),
        ("How hot is the sauna?", "85 degrees", ("2 euros",)),
        ("Are towels included?", "2 euros", ("85 degrees",)),
        ("Which zone is Stop117 in?", "zone: Z5", ("Stop118",)),
        ("single price of Stop117", "single_won: 2170", ("Stop118",)),
        ("What does E1 mean on the dryer?", "Sensor faulty", ("E3", "E4")),
        ("헬스장 3개월 회비는 얼마예요?", "150,000원", ("60,000원", "480,000원")),
    ],
)
def test_only_what_stands_under_the_thing_asked_about_is_said(
    opened: Selfright, question: str, said: str, unsaid: tuple[str, ...]
) -> None:
    answer = opened.ask(question)
    assert said in answer.answer
    assert not [word for word in unsaid if word in answer.answer]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("How much is a mooring per metre and when must boats be out of the water?", ("28 pounds", "7 November")),
        ("what does E1 mean and how big is the tank?", ("Sensor faulty", "4.5 litres")),
    ],
)
def test_each_part_of_a_question_is_answered(opened: Selfright, question: str, said: tuple[str, ...]) -> None:
    answer = opened.ask(question)
    assert [words for words in said if words not in answer.answer] == []


@pytest.mark.parametrize(
    "question", ["What is new in v4.2.2?", "KR-20400 오류는 무슨 뜻인가요?", "What is KX99-0071 for?"]
)
def test_a_code_that_no_document_names_is_refused(opened: Selfright, question: str) -> None:
    assert opened.ask(question).abstained


def test_a_passage_of_a_long_table_has_its_head(opened: Selfright) -> None:
    hit = opened.search("Stop117")[0]
    assert "Stop117" in hit.passage.text
    assert hit.passage.head == "station|zone|single_won|child_won"
