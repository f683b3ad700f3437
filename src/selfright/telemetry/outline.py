"""A finished turn → its trace; and traces as JSON, and back.

An outline is made of what can hold no content: names of nodes and what they decided, verdicts, scores, counts.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from types import MappingProxyType
from typing import Any

from selfright.answer_form import answer_view, step_view
from selfright.domain.answers import Answer, Cost, Iteration, Step
from selfright.domain.judgements import AnswerQuality, EvaluationSource, QueryClass, StopReason, Verdict
from selfright.domain.node_outcomes import NodeOutcome
from selfright.domain.routing import RoutingDecision
from selfright.domain.traces import Origins, Pass, Trace
from selfright.domain.turns import Scope

VERSION = 1
_SCORES = ("grounding", "completeness", "accuracy", "overall", "confidence")
_MOST_STEPS = 2_000
_NAMES = {kind: tuple(field.name for field in fields(kind)) for kind in (Trace, Origins, Pass, Cost)}


def finished(answer: Answer, at: float, scope: Scope, origins: Origins, *, content: bool) -> Trace:
    """The trace of a turn that came to its end; with ``content`` also everything that was said."""
    judged = answer.evaluation
    return Trace(
        id=answer.trace_id,
        at=at,
        kind="full" if content else "outline",
        user=scope.owner,
        collections=scope.collections,
        origins=origins,
        steps=answer.trace,
        passes=tuple(_pass(iteration) for iteration in answer.iterations),
        verdict=answer.verdict,
        scores={name: float(getattr(judged, name)) for name in _SCORES} if judged else {},
        quality=judged.answer_quality.value if judged else "",
        judge=judged.source.value if judged else "",
        stop_reason=answer.stop_reason,
        abstained=answer.abstained,
        degraded=answer.degraded,
        language=answer.language,
        cost=answer.cost,
        web=answer.web.effect if answer.web else "",
        answer=answer_view(answer) if content else None,
    )


def broken(
    trace_id: str, at: float, scope: Scope, origins: Origins, steps: Sequence[Step], seconds: float, error: Exception
) -> Trace:
    """The trace of a turn that an error ended before there was an answer: its class only, for its words may quote."""
    return Trace(
        trace_id,
        at,
        "outline",
        scope.owner,
        origins,
        tuple(steps[:_MOST_STEPS]),
        cost=Cost(seconds=seconds),
        error=type(error).__name__,
        collections=scope.collections,
    )


def _pass(iteration: Iteration) -> Pass:
    return Pass(
        iteration.verdict,
        iteration.overall,
        len(iteration.documents),
        iteration.improvement,
        iteration.duplicate_share,
    )


def trace_form(trace: Trace) -> dict[str, Any]:
    """``trace show --json``, and the first line of a trace's file."""
    return {
        "version": VERSION,
        **_shallow(trace),
        "origins": _shallow(trace.origins),
        "verdict": trace.verdict and trace.verdict.value,
        "stop_reason": trace.stop_reason.value,
        "steps": [step_view(step) for step in trace.steps],
        "passes": [{**_shallow(one), "verdict": one.verdict and one.verdict.value} for one in trace.passes],
        "cost": _shallow(trace.cost),
    }


def _shallow(record: Trace | Origins | Pass | Cost) -> dict[str, Any]:
    """The fields as they are; ``asdict`` would copy all that is in them, for every turn."""
    return {name: getattr(record, name) for name in _NAMES[type(record)]}


def trace_of(form: Mapping[str, Any]) -> Trace:
    """The trace that a form describes. Raises ``ValueError`` for anything else."""
    if form.get("version") != VERSION:
        raise ValueError(f"a trace of version {VERSION} was expected, but this one is of {form.get('version')!r}")
    try:
        # A trace kept before scopes were is taken for one that saw everything.
        values = {field.name: form[field.name] for field in fields(Trace) if field.name != "collections"}
        if values["kind"] not in ("outline", "full"):
            raise ValueError("a trace is an outline or full")
        if not isinstance(values["answer"], dict | None):
            raise ValueError("the answer in a trace is an object")
        values |= {
            "origins": Origins(**values["origins"]),
            "steps": tuple(_step_of(one) for one in values["steps"]),
            "passes": tuple(_pass_of(one) for one in values["passes"]),
            "verdict": _verdict(values["verdict"]),
            "scores": {str(name): _finite(score) for name, score in values["scores"].items()},
            "stop_reason": StopReason(values["stop_reason"]),
            "cost": Cost(**values["cost"]),
            "at": _finite(values["at"]),
            "web": str(values["web"]),
            "collections": _collections(form.get("collections")),
        }
        return Trace(**values)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"a trace lacks a part or has one of the wrong kind ({error})") from None


def _collections(value: object) -> tuple[str, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list | tuple) or not all(isinstance(name, str) for name in value):
        raise ValueError("the collections of a trace are names")
    return tuple(value)


def _step_of(form: Mapping[str, Any]) -> Step:
    outcome = _outcome_of(form["outcome"]) if "outcome" in form else _worded(str(form["said"]))
    return Step(str(form["node"]), _finite(form["seconds"]), outcome)


def _outcome_of(form: Mapping[str, Any]) -> NodeOutcome:
    return NodeOutcome(**{name: _FACTS[name](value) for name, value in form.items()})


def _worded(said: str) -> NodeOutcome:
    """What a trace kept before outcomes were says of a step: its words, and from them where a pass begins anew."""
    return NodeOutcome(again=said.removeprefix(_AGAIN) if said.startswith(_AGAIN) else "", words=said)


_AGAIN = "again: "


def _pass_of(form: Mapping[str, Any]) -> Pass:
    return Pass(**{**form, "verdict": _verdict(form["verdict"])})


def _verdict(value: str | None) -> Verdict | None:
    return None if value is None else Verdict(value)


def _finite(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError("a trace holds a number that is none")
    return float(value)


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("a trace holds a count that is none")
    return value


def _routing(form: Mapping[str, Any]) -> RoutingDecision:
    return RoutingDecision(
        tuple(map(str, form["collections"])), str(form["reason"]), bool(form["fallback"]), str(form["about"])
    )


_FACTS: Mapping[str, Callable[[Any], Any]] = MappingProxyType(
    {
        **dict.fromkeys(("slots", "strips", "passages", "sentences", "repaired"), _count),
        **dict.fromkeys(("sufficiency", "removed_share", "overall"), _finite),
        **dict.fromkeys(("fast_path", "refused", "unjudged"), bool),
        **dict.fromkeys(("provider", "again", "words"), str),
        **dict.fromkeys(("stop", "ended"), StopReason),
        "query_class": QueryClass,
        "verdict": Verdict,
        "quality": AnswerQuality,
        "judge": EvaluationSource,
        "routing": _routing,
    }
)
