"""Compiles a preset table to a LangGraph graph; the only module here that imports LangGraph."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, get_args, get_origin, get_type_hints

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from selfright.domain.tools import Tools
from selfright.flow.presets import Preset, Route
from selfright.flow.state import AgentState
from selfright.flow.table import NODES, Node, run_node

Graph = CompiledStateGraph[AgentState, Tools, AgentState, AgentState]


def compile_preset(preset: Preset, starts: Sequence[str] = ()) -> Graph:
    """The preset as a compiled graph; pass the turn's ``Tools`` as LangGraph's ``context`` when it runs.

    ``starts`` are the nodes to start with, in parallel; by default the preset's start node.
    """
    graph = StateGraph(AgentState, context_schema=Tools)
    for name, following in preset.edges.items():
        graph.add_node(name, _visit(name, NODES[name]))
        if isinstance(following, str):
            graph.add_edge(name, END if following == "__end__" else following)
        else:
            graph.add_conditional_edges(name, following, [t for t in _targets(following) if t in preset.edges])
    for start in starts or (preset.start,):
        graph.add_edge(START, start)
    return graph.compile(name=preset.name)


def mermaid(preset: Preset) -> str:
    """The compiled graph as Mermaid text."""
    return compile_preset(preset).get_graph().draw_mermaid()


def _visit(name: str, node: Node) -> Callable[..., Any]:
    async def visit(state: AgentState, runtime: Runtime[Tools]) -> dict[str, Any]:
        tools = _listening_tools(runtime)
        return await run_node(name, node(state, tools), tools)

    return visit


def _listening_tools(runtime: Runtime[Tools]) -> Tools:
    """The turn's tools; if there is a listener, their events go into the graph's stream."""
    tools = runtime.context
    return tools if tools.emit is None else replace(tools, emit=runtime.stream_writer)


def _targets(route: Route) -> list[str]:
    """The node names in a route's return type: ``Literal[...]`` or ``list[Literal[...]]``."""
    returned = get_type_hints(route)["return"]
    if get_origin(returned) is list:
        (returned,) = get_args(returned)
    return list(get_args(returned))
