"""A node's step in the trace: how long it took, and what it decided in a few words.

Without document text and profile content.
"""

import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import nullcontext
from types import MappingProxyType
from typing import Any

from selfright.domain.answers import Step
from selfright.domain.tools import Tools


async def traced(name: str, visit: Awaitable[dict[str, Any]], tools: Tools) -> dict[str, Any]:
    """The update that a node's visit gives, with its step; watchers of the turn are told of the visit."""
    began = time.perf_counter()
    with tools.visiting(name) if tools.visiting else nullcontext():
        update = await visit
    return {**update, "trace": (Step(name, time.perf_counter() - began, said(name, update)),)}


def said(node: str, update: Mapping[str, Any]) -> str:
    """One short line about an update, or an empty one."""
    teller = _TELLERS.get(node)
    return teller(update) if teller else ""


def _retrieve(update: Mapping[str, Any]) -> str:
    found, routing = f"{len(update['retrieved_docs'])} passages", update.get("routing")
    if routing is None:
        return found
    return f"{found} from {routing.names}, {routing.reason}" if routing.collections else f"{found}, {routing.reason}"


def _grade(update: Mapping[str, Any]) -> str:
    sufficiency = update["grading"].sufficiency
    return f"{update['verdict']}" + (f" ({sufficiency:.2f})" if sufficiency is not None else "")


def _evaluate(update: Mapping[str, Any]) -> str:
    evaluation = update.get("evaluation")
    if evaluation is None:
        return "not judged"
    return f"{evaluation.overall:.2f} {evaluation.answer_quality} ({evaluation.source})"


def _check(update: Mapping[str, Any]) -> str:
    return f"stop: {update['stop_reason']}" if update.get("stop_reason") else f"again: {update['next_node']}"


_TELLERS: Mapping[str, Callable[[Mapping[str, Any]], str]] = MappingProxyType(
    {
        "extract_slots": lambda update: f"{len(update['slot_out'])} slots",
        "classify": lambda update: f"{update['query_class']}" + (", fast path" if update["fast_path"] else ""),
        "retrieve": _retrieve,
        "grade": _grade,
        "refine_knowledge": lambda update: (
            f"{len(update['strips'])} strips, {update['verdict']}, {update['removed_share']:.0%} removed"
        ),
        "web_search": lambda update: f"{len(update['web_docs'])} passages from {update['web_provider']}",
        "assemble_context": lambda update: f"{len(update['strips'])} strips",
        "generate": lambda update: (
            "nothing to say" if update["draft"].refused else f"{len(update['draft'].sentences)} sentences"
        ),
        "evaluate": _evaluate,
        "quality_check": _check,
        "repair_claims": lambda update: (
            f"{len(update['repaired_claims'])} repaired" if update["repaired_claims"] else ""
        ),
        "finalize": lambda update: f"{update['stop_reason']}",
    }
)
