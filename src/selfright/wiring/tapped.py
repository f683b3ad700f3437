"""Taps put between a turn and the ports that it uses, and on each attempt of its language models.

A role that a model has a part in is at most looked at: what it decides depends on flags and on the budget, so a replay
decides it again, from the model's recorded replies (``tapped_backends``).
"""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from selfright.domain.chat import ChatRequest, Finish, Job, OnText
from selfright.domain.tools import Tools
from selfright.llm.backend import Backend, Mode, RawReply
from selfright.telemetry.recording import MODEL
from selfright.telemetry.taps import PortCall, Tap, intercept
from selfright.wiring.roles import Roles


def tap_models(by_job: "Mapping[Job, Backend | None]", tap: Tap) -> "dict[Job, Backend | None]":
    """The models with a tap on each."""
    return {job: backend and TappedBackend(backend, tap) for job, backend in by_job.items()}


class TappedBackend:
    """A model with a tap on each attempt, below retries and budget, which a replay then goes through again."""

    def __init__(self, inner: Backend, tap: Tap) -> None:
        self._inner = inner
        self._tap = tap

    @property
    def name(self) -> str:
        """The model's own."""
        return self._inner.name

    @property
    def provider(self) -> str:
        """The model's own."""
        return self._inner.provider

    async def attempt(self, request: ChatRequest, mode: Mode, on_text: OnText | None = None) -> RawReply:
        """The model's reply or the tap's; either way ``on_text`` hears it."""
        said: list[str] = []

        async def ask() -> tuple[Any, ...]:
            heard = _both(said, on_text) if on_text else None
            return _plain(await self._inner.attempt(request, mode, heard))

        plain = await self._tap.call(PortCall(MODEL, "attempt", (self.name, request, mode.value)), ask)
        reply = _reply(plain)
        if on_text and not said and reply.text:
            on_text(reply.text)
        return reply


def _both(said: list[str], on_text: OnText) -> OnText:
    def on_piece(piece: str) -> None:
        said.append(piece)
        on_text(piece)

    return on_piece


def _plain(reply: RawReply) -> tuple[Any, ...]:
    """As a recording can hold it."""
    arguments = dict(reply.arguments) if isinstance(reply.arguments, Mapping) else reply.arguments
    plain = (reply.text, reply.finish, arguments, reply.prompt_tokens, reply.completion_tokens)
    return (*plain, reply.left_out) if reply.left_out else plain


def _reply(plain: tuple[Any, ...]) -> RawReply:
    text, finish, arguments, sent, received, *left_out = plain
    return RawReply(str(text), Finish(finish), arguments, sent, received, *left_out)


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


def tap_tools(tools: Tools, tap: Tap) -> Tools:
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
