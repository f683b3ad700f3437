"""Every node by name, and what the trace says of a visit to one: how long it took, and what it decided."""

import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import nullcontext
from types import MappingProxyType
from typing import Any

from selfright.domain.answers import Step
from selfright.domain.node_outcomes import NOTHING, NodeOutcome
from selfright.domain.tools import Tools
from selfright.flow.nodes.judge import evaluate, finalize, quality_check, repair_claims
from selfright.flow.nodes.search import grade, retrieve, rewrite, web_search
from selfright.flow.nodes.understand import classify, contextualize, extract_slots, store_memory
from selfright.flow.nodes.write import assemble_context, generate, refine_knowledge
from selfright.flow.state import AgentState


async def run_node(name: str, visit: Awaitable[dict[str, Any]], tools: Tools) -> dict[str, Any]:
    """The update that a node's visit gives, with its step; watchers of the turn are told of the visit."""
    began = time.perf_counter()
    with tools.visiting(name) if tools.visiting else nullcontext():
        update = await visit
    return {**update, "trace": (Step(name, time.perf_counter() - began, outcome_of(name, update)),)}


def outcome_of(node: str, update: Mapping[str, Any]) -> NodeOutcome:
    """The facts of an update; none for a node that decides nothing."""
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
        "grade": lambda update: NodeOutcome(verdict=update["verdict"], sufficiency=update["grading"].sufficiency),
        "refine_knowledge": lambda update: NodeOutcome(
            strips=len(update["strips"]), verdict=update["verdict"], removed_share=update["removed_share"]
        ),
        "web_search": lambda update: NodeOutcome(passages=len(update["web_docs"]), provider=update["web_provider"]),
        "assemble_context": lambda update: NodeOutcome(strips=len(update["strips"])),
        "generate": _generate,
        "evaluate": _evaluate,
        "quality_check": _check,
        "repair_claims": lambda update: NodeOutcome(repaired=len(update["repaired_claims"]) or None),
        "finalize": lambda update: NodeOutcome(ended=update["stop_reason"]),
    }
)


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
