"""Taps put between a turn and the ports that it uses.

A role that a model has a part in is at most looked at: what it decides depends on flags and on the budget, so a replay
decides it again, from the model's recorded replies (``tapped_backends``).
"""

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from types import MappingProxyType
from typing import Any

from selfright.assembly.roles import Roles
from selfright.domain.tools import Tools
from selfright.telemetry.tapped import (
    TappedAbstainer,
    TappedClassifier,
    TappedEvaluator,
    TappedGenerator,
    TappedGrader,
    TappedProfiles,
    TappedRefiner,
    TappedRetriever,
    TappedRewriter,
    TappedRouter,
    TappedSlots,
    TappedSummarizer,
    TappedWeb,
)
from selfright.telemetry.taps import Tap

_PORTS: Mapping[str, Callable[[Any, Tap], object]] = MappingProxyType(
    {
        "classifier": TappedClassifier,
        "grader": TappedGrader,
        "refiner": TappedRefiner,
        "generator": TappedGenerator,
        "evaluator": TappedEvaluator,
        "heuristic": lambda port, tap: TappedEvaluator(port, tap, "heuristic"),
        "stand_in": lambda port, tap: TappedEvaluator(port, tap, "heuristic"),
        "rewriter": TappedRewriter,
        "summarizer": TappedSummarizer,
        "abstainer": TappedAbstainer,
    }
)


def tapped_roles(roles: Roles, offline: Roles, tap: Tap) -> Roles:
    """The roles with the tap on each that no model has a part in, and its observer on the others."""
    kept: dict[str, Any] = {field.name: getattr(roles, field.name) for field in fields(Roles)}
    for name, tapped in _PORTS.items():
        chosen = tap if kept[name] is getattr(offline, name) else tap.observer
        if chosen is not None:
            kept[name] = tapped(kept[name], chosen)
    return Roles(**kept)


def tapped_tools(tools: Tools, tap: Tap) -> Tools:
    """The tools with a tap on what is searched, and on what is read of the user and remembered."""
    flags = tools.flags
    slots = tap.observer if flags.llm_slots_enabled else tap
    return replace(
        tools,
        retriever=tools.retriever.over(lambda inner: TappedRetriever(inner, tap, (flags.fusion, flags.rrf_k))),
        slots=TappedSlots(tools.slots, slots) if slots else tools.slots,
        profiles=TappedProfiles(tools.profiles, tap),
        web=TappedWeb(tools.web, tap) if tools.web else None,
        router=TappedRouter(tools.router, tap) if tools.router else None,
    )
