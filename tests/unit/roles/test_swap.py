"""A follow-up that names another of the same kind takes its place in the question before."""

from collections.abc import Sequence

import pytest

from selfright.domain.answers import Citation, Message
from selfright.models.encoder import E5
from selfright.retrieval.tokenizer import BilingualTokenizer
from selfright.roles.analysis import TextAnalyzer
from selfright.roles.rewrite.offline import OfflineRewriter
from selfright.roles.rewrite.swap import swapped
from selfright.roles.similarity import SentenceSimilarity


class Even:
    """Every word weighs the same."""

    def idf(self, terms: Sequence[str]) -> list[float]:
        return [1.0] * len(terms)


ANALYZER = TextAnalyzer(BilingualTokenizer(), Even())
LIKENESS = SentenceSimilarity(E5())


@pytest.mark.parametrize(
    ("named", "before", "expected"),
    [
        ("갤럭시는요?", "아이폰 배터리 교체 비용은?", "갤럭시 배터리 교체 비용은?"),
        ("그럼 낙동강은?", "한강은 길이가 얼마인가요?", "낙동강은 길이가 얼마인가요?"),
        ("냉장고는?", "소파 버리려면 스티커 값이 얼마예요?", "냉장고 버리려면 스티커 값이 얼마예요?"),
        ("아이들은요?", "수영장은 어른이 얼마예요?", "수영장은 아이들이 얼마예요?"),
        ("and yearly?", "How much is the monthly membership?", "How much is the yearly membership?"),
        ("what about on Wednesdays?", "When do you open on Saturdays?", "When do you open on Wednesdays?"),
        ("And the toaster?", "How long is the warranty on the kettle?", "How long is the warranty on the toaster?"),
    ],
)
def test_another_of_the_same_kind_takes_its_place(named: str, before: str, expected: str) -> None:
    assert swapped(named, before, ANALYZER, LIKENESS) == expected


@pytest.mark.parametrize(
    ("named", "before"),
    [
        ("그럼 부작용은?", "메트포르민은 어떤 약인가요?"),  # an attribute of all that was asked
        ("전화번호는?", "별빛캠핑장은 몇 시부터 들어갈 수 있어요?"),  # near a verb only
        ("교재는?", "수강률이 30%를 넘으면요?"),  # nothing but a number beside the word
        ("연체료는요?", "대출 기간은 며칠인가요?"),  # as near to one word as to the other
        ("what about the password?", "How do I reset the router?"),
        ("What else did you find interesting?", "Where was the exhibition held?"),  # it asks for more than a name
        ("1994년 남산외인아파트가 철거된 뒤 조성된 것은?", "한강의 길이는 얼마인가요?"),  # it stands alone
        ("and monthly payments?", "How much is the monthly membership?"),  # the same word again
        ("?", "How much is the monthly membership?"),
        ("and yearly?", ""),
    ],
)
def test_nothing_else_does(named: str, before: str) -> None:
    assert swapped(named, before, ANALYZER, LIKENESS) == ""


async def test_the_title_that_the_question_was_looked_up_under_stays() -> None:
    cited = Citation(1, "repair.md#0", "repair.md", "삼성 휴대전화 수리", "", 0, 4, "9만 원")
    history = [
        Message("user", "아이폰 배터리 교체 비용은?"),
        Message("assistant", "9만 원", question="삼성 휴대전화 수리: 아이폰 배터리 교체 비용은?", citations=(cited,)),
    ]
    rewriter = OfflineRewriter(ANALYZER, likeness=LIKENESS)
    question = await rewriter.standalone("갤럭시는요?", history)
    assert question == "삼성 휴대전화 수리: 갤럭시 배터리 교체 비용은?"
    joined = await OfflineRewriter(ANALYZER).standalone("갤럭시는요?", history)
    assert joined in await rewriter.meanings("갤럭시는요?", question, history)  # the index tells which
