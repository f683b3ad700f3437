"""An index of three documents: what its documents answer is answered, what they do not is refused.

The documents and questions were written before the threshold for small indexes was fitted.
"""

from collections.abc import Iterator

import pytest

from selfright import Selfright
from tests.support.folders import opened_over

DOCUMENTS = {
    "leave.md": """# 휴가 규정

직원은 1년에 20일의 연차를 쓸 수 있습니다. 연차는 사흘 전에 팀장에게 알려야 합니다. 남은 연차는 다음 해 3월까지
쓸 수 있습니다. 병가는 진단서를 내면 10일까지 급여가 나옵니다.
""",
    "printer.txt": """The office printer is on the second floor next to the kitchen. It prints on A4 and A3 paper.
Colour prints need the code of your team. If the red lamp blinks, open the rear cover and remove the jammed sheet.
""",
    "backup.md": """# Backups

The database is backed up every night at 02:00 to the server in Ulm. Backups are kept for 35 days. A restore takes
about forty minutes and has to be approved by the operations lead.
""",
}
ANSWERED = {
    "연차는 며칠이에요?": "20일",
    "연차는 언제까지 알려야 하나요?": "사흘",
    "병가 때 급여가 나오나요?": "10일",
    "Where is the printer?": "second floor",
    "What should I do when the red lamp blinks?": "rear cover",
    "How long are backups kept?": "35",
    "Who approves a restore?": "operations lead",
    "At what time does the backup run?": "02:00",
}
ABSENT = (
    "What brand is the printer?", "How many pages can I print per month?", "What is the wifi password?",
    "Who wrote the backup script?", "How large is the database?", "How much does a colour print cost?",
    "Which database software is used?", "육아휴직은 몇 개월이에요?", "퇴직금은 어떻게 계산하나요?", "팀장이 누구예요?",
    "결혼하면 휴가가 며칠 나와요?", "프린터는 언제 샀어요?", "Can I work from home?", "회사 주소가 어디예요?",
)  # fmt: skip


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Selfright]:
    with opened_over(tmp_path_factory.mktemp("small"), DOCUMENTS) as selfright:
        yield selfright


def test_what_three_documents_answer_is_answered(small: Selfright) -> None:
    said = {question: small.ask(question, preset="full").answer for question in ANSWERED}
    wrong = [question for question, gold in ANSWERED.items() if gold not in said[question]]
    assert len(wrong) <= 1, wrong


def test_what_three_documents_do_not_answer_is_refused(small: Selfright) -> None:
    answered = [question for question in ABSENT if not small.ask(question, preset="full").abstained]
    assert len(answered) <= 4, answered
