"""Walks a preset's table without LangGraph: for turns that keep no checkpoints and that no callback listens to.

The steps are LangGraph's: nodes of one step see the same state, what they return is taken over together when all have
ended, and each route sees its own node's part of it alone. ``tests/flow/test_walk.py`` holds both to the same.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any, get_type_hints

from selfright.domain.tools import Tools
from selfright.flow.presets import END, Preset
from selfright.flow.state import AgentState
from selfright.flow.table import NODES, run_node

Part = tuple[str, Any]
"""What LangGraph's ``astream`` gives for several modes: the mode (``updates``, ``values``, ``custom``) and its part."""

_EXTENDED: Mapping[str, Callable[[Any, Any], Any]] = {
    name: hint.__metadata__[0]
    for name, hint in get_type_hints(AgentState, include_extras=True).items()
    if hasattr(hint, "__metadata__")
}


async def walk(preset: Preset, start: AgentState, tools: Tools, most_steps: int) -> AsyncGenerator[Part, None]:
    """The turn's parts as they come. Raises what a node raises, and ``RecursionError`` after ``most_steps`` steps."""
    state = _apply_updates(dict.fromkeys(_EXTENDED, ()), [dict(start)])
    yield "values", state
    names = [preset.start]
    for _ in range(most_steps):
        updates: dict[str, Mapping[str, Any]] = {}
        async with aclosing(_step(names, state, tools)) as parts:
            async for kind, part in parts:
                if kind == "updates":
                    updates.update(part)
                yield kind, part
        following = {target for name in names for target in _targets(preset, name, state, updates[name])}
        state = _apply_updates(state, [updates[name] for name in names])
        yield "values", state
        names = sorted(following - {END})
        if not names:
            return
    raise RecursionError(f"preset '{preset.name}' should have ended after {most_steps} steps")


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
