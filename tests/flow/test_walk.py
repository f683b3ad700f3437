"""A preset walked by its table, and the same preset run by LangGraph: the same parts, events, answers and errors."""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.answers import Cost, Draft, GenerationRequest, Sentence, Step
from selfright.domain.chat import OnText
from selfright.domain.events import AnswerToken, NodeFinished, TurnEvent, TurnFinished
from selfright.domain.judgements import AnswerQuality, Verdict
from selfright.domain.passages import Hit, Refinement
from selfright.domain.turns import TurnCheckpoint
from selfright.flow import walk
from selfright.flow.compile import compile_preset
from selfright.flow.packing import unpack
from selfright.flow.presets import PRESETS
from selfright.flow.run import Turn, _parts, run
from selfright.flow.state import AgentState
from tests.flow.test_termination import LIBRARIES, ROLES, SCRIPTS
from tests.support.turns import Judge, Scripted, Web, evaluation, start_of, tools_of

GRAPHS = {name: compile_preset(preset) for name, preset in PRESETS.items()}


class Speaker(Scripted):
    """A writer whose drafts are heard in pieces, and who fails at draft number ``fails``."""

    fails = 0

    async def generate(self, request: GenerationRequest, on_text: OnText | None = None) -> Draft:
        draft = await super().generate(request)
        for piece in draft.text.split():
            if on_text is not None:
                on_text(f"{piece} ")
            await asyncio.sleep(0)
        if self.calls.count("generate") == self.fails:
            raise ValueError("no more drafts")
        return draft


def plain(value: Any) -> Any:
    """Without what differs from run to run, and so that NaN is like NaN."""
    match value:
        case dict():
            return {key: plain(each) for key, each in value.items()}
        case tuple() | list():
            return [plain(each) for each in value]
        case frozenset():
            value = sorted(value)
        case Step() | NodeFinished():
            value = value.node, value.said
        case Cost():
            value = replace(value, seconds=0.0)
        case TurnFinished(answer):
            steps = tuple(replace(step, seconds=0.0) for step in answer.trace)
            value = replace(answer, trace=steps, trace_id="", cost=replace(answer.cost, seconds=0.0))
    return repr(value)


def both(preset: str, **made: Any) -> list[list[Any]]:
    """Parts and events of both ways to run a turn; at the end of each the error, if it ended in one."""

    async def listed(source: Any) -> list[Any]:
        found: list[Any] = []
        try:
            async for part in source:
                found = [*found, part]
        except Exception as error:
            found.append(error)
        return [plain(part) for part in found]

    def way(graph: Any) -> list[Any]:
        def turn() -> Turn:
            values = {name: make() for name, make in made.items()}
            judge, role = values.pop("judge"), values.pop("role")
            web = Web(role) if values.pop("web", False) else None
            return Turn(PRESETS[preset], graph, tools_of(PRESETS[preset], judge, role=role, web=web, **values))

        start = start_of(PRESETS[preset])
        return [asyncio.run(listed(_parts(turn(), start))), asyncio.run(listed(run(turn(), start)))]

    return [way(GRAPHS[preset]), way(None)]


@given(
    preset=st.sampled_from(sorted(PRESETS)),
    script=SCRIPTS,
    role=ROLES,
    library=LIBRARIES,
    listen=st.booleans(),
    web=st.booleans(),
    limit=st.integers(0, 4),
    fails=st.integers(0, 6),
)
def test_walking_the_table_is_running_the_graph(
    preset: str, script: list[Any], role: Scripted, library: Any, listen: bool, web: bool, limit: int, fails: int
) -> None:
    def speaker() -> Speaker:
        same = Speaker(**{**vars(role), "calls": [], "written": None})
        same.fails = fails
        return same

    by_graph, by_table = both(
        preset,
        judge=lambda: Judge(*script),
        role=speaker,
        retriever=library,
        listen=lambda: listen,
        web=lambda: web,
        max_refine_iterations=lambda: limit,
    )
    assert by_table == by_graph


@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_a_turn_goes_on_from_any_checkpoint_to_the_same_end(preset: str, graph: bool) -> None:
    def turn(keep: Any = None, graph: Any = None) -> Turn:
        role = Speaker(verdict=Verdict.AMBIGUOUS, offline_generator=False)
        tools = tools_of(PRESETS[preset], Judge(evaluation(0.4)), role=role, web=Web(role))
        return Turn(PRESETS[preset], graph, tools, keep=keep)

    async def end(turn: Turn, start: Any) -> Any:
        return [part async for kind, part in _parts(turn, start) if kind == "values"][-1]

    async def ends() -> list[Any]:
        kept: list[TurnCheckpoint] = []

        async def keep(checkpoint: TurnCheckpoint) -> None:
            kept.append(checkpoint)

        whole = await end(turn(keep, GRAPHS[preset] if graph else None), start_of(PRESETS[preset]))
        assert (kept[0].names, kept[-1].names) == ((PRESETS[preset].start,), ())
        assert any(one.ended for one in kept) == PRESETS[preset].grades  # the web's node, beside the index's
        return [whole, *[await end(turn(), unpack(one)) for one in kept]]

    whole, *resumed = asyncio.run(ends())
    for one in resumed:
        assert {step.node for step in one["trace"]} == {step.node for step in whole["trace"]}
        assert len(one["trace"]) == len(whole["trace"])
        assert one["answer"] == whole["answer"]


@pytest.mark.parametrize("preset", sorted(PRESETS))
@pytest.mark.parametrize("listen", [False, True])
def test_two_passes_with_the_web_beside_the_index(preset: str, listen: bool) -> None:
    by_graph, by_table = both(
        preset,
        judge=lambda: Judge(evaluation(0.2, AnswerQuality.NEEDS_DOCS), evaluation(0.9)),
        role=lambda: Speaker(verdict=Verdict.AMBIGUOUS, offline_generator=False),
        listen=lambda: listen,
        web=lambda: True,
    )
    assert by_table == by_graph
    assert len(by_table[0]) > 5


class Slow(Speaker):
    """Refines without end, and notes when it was made to stop."""

    stopped = False

    async def refine(self, question: str, hits: Sequence[Hit], grading: Any = None) -> Refinement:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            self.stopped = True
            raise
        raise AssertionError


def turn_of(role: Scripted, **values: Any) -> Turn:
    return Turn(PRESETS["full"], None, tools_of(PRESETS["full"], Judge(evaluation(0.9)), role=role, **values))


@pytest.mark.parametrize("listen", [False, True])
def test_a_node_that_fails_stops_the_one_beside_it(listen: bool) -> None:
    role = Slow(verdict=Verdict.AMBIGUOUS)
    web = Web(role, error=MemoryError("the web is down"))

    async def all_of() -> list[TurnEvent]:
        return [event async for event in run(turn_of(role, web=web, listen=listen), start_of(PRESETS["full"]))]

    with pytest.raises(MemoryError):
        asyncio.run(asyncio.wait_for(all_of(), 10))
    assert role.stopped


@pytest.mark.parametrize("listen", [False, True])
async def test_a_turn_that_is_cancelled_leaves_nothing_running(listen: bool) -> None:
    role = Slow()

    async def heard() -> None:
        async with aclosing(run(turn_of(role, listen=listen), start_of(PRESETS["full"]))) as events:
            async for _ in events:
                pass

    with pytest.raises(TimeoutError):
        await asyncio.wait_for(heard(), 0.2)
    assert asyncio.all_tasks() == {asyncio.current_task()}
    assert role.stopped


async def test_a_listener_that_leaves_early_stops_the_turn() -> None:
    class Endless(Scripted):
        stopped = False

        async def generate(self, request: GenerationRequest, on_text: OnText | None = None) -> Draft:
            assert on_text is not None
            try:
                on_text("The first words")
                await asyncio.sleep(60)
            finally:
                self.stopped = True
            return Draft("", (Sentence(""),))

    role = Endless(offline_generator=False)
    async with aclosing(run(turn_of(role, listen=True), start_of(PRESETS["full"]))) as events:
        async for event in events:
            if isinstance(event, AnswerToken):
                break
    assert asyncio.all_tasks() == {asyncio.current_task()}
    assert role.stopped


async def test_words_may_be_said_on_a_thread() -> None:
    class Threaded(Scripted):
        async def generate(self, request: GenerationRequest, on_text: OnText | None = None) -> Draft:
            assert on_text is not None
            await asyncio.to_thread(on_text, "draft 1")
            return await super().generate(request)

    events = run(turn_of(Threaded(offline_generator=False), listen=True), start_of(PRESETS["full"]))
    assert [event.text async for event in events if isinstance(event, AnswerToken)] == ["draft 1"]


async def test_a_turn_that_would_not_end_is_ended() -> None:
    endless = replace(PRESETS["basic"], edges={**PRESETS["basic"].edges, "generate": "retrieve"})
    turn = Turn(endless, None, tools_of(endless, Judge(evaluation(0.9)), role=Scripted()))
    parts = _parts(turn, start_of(endless))
    with pytest.raises(RecursionError, match="'basic' should have ended after 6 steps"):
        _ = [part async for part in parts]


async def test_two_nodes_of_one_step_may_not_write_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    async def meddling(state: AgentState, tools: Any) -> dict[str, Any]:
        return {"strips": (), "web_docs": (), "web_provider": ""}

    monkeypatch.setattr(walk, "NODES", {**walk.NODES, "web_search": meddling})
    role = Scripted(verdict=Verdict.AMBIGUOUS)
    parts = _parts(turn_of(role, web=Web(role)), start_of(PRESETS["full"]))
    with pytest.raises(ValueError, match="wrote 'strips'"):
        _ = [part async for part in parts]
