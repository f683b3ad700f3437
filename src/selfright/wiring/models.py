"""Language models by job: what the user hands over, and what settings name."""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from selfright.domain.budget import Meter
from selfright.domain.chat import ChatReply, ChatRequest, Job, OnText
from selfright.domain.errors import UsageError
from selfright.domain.flags import Flags
from selfright.domain.ports import ChatModel
from selfright.flow.presets import Preset
from selfright.settings import OFFLINE, Settings

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from selfright.llm.backend import Backend, Mode, RawReply
    from selfright.llm.calling import CallPolicy
    from selfright.llm.structured import Capabilities, ModelChecks
    from selfright.resilience import Breaker
    from selfright.telemetry.taps import ModelReply, Tap

_CAPABILITIES = "models.json"


class Models:
    """One model for every job, or others for some. What is learnt of a provider is shared by all turns."""

    def __init__(
        self,
        settings: Settings,
        llm: "BaseChatModel | None" = None,
        models: "Mapping[str, BaseChatModel] | None" = None,
    ) -> None:
        self._settings = settings
        self._backends: dict[str, Backend] = {}
        self._by_job = self._choose(llm, models or {})

    @property
    def jobs(self) -> frozenset[Job]:
        """The jobs that a model does."""
        return frozenset(job for job, backend in self._by_job.items() if backend is not None)

    @property
    def names(self) -> dict[str, str]:
        """``provider:model`` by job."""
        return {job.value: backend.name for job, backend in self._by_job.items() if backend is not None}

    @property
    def modes(self) -> dict[str, str]:
        """How each model is known to give objects."""
        if not self.names:
            return {}
        *_, capabilities = self._shared
        known = {name: capabilities.mode(name) for name in sorted(set(self.names.values()))}
        return {name: mode.value for name, mode in known.items() if mode is not None}

    @property
    def worse(self) -> frozenset[Job]:
        """The jobs in which a check found that the offline role does as well; a check may be made at any time.

        Until then, a small model of this machine is asked for nothing, for such models were found to be worse.
        """
        if not self.names:
            return frozenset()
        from selfright.llm.structured import FILE, ModelChecks

        checks = ModelChecks(self._settings.home / FILE)
        backends = {one.name: one for one in self._by_job.values() if one is not None}  # one model does several jobs
        found = {name: _worse(one, checks) for name, one in backends.items()}
        return frozenset(Job(job) for job, name in self.names.items() if job in found[name])

    def backend(self, job: Job) -> "Backend | None":
        """The model that does a job, None when none does."""
        return self._by_job[job]

    def chat(self, meter: Meter, tap: "Tap | None" = None) -> ChatModel:
        """The models within the turn that ``meter`` measures, with ``tap`` on each; each job is done by its own."""
        from selfright.llm.calling import TurnModel

        policy, breakers, capabilities = self._shared
        models: dict[Job, ChatModel] = {}
        for job, backend in self._by_job.items():
            if backend is not None:
                tapped, breaker = TappedBackend(backend, tap) if tap else backend, breakers[backend.provider]
                models[job] = TurnModel(tapped, meter, policy, breaker, capabilities, self._sleep)
        return _ByJob(models)

    async def _sleep(self, seconds: float) -> None:
        """Waits before another attempt."""
        await asyncio.sleep(seconds)

    def close(self) -> None:
        """Ends what runs on this machine for these models."""
        for backend in self._backends.values():
            if (close := getattr(backend, "close", None)) is not None:
                close()

    def _choose(
        self, llm: "BaseChatModel | None", models: "Mapping[str, BaseChatModel]"
    ) -> "dict[Job, Backend | None]":
        settings = self._settings
        whole = _wrap_model(llm) if llm is not None else self._make_named(settings.llm, settings.base_url)
        named = {Job(job): self._make_named(model, None) for job, model in settings.models.items()}
        given = {Job(job): _wrap_model(model) for job, model in models.items()}
        return dict.fromkeys(Job, whole) | named | given

    def _make_named(self, name: str, base_url: str | None) -> "Backend | None":
        if name == OFFLINE:
            return None
        from selfright.llm.providers import chat_model

        key = f"{name} {base_url or ''}"
        if key not in self._backends:
            self._backends[key] = chat_model(name, base_url)
        return self._backends[key]

    @cached_property
    def _shared(self) -> "tuple[CallPolicy, dict[str, Breaker], Capabilities]":
        """What turns share: how calls are made, which providers are out of reach, and how each model gives objects."""
        from selfright.llm.calling import CallPolicy
        from selfright.llm.structured import Capabilities
        from selfright.resilience import Breaker

        policy = CallPolicy(self._settings.llm_timeout_s, self._settings.llm_attempts)
        return policy, defaultdict(Breaker), Capabilities(self._settings.home / _CAPABILITIES)


def _worse(backend: "Backend", checks: "ModelChecks") -> frozenset[Job]:
    if checks.find_check(backend.name):
        return checks.worse(backend.name)
    return frozenset(Job) if getattr(backend, "is_small", False) else frozenset()  # only what runs here says so


def _wrap_model(model: "BaseChatModel") -> "Backend":
    from selfright.llm.chat import LangChainBackend

    return LangChainBackend(model)


class _ByJob:
    """One ``ChatModel`` that hands each request to the model of its job."""

    def __init__(self, models: Mapping[Job, ChatModel]) -> None:
        self._models = models

    async def complete(self, request: ChatRequest, on_text: OnText | None = None) -> ChatReply:
        return await self._models[request.job].complete(request, on_text)


def check_mode(mode: str, jobs: Collection[Job]) -> None:
    """Raises ``UsageError`` where a model is to answer alone, and none writes answers."""
    if mode == "llm" and Job.ANSWER not in jobs:
        raise UsageError(
            "mode 'llm' lets a language model answer by itself, and none is configured: set llm, or take another "
            "preset, which looks things up"
        )


def jobs_to_ask(
    models: Models, flags: Flags, preset: Preset
) -> tuple[frozenset[Job], Literal["cascade", "always", "never"]]:
    """The jobs that models are asked for, and when; ``auto`` leaves out what a check found them bad at.

    In a preset that judges no answer, who writes is the user's choice alone.
    """
    if flags.llm_judging != "auto":
        return models.jobs, flags.llm_judging
    return models.jobs - (models.worse if preset.judges else models.worse - {Job.ANSWER}), "cascade"


class TappedBackend:
    """A model with a tap on each attempt, below retries and budget, which a replay then goes through again."""

    def __init__(self, inner: "Backend", tap: "Tap") -> None:
        self.name, self.provider = inner.name, inner.provider
        self._inner = inner
        self._tap = tap

    async def attempt(self, request: ChatRequest, mode: "Mode", on_text: OnText | None = None) -> "RawReply":
        """The model's reply or the tap's; either way ``on_text`` hears it."""
        from selfright.llm.backend import RawReply
        from selfright.telemetry.taps import MODEL, PortCall, through

        heard = False

        def on_piece(piece: str) -> None:
            nonlocal heard
            heard = True
            if on_text:
                on_text(piece)

        async def ask() -> "ModelReply":
            reply = await self._inner.attempt(request, mode, on_piece if on_text else None)
            return reply.text, reply.finish, reply.prompt_tokens, reply.completion_tokens, reply.left_out

        call = PortCall(MODEL, "attempt", (self.name, request, mode.value))
        reply = RawReply(*await through(self._tap, call, ask))
        if on_text and not heard and reply.text:
            on_text(reply.text)
        return reply
