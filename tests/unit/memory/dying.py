"""A turn in a process of its own, to be killed in the middle. Usage: dying.py FILE LOG [resume]

The graph is a → b → (c ∥ d) → e; each node writes its name to LOG before it works, and ``d`` waits to be killed unless
the turn is resumed.
"""

import asyncio
import sys
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

from selfright.domain.answers import Attempt, Draft
from selfright.domain.judgements import StopReason, Verdict
from selfright.domain.passages import Hit, Passage, Ranked, Strip
from selfright.domain.tools import Tools
from selfright.flow.packing import unpack
from selfright.flow.presets import END, Edges, Preset
from selfright.flow.run import Turn, _parts
from selfright.flow.state import AgentState
from selfright.flow.walk import Node
from selfright.memory.conversation import TurnRecord
from selfright.memory.opening import open_sessions
from tests.support.turns import Judge, tools_of

PASSAGE = Passage("d#0", "d", "D", "한국어 text", 0, 8)
STRIP = Strip(PASSAGE, 0, 3, "한국어", 0.5)
UPDATES: dict[str, dict[str, Any]] = {
    "a": {"question": "q?"},
    "b": {"retrieved_docs": (Hit(PASSAGE, 0.1, Ranked(1, 2.0)),), "retrieved_docs_history": (frozenset({"d"}),)},
    "c": {"strips": (STRIP,), "verdict": Verdict.AMBIGUOUS},
    "d": {"best": Attempt(Draft("x"), None, 0.5, 0, None, (STRIP,)), "retrieved_docs_history": (frozenset({"e"}),)},
    "e": {"stop_reason": StopReason.ADEQUATE},
}
EDGES: Edges = {"a": "b", "b": lambda _: ["c", "d"], "c": "e", "d": "e", "e": END}
PRESET = Preset("dying", "", "a", EDGES)


def node(name: str, log: Path, *, waiting: bool) -> Node:
    async def visit(state: AgentState, tools: Tools) -> dict[str, Any]:
        del state, tools
        with log.open("a") as file:
            file.write(name)
        if waiting and name == "d":
            await asyncio.sleep(600)
        return UPDATES[name]

    return visit


async def turn(path: Path, log: Path, *, resumed: bool) -> dict[str, Any]:
    """Runs the turn and gives its end state."""
    sessions = await open_sessions(path)
    try:
        handle = await sessions.begin("u", "s", "질문?")
        assert (handle.left is not None) == resumed
        nodes = {name: node(name, log, waiting=not resumed) for name in UPDATES}
        running = Turn(PRESET, None, tools_of(PRESET, Judge()), keep=partial(sessions.keep, handle))
        end: dict[str, Any] = {}
        with mock.patch("selfright.flow.walk.NODES", nodes):
            async for kind, part in _parts(running, unpack(handle.left) if handle.left else {"user_text": "질문?"}):
                end = part if kind == "values" else end
        await sessions.finish(handle, TurnRecord("질문?", "q?", "답", end["stop_reason"]))
        return end
    finally:
        await sessions.close()


if __name__ == "__main__":
    asyncio.run(turn(Path(sys.argv[1]), Path(sys.argv[2]), resumed="resume" in sys.argv))
