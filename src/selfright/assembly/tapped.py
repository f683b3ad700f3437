"""Taps put between a turn and the ports that it uses.

A role that a model has a part in is at most looked at: what it decides depends on flags and on the budget, so a replay
decides it again, from the model's recorded replies (``tapped_backends``).
"""

from dataclasses import fields, replace
from typing import Any

from selfright.assembly.roles import Roles
from selfright.domain.tools import Tools
from selfright.telemetry.taps import Tap, intercept

_ROLES = (
    "classifier", "grader", "refiner", "generator", "evaluator", "heuristic", "stand_in", "rewriter", "summarizer",
    "abstainer",
)  # fmt: skip
_RECORDED = {"stand_in": "heuristic"}  # recordings know both by one name


def tapped_roles(roles: Roles, offline: Roles, tap: Tap) -> Roles:
    """The roles with the tap on each that no model has a part in, and its observer on the others."""
    kept: dict[str, Any] = {field.name: getattr(roles, field.name) for field in fields(Roles)}
    for name in _ROLES:
        chosen = tap if kept[name] is getattr(offline, name) else tap.observer
        if chosen is not None:
            kept[name] = intercept(kept[name], chosen, _RECORDED.get(name, name))
    return Roles(**kept)


def tapped_tools(tools: Tools, tap: Tap) -> Tools:
    """The tools with a tap on what is searched, and on what is read of the user and remembered."""
    flags = tools.flags
    searched_with = (flags.fusion, flags.rrf_k)
    slots = tap.observer if flags.llm_slots_enabled else tap
    return replace(
        tools,
        retriever=tools.retriever.over(lambda inner: intercept(inner, tap, "retriever", (searched_with,))),
        slots=intercept(tools.slots, slots, "slots") if slots else tools.slots,
        profiles=intercept(tools.profiles, tap, "profiles"),
        web=intercept(tools.web, tap, "web") if tools.web else None,
        router=intercept(tools.router, tap, "router") if tools.router else None,
    )
