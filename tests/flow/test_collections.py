"""Where a turn searches: by the router's choice, by name, everywhere when that brought too little, or as ever."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from selfright.domain.answers import EvaluationRequest
from selfright.domain.budget import Meter
from selfright.domain.errors import StoreError
from selfright.domain.flags import Flags
from selfright.domain.judgements import Claim, ClaimStatus, Evaluation, QueryClass
from selfright.domain.passages import Hit, Retrieval
from selfright.domain.ports import Evaluator
from selfright.domain.routing import RoutingDecision, RoutingReason
from selfright.domain.slots import Slot
from selfright.domain.tools import Tools
from selfright.domain.turns import Scope, ScopedRetriever
from selfright.flow.compile import compile_preset
from selfright.flow.presets import PRESETS
from selfright.flow.strategies import create_strategy
from selfright.memory.profiles import RowProfiles
from tests.support.turns import Everything, Judge, Scripted, evaluation, hit, start_of

BOATS = RoutingDecision(("boats",), "by description")


class Shelves:
    """A retriever that notes where it was asked, and has one passage for each collection."""

    def __init__(self, fresh: bool = False) -> None:
        self.asked: list[tuple[str, ...]] = []
        self._fresh = fresh

    async def search(self, query: str, k: int, collections: Sequence[str] = ()) -> Retrieval:
        self.asked.append(tuple(collections))
        n = len(self.asked) if self._fresh else 0
        return Retrieval(tuple(hit(f"{name}{n}", f"about {name} {n}") for name in collections or ("boats", "money")))


class Compass:
    """A router that says what it is told to."""

    def __init__(self, decision: RoutingDecision | Exception = BOATS, suffices: bool | Exception = True) -> None:
        self._decision, self._suffices = decision, suffices
        self.routed: list[tuple[str, QueryClass | None, tuple[str, ...]]] = []

    async def route(self, question: str, kind: QueryClass | None = None, slots: Sequence[Slot] = ()) -> RoutingDecision:
        self.routed.append((question, kind, tuple(slot.name for slot in slots)))
        if isinstance(self._decision, Exception):
            raise self._decision
        return self._decision

    def suffices(self, question: str, hits: Sequence[Hit]) -> bool:
        if isinstance(self._suffices, Exception):
            raise self._suffices
        return self._suffices


class OneSlot:
    async def extract(self, text: str, turn: int = 0) -> tuple[Slot, ...]:
        return (Slot("version", "2"),)


def tools(
    shelves: Shelves, compass: Compass | None, judge: Evaluator, given: tuple[str, ...] | None = None, **flags: Any
) -> Tools:
    role, values = Scripted(), Flags().with_values(flags)
    return Tools(
        flags=values,
        meter=Meter(values.max_llm_calls, values.max_tokens, values.deadline_s),
        retriever=ScopedRetriever(shelves, Scope("u", given)),
        classifier=role,
        evidence_filter=Everything(),
        grader=role,
        refiner=role,
        prompter=role,
        generator=role,
        strategy=create_strategy(values, judge, (judge,), "both"),
        rewriter=role,
        slots=OneSlot(),
        profiles=RowProfiles.in_file(None, {}),
        abstainer=role,
        summarizer=role,
        referee=judge,
        router=compass,
    )


def turn(
    shelves: Shelves,
    compass: Compass | None,
    judge: Evaluator | None = None,
    given: tuple[str, ...] | None = None,
    **flags: Any,
) -> dict[str, Any]:
    """The end state of a turn of the full preset."""
    start = start_of(PRESETS["full"], text="How do I steer?")
    box = tools(shelves, compass, judge or Judge(evaluation(0.9)), given, **flags)
    state: dict[str, Any] = asyncio.run(compile_preset(PRESETS["full"]).ainvoke(start, context=box))
    return state


def test_the_router_sees_question_class_and_slots_and_its_choice_is_searched_and_kept() -> None:
    shelves, compass = Shelves(), Compass()
    state = turn(shelves, compass)
    assert compass.routed == [("How do I steer?", QueryClass.QUESTION, ("version",))]
    assert shelves.asked == [("boats",)]
    assert state["routing"] == BOATS


def test_a_search_that_brought_too_little_is_made_everywhere_once() -> None:
    shelves = Shelves()
    state = turn(shelves, Compass(suffices=False))
    assert shelves.asked == [("boats",), ()]
    assert state["routing"] == RoutingDecision((), RoutingReason.TOO_LITTLE, fallback=True, about="boats")
    assert {found.passage.document_id for found in state["retrieved_docs"]} == {"boats0", "money0"}


def test_an_unsure_router_means_one_search_everywhere() -> None:
    shelves = Shelves()
    state = turn(shelves, Compass(RoutingDecision.everywhere("nothing points"), suffices=False))
    assert shelves.asked == [()]
    assert state["routing"].fallback


def test_a_pass_that_corrects_another_looks_everywhere() -> None:
    shelves, compass = Shelves(fresh=True), Compass()
    state = turn(shelves, compass, Judge(evaluation(0.1), evaluation(0.9)))
    assert shelves.asked == [("boats",), ()]
    assert len(compass.routed) == 1
    assert state["routing"].fallback


@pytest.mark.parametrize("compass", [Compass(OSError("down")), Compass(suffices=StoreError("bad"))])
def test_a_router_that_fails_costs_the_routing_and_not_the_turn(compass: Compass) -> None:
    shelves = Shelves()
    state = turn(shelves, compass)
    assert shelves.asked[-1] == ()
    assert state["routing"].fallback
    assert state["answer"] == "draft 1"


def test_collections_that_the_user_names_are_kept_to_in_every_pass() -> None:
    shelves, compass = Shelves(fresh=True), Compass(suffices=False)
    state = turn(shelves, compass, Judge(evaluation(0.1), evaluation(0.9)), given=("money",))
    assert shelves.asked == [("money",), ("money",)]
    assert not compass.routed
    assert state["routing"] == RoutingDecision(("money",), RoutingReason.NAMED_BY_USER)


class Doubter:
    """A judge for whom nothing supports what the answer says."""

    async def evaluate(self, request: EvaluationRequest) -> Evaluation:
        claims = tuple(Claim(sentence.text, ClaimStatus.UNSUPPORTED) for sentence in request.draft.sentences)
        return replace(evaluation(0.9), claims=claims)


def test_claims_are_looked_up_within_the_collections_of_the_turn_alone() -> None:
    shelves = Shelves(fresh=True)
    state = turn(shelves, None, Doubter(), given=("money",))
    assert [step.node for step in state["trace"]].count("repair_claims") == 1
    assert len(shelves.asked) > 1
    assert set(shelves.asked) == {("money",)}


def test_nothing_is_found_where_a_scope_and_a_wish_have_nothing_in_common() -> None:
    shelves = Shelves()
    money = ScopedRetriever(shelves, Scope("u", ("money",)))
    assert asyncio.run(money.search("q", 3, ("boats",))) == Retrieval(())
    assert asyncio.run(ScopedRetriever(shelves, Scope("u", ())).search("q", 3)) == Retrieval(())
    asyncio.run(money.search("q", 3, ("money", "boats")))
    assert shelves.asked == [("money",)]


def test_with_the_flag_off_a_turn_is_what_it_is_without_a_router() -> None:
    def course(compass: Compass | None, **flags: Any) -> tuple[Any, ...]:
        shelves = Shelves(fresh=True)
        state = turn(shelves, compass, Judge(evaluation(0.1), evaluation(0.4), evaluation(0.9)), **flags)
        steps = [(step.node, step.said) for step in state.pop("trace")]
        return shelves.asked, steps, {name: value for name, value in state.items() if name != "budget"}

    off = course(Compass(), dynamic_rag_routing=False)
    assert off == course(None)
    assert "routing" not in off[2]
    assert off != course(Compass())
