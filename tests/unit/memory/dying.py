"""A turn in a process of its own, to be killed in the middle. Usage: dying.py FILE LOG [resume]

The graph is a → b → (c ∥ d) → e; each node writes its name to LOG before it works, and ``d`` waits to be killed unless
the turn is resumed.
"""

import asyncio
import sys
from pathlib import Path
from typing import Any

from langgraph.graph import END, START, StateGraph

from selfright.domain.answers import Attempt, Draft, Step
from selfright.domain.judgements import StopReason, Verdict
from selfright.domain.passages import Hit, Passage, Ranked, Strip
from selfright.flow.state import AgentState
from selfright.memory.conversation import TurnRecord
from selfright.memory.opening import open_sessions

PASSAGE = Passage("d#0", "d", "D", "한국어 text", 0, 8)
STRIP = Strip(PASSAGE, 0, 3, "한국어", 0.5)
UPDATES: dict[str, dict[str, Any]] = {
    "a": {"question": "q?"},
    "b": {"retrieved_docs": (Hit(PASSAGE, 0.1, Ranked(1, 2.0)),), "retrieved_docs_history": (frozenset({"d"}),)},
    "c": {"strips": (STRIP,), "verdict": Verdict.AMBIGUOUS},
    "d": {"best": Attempt(Draft("x"), None, 0.5, 0, None, (STRIP,)), "retrieved_docs_history": (frozenset({"e"}),)},
    "e": {"stop_reason": StopReason.ADEQUATE},
}
AFTER = {"a": ["b"], "b": ["c", "d"], "c": ["e"], "d": ["e"], "e": [END]}


def graph(log: Path, *, waiting: bool, checkpointer: Any) -> Any:
    built = StateGraph(AgentState)
    for name in UPDATES:
        built.add_node(name, node(name, log, waiting=waiting))
    built.add_edge(START, "a")
    for name, following in AFTER.items():
        for then in following:
            built.add_edge(name, then)
    return built.compile(checkpointer=checkpointer)


def node(name: str, log: Path, *, waiting: bool) -> Any:
    async def visit(state: AgentState) -> dict[str, Any]:
        with log.open("a") as file:
            file.write(name)
        if waiting and name == "d":
            await asyncio.sleep(600)
        return {**UPDATES[name], "trace": (Step(name, 0.0),)}

    return visit


async def turn(path: Path, log: Path, *, resumed: bool) -> dict[str, Any]:
    """Runs the turn and gives its end state."""
    sessions = await open_sessions(path)
    try:
        handle = await sessions.begin("u", "s", "질문?")
        assert handle.resumable == resumed
        start = None if handle.resumable else {"user_text": "질문?"}
        runs = graph(log, waiting=not resumed, checkpointer=sessions.checkpointer)
        config = {"configurable": {"thread_id": handle.thread_id}}
        end: dict[str, Any] = await runs.ainvoke(start, config, durability="sync")
        await sessions.finish(handle, TurnRecord("질문?", "q?", "답", end["stop_reason"]))
        return end
    finally:
        await sessions.close()


if __name__ == "__main__":
    asyncio.run(turn(Path(sys.argv[1]), Path(sys.argv[2]), resumed="resume" in sys.argv))
