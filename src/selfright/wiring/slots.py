"""Who reads facts about the user: the pack's rules, a linker of concepts beside them, a model in front of both."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

from selfright.domain.budget import Meter
from selfright.domain.chat import Job
from selfright.domain.errors import UsageError
from selfright.domain.flags import Flags
from selfright.domain.packs import DomainPack
from selfright.domain.ports import ChatModel, SlotExtractor


@dataclass
class SlotReaders:
    """The readers of a pack, each made once; ``medcat`` is the folder or archive of the linker's model."""

    pack: DomainPack
    medcat: Path | None

    def reader(self, flags: Flags, meter: Meter, chat: ChatModel | None) -> SlotExtractor:
        """Who reads slots in a turn with these flags; ``chat`` is the model for this job."""
        rules = self._linking if flags.medcat2_enabled else self._rules
        by_model = self.pack.model_extractor
        if not flags.llm_slots_enabled or chat is None or by_model is None:
            return rules
        return by_model(chat, rules, partial(_note_fallback, meter))

    @cached_property
    def _rules(self) -> SlotExtractor:
        return self.pack.extractor()

    @cached_property
    def _linking(self) -> SlotExtractor:
        return self.pack.linker(self.medcat) if self.pack.linker and self.medcat else self._rules


def check_needs(flags: Flags, pack: DomainPack, jobs: Collection[Job], medcat: Path | None) -> None:
    """Raises ``UsageError`` for a flag about slots that lacks what it needs."""
    needs = (
        ("medcat2_enabled", pack.linker, "a pack that links concepts, such as pack=medical"),
        ("medcat2_enabled", medcat, "medcat_pack=, the folder or .zip of a MedCAT 2 model pack"),
        ("llm_slots_enabled", pack.model_extractor, "a pack with slots for models, such as pack=medical"),
        ("llm_slots_enabled", Job.EXTRACT in jobs, "a model for job 'extract': set llm, or models.extract"),
    )
    lacking = [f"flag '{flag}' needs {what}" for flag, there, what in needs if getattr(flags, flag) and not there]
    if lacking:
        raise UsageError("; ".join(lacking))


def _note_fallback(meter: Meter) -> None:
    meter.degraded = True
    meter.trouble("slots read by rules")
