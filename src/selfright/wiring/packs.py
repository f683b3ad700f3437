"""Domain packs by name, the words they bring for the tokenizer, the profiles of their users, and who reads those."""

import importlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from selfright.domain.budget import Meter
from selfright.domain.chat import Job
from selfright.domain.errors import InputError, SettingsError, UnknownName, UsageError
from selfright.domain.flags import Flags
from selfright.domain.packs import GENERAL, DomainPack, installed_packs
from selfright.domain.ports import ChatModel, ProfileStore, SlotExtractor, Tokenizer
from selfright.domain.slots import Profile, Slot

if TYPE_CHECKING:
    from selfright.settings import Settings
    from selfright.storage.postgres import PostgresDatabase

MAX_VALUE = 500
_FILE = "profiles.sqlite"


@cache
def load_pack(name: str) -> DomainPack:
    """The pack that a setting names: ``none``, an installed one, or a custom ``module:attribute``.

    Raises ``SettingsError`` when there is no such module or attribute, or when it is no ``DomainPack``.
    """
    if name == GENERAL.name:
        return GENERAL
    module, _, attribute = installed_packs().get(name, name).partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise SettingsError(f"setting 'pack' names {name}, which cannot be had ({error}); check both names") from None
    if not isinstance(found, DomainPack):
        raise SettingsError(f"setting 'pack' names {name}, a {type(found).__name__}; a DomainPack was expected")
    return found


def tokenizer_for(pack: DomainPack, made: str | None) -> Tokenizer:
    """Korean and English: the tokenizer that an index was ``made`` with, else the one with the words of ``pack``.

    An index keeps the words that it was made with, so it opens whichever pack is on. Where no pack with such words is
    known, the store refuses the index.
    """
    from selfright.retrieval.tokenizer import BilingualTokenizer

    own = BilingualTokenizer(user_words=pack.words())
    if made is None or made == own.name:
        return own
    others = (BilingualTokenizer(user_words=load_pack(name).words()) for name in (GENERAL.name, *installed_packs()))
    return next((other for other in others if other.name == made), own)


async def correct_profile(store: ProfileStore, pack: DomainPack, user: str, facts: Mapping[str, object]) -> Profile:
    """The profile after a user has set some kinds of it by hand.

    Raises ``UnknownName`` for a kind that the pack does not have, and ``InputError`` for what is no profile, and for a
    value that is too long or that the kind cannot hold; then nothing is changed.
    """
    Profile.of(facts)
    said: dict[str, list[Slot]] = {}
    for name in facts:
        if pack.kinds and name not in pack.kinds_by_name:
            raise UnknownName("kind of fact", name, pack.kinds_by_name)
    for name, given in facts.items():
        slots = Profile.of({name: given}).slots
        if any(len(slot.value) > MAX_VALUE for slot in slots):
            raise InputError(f"a value of '{name}' has more than {MAX_VALUE} characters; say it in fewer")
        if len(slots) > 1 and name in pack.kinds_by_name and not pack.kinds_by_name[name].many:
            raise InputError(f"'{name}' has one value, but got {len(slots)}; give the one that holds")
        said[name] = [pack.keyed(slot) for slot in slots]
    for name, keyed in said.items():
        await store.correct(user, name, keyed)
    return await store.profile(user)


def open_profiles(
    settings: "Settings", pack: DomainPack, given: ProfileStore | None, database: "PostgresDatabase | None" = None
) -> ProfileStore:
    """Where profiles are stored: what the user gave, the database, or a file in the home folder."""
    if given is not None:
        return given
    from selfright.memory.profiles import RowProfiles
    from selfright.storage.rows import DatabaseRows

    if database is not None:
        return RowProfiles(DatabaseRows(database), pack.kinds_by_name)
    return RowProfiles.in_file(settings.home / _FILE, pack.kinds_by_name)


@dataclass
class SlotReaders:
    """Who reads facts about the user: the pack's rules, a linker of concepts beside them, a model in front of both.

    Each is made once; ``medcat`` is the folder or archive of the linker's model.
    """

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
