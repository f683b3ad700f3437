"""What the trace says of a visit to a node: the facts of what it decided."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from selfright.domain.node_outcomes import NOTHING, NodeOutcome


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
