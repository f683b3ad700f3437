"""The rooms, wired by the settings. What is costly is built when it is first needed and then shared."""

from collections.abc import Mapping
from functools import cache, cached_property
from typing import TYPE_CHECKING

from selfright.assembly.index import Given, IndexRoom
from selfright.assembly.roles import Roles, offline_roles
from selfright.domain.budget import Meter
from selfright.domain.errors import UsageError
from selfright.domain.flags import Flags
from selfright.domain.ports import Tools, WebSearch
from selfright.flow.presets import Preset, find_preset
from selfright.flow.run import Turn
from selfright.flow.strategies import check_strategy, create_strategy
from selfright.settings import Settings

if TYPE_CHECKING:
    from selfright.flow.compile import Graph


class Engine:
    """Makes turns; ``index`` is what they search."""

    def __init__(self, settings: Settings, given: Given | None = None) -> None:
        self.settings = settings
        self.index = IndexRoom(settings, given or Given())
        # A wrong preset or flag should be heard of now, not at the first question.
        check_strategy(self._flags(find_preset(settings.preset), {}).refine_strategy)

    def turn(self, preset_name: str, flags: Mapping[str, object]) -> Turn:
        """A turn ready to run: the preset's graph with tools and a meter of its own."""
        preset = find_preset(preset_name)
        return Turn(preset, compiled(preset_name), self._tools(preset, self._flags(preset, flags)))

    def close(self) -> None:
        """Closes the index."""
        self.index.close()

    def _flags(self, preset: Preset, given: Mapping[str, object]) -> Flags:
        """The preset's flags; over them the settings' where they differ from the defaults; over both the call's."""
        defaults = Flags()
        names = Flags.__dataclass_fields__
        chosen = {n: getattr(self.settings.flags, n) for n in names}
        set_by_user = {name: value for name, value in chosen.items() if value != getattr(defaults, name)}
        flags = defaults.with_values({**preset.flags, **set_by_user, **given})
        if flags.medcat2_enabled:
            raise UsageError("flag 'medcat2_enabled' needs the medical pack, which this version does not have")
        return flags

    def _tools(self, preset: Preset, flags: Flags) -> Tools:
        roles = self._roles
        judge = roles.heuristic if flags.evaluator == "heuristic" else roles.evaluator
        return Tools(
            flags=flags,
            meter=Meter(flags.max_llm_calls, flags.max_tokens, flags.deadline_s),
            retriever=self.index.retriever(flags),
            classifier=roles.classifier,
            grader=roles.grader,
            refiner=roles.refiner,
            prompter=roles.prompter,
            generator=roles.generator,
            strategy=create_strategy(flags, judge, roles.heuristic, preset.routing),
            rewriter=roles.rewriter,
            slots=roles.slots,
            profiles=roles.profiles,
            abstainer=roles.abstainer,
            web=self._web,
            router=self.index.router,
        )

    @cached_property
    def _roles(self) -> Roles:
        return offline_roles(self.index.tokenizer, self.index.statistics(), self.index.embedder)

    @cached_property
    def _web(self) -> WebSearch | None:
        folder = self.settings.web_folder
        if self.settings.web_provider == "none" or folder is None:
            return None
        from selfright.ingest.reading import read_page
        from selfright.ingest.splitting import split
        from selfright.web.providers.static import StaticWeb

        return StaticWeb(folder, read_page, split, self.index.tokenizer)


def build_engine(settings: Settings, given: Given | None = None) -> Engine:
    """The engine for these settings; nothing is opened or loaded yet."""
    return Engine(settings, given)


@cache
def compiled(preset: str) -> "Graph":
    """The compiled graph of a preset; graphs hold no tools, so one serves every turn."""
    from selfright.flow.compile import compile_preset

    return compile_preset(find_preset(preset))
