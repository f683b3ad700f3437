"""Other meanings of a message are looked up only where the search leaves it open what was meant."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pytest

from selfright.domain.answers import Message
from selfright.domain.judgements import Verdict
from selfright.domain.passages import Hit
from selfright.flow.presets import PRESETS
from selfright.roles.grade.offline import GradedHits, OfflineGrader
from selfright.roles.rewrite.offline import OfflineRewriter
from tests.support.texts import analyzer
from tests.support.turns import FreshLibrary, Judge, Scripted, evaluation, events_of, hit, tools_of


@dataclass
class Open(Scripted):
    """Means something else than it says, unless the search settles it."""

    settled: bool = False

    async def settles(self, asked: str, question: str, hits: Sequence[Hit]) -> bool:
        del asked, question, hits
        return self.settled

    async def meanings(self, asked: str, question: str, history: Sequence[Message]) -> tuple[str, ...]:
        return (asked, "another", "a third")

    async def likeliest(self, asked: str, found: Mapping[str, Sequence[Hit]]) -> str:
        return "another"


@pytest.mark.parametrize(("settled", "searches"), [(True, 1), (False, 4)])
def test_what_is_settled_is_looked_up_once(settled: bool, searches: int) -> None:
    library = FreshLibrary()
    role = Open(verdict=Verdict.CORRECT, settled=settled)
    tools = tools_of(PRESETS["basic"], Judge(evaluation(0.9)), role=role, retriever=library)
    *_, last = events_of(PRESETS["basic"], tools, [Message("user", "alpha?")])
    assert library.searches == searches
    assert (last.answer.question == "another") is not settled


class Sure(OfflineGrader):
    """Gives every passage the same chance."""

    def __init__(self, chance: float) -> None:
        super().__init__(analyzer("The kettle is descaled with acid."))
        self.chance = chance

    def read(self, question: str, hits: Sequence[Hit]) -> GradedHits:
        return GradedHits(tuple(hits), (), (), (self.chance,) * len(hits), ())


@pytest.mark.parametrize(
    ("asked", "question", "chance", "settled"),
    [
        ("How is a kettle descaled?", "How is a kettle descaled?", 0.5, True),
        ("How is a kettle descaled?", "How is a kettle descaled?", 0.3, False),
        ("What does Descaling do?", "What does Descaling do?", 0.7, True),
        ("What does Descaling do?", "What does Descaling do?", 0.5, False),  # it is brief
        ("And the acid?", "And the acid?", 0.9, False),  # it leans on what was said
        ("And the acid?", "kettle: the acid?", 0.9, False),
    ],
)
async def test_a_question_that_stands_alone_and_is_answered_is_settled(
    asked: str, question: str, chance: float, settled: bool
) -> None:
    rewriter = OfflineRewriter(analyzer("The kettle is descaled with acid."), Sure(chance))
    assert await rewriter.settles(asked, question, [hit("d", "acid")]) is settled
    assert not await rewriter.settles(asked, question, [])
