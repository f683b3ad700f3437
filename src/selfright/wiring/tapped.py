"""Taps between a turn and the world: the index, the web, stored profiles, and each attempt of a language model."""

from collections.abc import Mapping
from dataclasses import replace

from selfright.domain.chat import ChatRequest, Job, OnText
from selfright.domain.tools import Tools
from selfright.llm.backend import Backend, Mode, RawReply
from selfright.telemetry.coding import MODEL, ModelReply
from selfright.telemetry.taps import PortCall, Tap, intercept


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
        heard = False

        def on_piece(piece: str) -> None:
            nonlocal heard
            heard = True
            if on_text:
                on_text(piece)

        async def ask() -> ModelReply:
            reply = await self._inner.attempt(request, mode, on_piece if on_text else None)
            arguments = dict(reply.arguments) if isinstance(reply.arguments, Mapping) else reply.arguments
            return reply.text, reply.finish, arguments, reply.prompt_tokens, reply.completion_tokens, reply.left_out

        reply = RawReply(*await self._tap.call(PortCall(MODEL, "attempt", (self.name, request, mode.value)), ask))
        if on_text and not heard and reply.text:
            on_text(reply.text)
        return reply


def tap_tools(tools: Tools, tap: Tap) -> Tools:
    """The tools with a tap on what is searched, and on what is stored of the user."""
    searched_with = (tools.flags.fusion, tools.flags.rrf_k)
    return replace(
        tools,
        retriever=tools.retriever.over(lambda inner: intercept(inner, tap, "retriever", (searched_with,))),
        profiles=intercept(tools.profiles, tap, "profiles"),
        web=intercept(tools.web, tap, "web") if tools.web else None,
        router=intercept(tools.router, tap, "router") if tools.router else None,
    )
