"""The nodes by name, and a walk through a preset's table without LangGraph: for turns that no callbacks listen to.

The steps are LangGraph's: nodes of one step see the same state, what they return is taken over together when all have
ended, and each route sees its own node's part of it alone. ``tests/flow/test_walk.py`` holds both to the same.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing, nullcontext
from dataclasses import replace
from types import MappingProxyType
from typing import Any, get_type_hints

from selfright.domain.answers import Step
from selfright.domain.node_outcomes import NOTHING, NodeOutcome, withheld_passages
from selfright.domain.tools import Tools
from selfright.domain.turns import TurnCheckpoint
from selfright.flow.nodes.judge import evaluate, finalize, quality_check, repair_claims
from selfright.flow.nodes.search import grade, retrieve, rewrite, web_search
from selfright.flow.nodes.understand import classify, contextualize, extract_slots, store_memory
from selfright.flow.nodes.write import assemble_context, generate, refine_knowledge
from selfright.flow.presets import END, Preset
from selfright.flow.state import AgentState

Part = tuple[str, Any]
"""What LangGraph's ``astream`` gives for several modes: the mode (``updates``, ``values``, ``custom``) and its part."""

_EXTENDED: Mapping[str, Callable[[Any, Any], Any]] = {
    name: hint.__metadata__[0]
    for name, hint in get_type_hints(AgentState, include_extras=True).items()
    if hasattr(hint, "__metadata__")
}


Node = Callable[[AgentState, Tools], Awaitable[dict[str, Any]]]

NODES: Mapping[str, Node] = MappingProxyType(
    {
        node.__name__: node
        for node in (
            contextualize,
            extract_slots,
            store_memory,
            classify,
            retrieve,
            grade,
            refine_knowledge,
            web_search,
            assemble_context,
            generate,
            evaluate,
            quality_check,
            rewrite,
            repair_claims,
            finalize,
        )
    }
)


def outcome_of(node: str, update: Mapping[str, Any]) -> NodeOutcome:
    """What the trace says of a visit: the facts of its update; none for a node that decides nothing."""
    facts = _FACTS.get(node)
    return facts(update) if facts else NOTHING


def _generate(update: Mapping[str, Any]) -> NodeOutcome:
    draft = update["draft"]
    return NodeOutcome(refused=True) if draft.refused else NodeOutcome(sentences=len(draft.sentences))


def _evaluate(update: Mapping[str, Any]) -> NodeOutcome:
    judged = update.get("evaluation")
    if judged is None:
        return NodeOutcome(unjudged=True)
    return NodeOutcome(overall=judged.overall, quality=judged.answer_quality, judge=judged.source)


def _check(update: Mapping[str, Any]) -> NodeOutcome:
    reason = update.get("stop_reason")
    return NodeOutcome(stop=reason) if reason else NodeOutcome(again=update["next_node"])


_FACTS: Mapping[str, Callable[[Mapping[str, Any]], NodeOutcome]] = MappingProxyType(
    {
        "extract_slots": lambda update: NodeOutcome(slots=len(update["slot_out"])),
        "classify": lambda update: NodeOutcome(query_class=update["query_class"], fast_path=update["fast_path"]),
        "retrieve": lambda update: NodeOutcome(passages=len(update["retrieved_docs"]), routing=update.get("routing")),
        "grade": lambda update: NodeOutcome(
            verdict=update["verdict"],
            sufficiency=update["grading"].sufficiency,
            withheld=withheld_passages(update["grading"]),
        ),
        "refine_knowledge": lambda update: NodeOutcome(
            strips=len(update["strips"]), verdict=update["verdict"], removed_share=update["removed_share"]
        ),
        "web_search": lambda update: NodeOutcome(
            passages=len(update["web_docs"]),
            provider=update["web_provider"],
            withheld=withheld_passages(update.get("web_grading")),
        ),
        "assemble_context": lambda update: NodeOutcome(strips=len(update["strips"])),
        "generate": _generate,
        "evaluate": _evaluate,
        "quality_check": _check,
        "repair_claims": lambda update: NodeOutcome(repaired=len(update["repaired_claims"]) or None),
        "finalize": lambda update: NodeOutcome(ended=update["stop_reason"]),
    }
)


async def run_node(name: str, visit: Awaitable[dict[str, Any]], tools: Tools) -> dict[str, Any]:
    """The update that a node's visit gives, with its step; watchers of the turn are told of the visit."""
    began = time.perf_counter()
    with tools.visiting(name) if tools.visiting else nullcontext() as note:
        update = await visit
        outcome = outcome_of(name, update)
        if note is not None:
            note(outcome)
    return {**update, "trace": (Step(name, time.perf_counter() - began, outcome),)}


async def walk(
    preset: Preset, start: Mapping[str, Any] | TurnCheckpoint, tools: Tools, most_steps: int
) -> AsyncGenerator[Part, None]:
    """The turn's parts as they come, from its start or from where it was broken off.

    Raises what a node raises, and ``RecursionError`` after ``most_steps`` steps.
    """
    left = start if isinstance(start, TurnCheckpoint) else first_checkpoint(preset, start)
    state, names, updates = left.state, left.names, dict(left.ended)
    yield "values", state
    for _ in range(most_steps):
        if not names:
            return
        async with aclosing(_step([name for name in names if name not in updates], state, tools)) as parts:
            async for kind, part in parts:
                if kind == "updates":
                    updates.update(part)
                yield kind, part
        left = next_checkpoint(preset, TurnCheckpoint(state, names, updates))
        state, names, updates = left.state, left.names, {}
        yield "values", state
    if names:
        raise RecursionError(f"preset '{preset.name}' should have ended after {most_steps} steps")


def first_checkpoint(preset: Preset, start: Mapping[str, Any]) -> TurnCheckpoint:
    """Where a turn begins."""
    return TurnCheckpoint(_apply_updates(dict.fromkeys(_EXTENDED, ()), [dict(start)]), (preset.start,))


def next_checkpoint(preset: Preset, done: TurnCheckpoint) -> TurnCheckpoint:
    """Where a turn is when all nodes of a step have ended."""
    following = {target for name in done.names for target in _targets(preset, name, done.state, done.ended[name])}
    state = _apply_updates(done.state, [done.ended[name] for name in done.names])
    return TurnCheckpoint(state, tuple(sorted(following - {END})))


async def _step(names: Sequence[str], state: Any, tools: Tools) -> AsyncGenerator[Part, None]:
    if len(names) == 1 and tools.emit is None:  # the usual turn: nothing to wait for beside the node
        yield "updates", {names[0]: await run_node(names[0], NODES[names[0]](state, tools), tools)}
        return
    loop, happened = asyncio.get_running_loop(), asyncio.Queue[Any]()

    def emit(event: object) -> None:
        loop.call_soon_threadsafe(happened.put_nowait, event)

    heard = tools if tools.emit is None else replace(tools, emit=emit)
    visits = {asyncio.create_task(run_node(name, NODES[name](state, heard), heard)): name for name in names}
    for visit in visits:
        visit.add_done_callback(happened.put_nowait)  # called as events are, so behind those of the node
    try:
        left = len(visits)
        while left:
            event = await happened.get()
            if event in visits:
                left -= 1
                yield "updates", {visits[event]: event.result()}
            else:
                yield "custom", event
    finally:
        for visit in visits:
            visit.cancel()
        await asyncio.gather(*visits, return_exceptions=True)


def _targets(preset: Preset, name: str, state: Mapping[str, Any], update: Mapping[str, Any]) -> Sequence[str]:
    edge = preset.edges[name]
    following = edge if isinstance(edge, str) else edge(_apply_updates(state, [update]))
    return [following] if isinstance(following, str) else following


def _apply_updates(state: Mapping[str, Any], updates: Iterable[Mapping[str, Any]]) -> Any:
    """The state with the updates of one step in it; only fields that are extended may be in several."""
    new = dict(state)
    written: set[str] = set()
    for update in updates:
        for name, value in update.items():
            if name in _EXTENDED:
                new[name] = _EXTENDED[name](new[name], value)
            elif name in written:
                raise ValueError(f"two nodes of one step wrote '{name}'")
            else:
                new[name] = value
        written.update(update)
    return new
