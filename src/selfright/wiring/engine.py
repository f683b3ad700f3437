"""The services, wired by the settings. What is costly is built when it is first needed and then shared."""

import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, cached_property
from typing import TYPE_CHECKING

from selfright.domain.budget import Meter
from selfright.domain.chat import Job
from selfright.domain.errors import UsageError
from selfright.domain.events import TurnEvent
from selfright.domain.flags import Flags, by_their_names
from selfright.domain.packs import DomainPack
from selfright.domain.ports import Evaluator, ProfileStore, WebSearch
from selfright.domain.tools import Tools
from selfright.domain.traces import Judge
from selfright.domain.turns import Scope
from selfright.flow.presets import Preset, find_preset
from selfright.flow.run import Turn
from selfright.flow.strategies import check_strategy, create_strategy
from selfright.settings import Settings
from selfright.telemetry.taps import Tap, intercept
from selfright.wiring.judges import JudgeService
from selfright.wiring.models import Models, check_mode, jobs_to_ask
from selfright.wiring.networks import Preload
from selfright.wiring.open_index import OpenIndex, Overrides
from selfright.wiring.packs import SlotReaders, check_needs, load_pack, open_profiles
from selfright.wiring.roles import OfflineRoles, Roles, offline_roles, with_models

if TYPE_CHECKING:
    from selfright.flow.compile import Graph
    from selfright.ingest.pipeline import Progress
    from selfright.retrieval.reembedding import ReembedReport
    from selfright.storage.postgres import PostgresDatabase

_TRACING = tuple(f"{house}_{name}" for house in ("LANGSMITH", "LANGCHAIN") for name in ("TRACING", "TRACING_V2"))
_CALLBACKS = "langchain_core.callbacks.manager"
_JUDGE_CALLS = 4  # one judgement, with room to ask again for one that cannot be read


class Engine:
    """Makes turns; ``index`` is what they search, ``models`` are the language models, ``judging`` the judges."""

    def __init__(self, settings: Settings, overrides: Overrides | None = None) -> None:
        self.settings = settings
        overrides = overrides or Overrides()
        self.index = OpenIndex(settings, overrides)
        self.models = Models(settings, overrides.llm, overrides.models)
        self.judging = JudgeService(settings, self.index)
        self._profiles_override = overrides.profiles
        self._made: tuple[tuple[object, ...], OfflineRoles] | None = None
        self._preload = Preload(lambda: self.index.embedder, reads=not self.models.jobs)
        # A wrong preset or flag should be heard of now, not at the first question.
        check_strategy(self.flags(find_preset(settings.preset), {}).refine_strategy)

    def warm_up(self) -> None:
        """Begins to load the networks, beside whatever is done until they are needed."""
        self._preload.warm_up()

    def turn(
        self,
        preset: Preset,
        flags: Flags,
        scope: Scope,
        *,
        listen: bool = False,
        tap: "Tap | None" = None,
        models: Models | None = None,
    ) -> Turn:
        """A turn ready to run: the preset with tools and a meter of its own, searching within ``scope``.

        ``tap`` sees all that it asks of the world; ``models`` take the place of those that are configured.
        """
        tools = self._tools(preset, flags, scope, tap, models)
        if tap is not None:
            tools = _tap_tools(tools, tap)
        graph = compile_cached(preset.name) if langchain_listens() else None
        return Turn(preset, graph, replace(tools, emit=_into_the_stream) if listen else tools)

    def graph(self, preset_name: str | None) -> "Graph":
        """A copy of the compiled graph of a preset."""
        return compile_cached(find_preset(preset_name or self.settings.preset).name).copy()

    def reembed(self, progress: "Progress | None") -> "ReembedReport":
        """Gives the index in a folder the vectors of the embedder that is set."""
        from selfright.retrieval.locations import locate
        from selfright.retrieval.reembedding import reembed

        index, place = self.index, locate(self.settings.index)
        index.check_own()
        if place.engine != "embedded" or place.path is None:
            raise UsageError(
                f"{place.shown} is kept by its engine, where new vectors cannot take the place of the old ones at "
                "once: 'selfright index export' it, then 'selfright index import --no-vectors' into another place"
            )
        index.close_store()
        self._made = None
        return reembed(place.path, index.tokenizer, index.cached_embedder, progress)

    def explicit_flags(self, given: Mapping[str, object]) -> dict[str, object]:
        """The flags that the settings, or over them the call, say."""
        return {**self.settings.explicit_flags, **by_their_names(given)}

    def judge(self, flags: Flags, judge: Judge) -> tuple[Evaluator, Meter]:
        """A judge of finished answers, and the meter of what it costs: no part of any turn.

        Raises ``UsageError`` when a model is to judge and none is configured for it.
        """
        meter = Meter(_JUDGE_CALLS, flags.max_tokens, flags.deadline_s)
        if judge != "model":
            return self.offline.evaluator, meter
        if Job.EVALUATE not in self.models.jobs:
            raise UsageError("a model is to judge, but none is configured; set llm, or let the judge be 'local'")
        return with_models(self.offline, self.models.chat(meter), self.models.jobs, "always").evaluator, meter

    def close(self) -> None:
        """Closes the index, the database, and models that run in children of this process."""
        self.index.close()
        self.models.close()
        database = self.__dict__.get("database")
        if database is not None:
            database.close()

    def flags(self, preset: Preset, given: Mapping[str, object]) -> Flags:
        """The preset's flags; over them those that the settings say; over both the call's."""
        said = self.explicit_flags(given)
        flags = Flags().with_values({**preset.flags, **said})
        check_needs(flags, self.pack, self.models.jobs, self.settings.medcat_pack)
        return flags

    def _tools(
        self,
        preset: Preset,
        flags: Flags,
        scope: Scope,
        tap: "Tap | None" = None,
        models: Models | None = None,
    ) -> Tools:
        retriever = self.index.retriever(scope, flags)
        meter = Meter(flags.max_llm_calls, flags.max_tokens, flags.deadline_s)
        roles: Roles = self.offline
        models = models or self.models
        check_mode(preset.mode, models.jobs)
        chat, passed_over = models.chat(meter, tap) if models.jobs else None, ""
        if chat is not None:
            jobs, judging = jobs_to_ask(models, flags, preset)
            passed_over = models.names[Job.ANSWER] if Job.ANSWER in models.jobs - jobs else ""
            roles = with_models(self.offline, chat, jobs, judging)
        judge = roles.heuristic if flags.evaluator == "heuristic" else roles.evaluator
        return Tools(
            flags=flags,
            meter=meter,
            retriever=retriever,
            classifier=roles.classifier,
            evidence_filter=roles.evidence_filter,
            grader=roles.grader,
            refiner=roles.refiner,
            prompter=roles.prompter,
            generator=roles.generator,
            strategy=create_strategy(flags, judge, roles.fallback_evaluators, preset.routing),
            rewriter=roles.rewriter,
            slots=self._slots.reader(flags, meter, chat if Job.EXTRACT in models.jobs else None),
            profiles=self.profiles,
            abstainer=roles.abstainer,
            summarizer=roles.summarizer,
            referee=roles.referee,
            fallback_generator=roles.fallback_generator,
            passed_over=passed_over,
            web=self._web,
            router=self.index.router,
            pack=self.pack,
            main_language=self.index.main_language,
        )

    @cached_property
    def pack(self) -> DomainPack:
        """The field it knows its way in."""
        return load_pack(self.settings.pack)

    @cached_property
    def profiles(self) -> ProfileStore:
        """What is remembered of users."""
        return open_profiles(self.settings, self.pack, self._profiles_override, self.database)

    @cached_property
    def database(self) -> "PostgresDatabase | None":
        """Where sessions, profiles and traces are kept instead of in files."""
        if not self.settings.database:
            return None
        from selfright.memory.postgres import open_database

        return open_database(self.settings.database)

    @property
    def offline(self) -> OfflineRoles:
        """Every role without a model; made anew when a calibration was stored since, perhaps by another process."""
        state, made = self.judging.state, self._made
        if made is None or made[0] != state:
            index, judging = self.index, self.judging.judging()
            roles = offline_roles(
                index.tokenizer, index.statistics(), index.embedder, judging, index.cached_embedder, self.pack
            )
            self._made = made = state, roles
        return made[1]

    @cached_property
    def _slots(self) -> SlotReaders:
        return SlotReaders(self.pack, self.settings.medcat_pack)

    @cached_property
    def _web(self) -> WebSearch | None:
        from selfright.wiring.web import build_web

        return build_web(self.settings, self.index.tokenizer)


def _into_the_stream(_event: TurnEvent) -> None:
    """Stands for the turn's own stream, which takes its place when the turn runs."""


@cache
def compile_cached(preset: str) -> "Graph":
    """The compiled graph of a preset; graphs hold no tools, so one serves every turn."""
    from selfright.flow.compile import compile_preset

    return compile_preset(find_preset(preset))


def _tap_tools(tools: Tools, tap: Tap) -> Tools:
    """The tools with a tap on what is searched, and on what is stored of the user."""
    searched_with = (tools.flags.fusion, tools.flags.rrf_k)
    return replace(
        tools,
        retriever=tools.retriever.over(lambda inner: intercept(inner, tap, "retriever", (searched_with,))),
        profiles=intercept(tools.profiles, tap, "profiles"),
        web=intercept(tools.web, tap, "web") if tools.web else None,
        router=intercept(tools.router, tap, "router") if tools.router else None,
    )


def langchain_listens() -> bool:
    """Whether a callback, of the running chain's or LangSmith's tracing, would hear of a graph's nodes.

    Only LangGraph tells them. Where LangChain is not loaded and tracing is not asked for, nobody can listen.
    """
    if _CALLBACKS not in sys.modules and not any(map(os.environ.get, _TRACING)):
        return False
    from langchain_core.runnables.config import ensure_config, get_async_callback_manager_for_config

    return bool(get_async_callback_manager_for_config(ensure_config()).handlers)
