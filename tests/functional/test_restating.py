"""A follow-up that asks for fewer words is answered from the conversation, with the sources of the answer before."""

from pathlib import Path

import pytest

from selfright.domain.judgements import StopReason
from tests.support.folders import opened_over

KETTLE = """# Kettle

Limescale in the kettle is removed with 20 g of citric acid in half a litre of water. Boil it once and let it stand for
half an hour. Rinse the kettle twice before you use it again. Descale the kettle once a month where water is hard.
"""
KETTLE_KO = """# 주전자

주전자의 물때는 물 500 ml에 구연산 20 g을 넣고 끓여서 없앤다. 끓인 뒤 30분 동안 그대로 둔다.
다시 쓰기 전에 두 번 헹군다.
"""


@pytest.mark.parametrize(
    ("question", "shorter"),
    [
        ("How is limescale in the kettle removed?", "say that more simply"),
        ("주전자 물때는 어떻게 없애나요?", "그걸 한 문장으로 줄여줘"),
    ],
)
def test_fewer_words_come_from_the_conversation(tmp_path: Path, question: str, shorter: str) -> None:
    with opened_over(tmp_path, {"kettle.md": KETTLE, "주전자.md": KETTLE_KO}, embedder="none") as selfright:
        first = selfright.ask(question, session="s", user="kim")
        again = selfright.ask(shorter, session="s", user="kim")
        assert not first.abstained
        assert again.stop_reason is StopReason.FAST_PATH
        assert "retrieve" not in [step.node for step in again.trace]
        assert again.evaluation is not None
        sentence = again.answer.rsplit(" [", 1)[0]
        assert sentence in first.answer
        assert {c.document_id for c in again.citations} <= {c.document_id for c in first.citations}
        assert again.citations
        assert [c.n for c in again.citations] == list(range(1, len(again.citations) + 1))
        # What is asked next leans on the same conversation, and is looked up as ever.
        assert "retrieve" in [step.node for step in selfright.ask(question, session="s", user="kim").trace]


def test_nobody_elses_answer_is_said_again(tmp_path: Path) -> None:
    with opened_over(tmp_path, {"kettle.md": KETTLE}, embedder="none") as selfright:
        selfright.ask("How is limescale in the kettle removed?", session="s", user="kim")
        other = selfright.ask("say that more simply", session="s", user="lee")
        assert not other.citations
        assert "citric" not in other.answer


@pytest.mark.parametrize(
    ("question", "where"),
    [
        ("How is limescale in the kettle removed?", "where does it say that?"),
        ("How is limescale in the kettle removed?", "Where is that written?"),
        ("주전자 물때는 어떻게 없애나요?", "그건 어디에 나와요?"),
        ("주전자 물때는 어떻게 없애나요?", "어디에 적혀 있어?"),
    ],
)
def test_where_it_says_that_names_the_sources_of_the_last_answer(tmp_path: Path, question: str, where: str) -> None:
    with opened_over(tmp_path, {"kettle.md": KETTLE, "주전자.md": KETTLE_KO}, embedder="none") as selfright:
        first = selfright.ask(question, session="s")
        told = selfright.ask(where, session="s")
        assert {c.document_id for c in told.citations} == {c.document_id for c in first.citations}
        assert first.citations[0].document_id in told.answer.partition("\n")[0]
        # A place that a thing is in is looked up.
        assert "retrieve" in [step.node for step in selfright.ask("Where is the kettle?", session="s").trace]
