"""Domain packs by name, and what they change of the tokenizer and the roles."""

import importlib
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from selfright.domain.errors import InputError, SettingsError, UnknownName
from selfright.domain.packs import GENERAL, DomainPack, installed_packs
from selfright.domain.ports import ProfileStore, Tokenizer
from selfright.domain.slots import Profile, Slot
from selfright.wiring.roles import Roles

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


def with_pack(roles: Roles, pack: DomainPack) -> Roles:
    """The roles as they are in the pack's field; judges take what speaks against an answer into account."""
    from selfright.roles.concerns import ConcernedEvaluator, ProfileWarningGenerator
    from selfright.roles.entity_filter import EntityFilterGrader, EntityFilterRefiner
    from selfright.roles.prompting import BilingualPrompter
    from selfright.roles.trust import TrustingGrader, TrustingRefiner

    return replace(
        roles,
        grader=TrustingGrader(EntityFilterGrader(roles.grader, pack, roles.first.analyzer), roles.first),
        refiner=TrustingRefiner(EntityFilterRefiner(roles.refiner, pack, roles.first.analyzer), roles.first),
        prompter=BilingualPrompter(pack.hints, roles.first),
        generator=ProfileWarningGenerator(roles.generator),
        evaluator=ConcernedEvaluator(roles.evaluator),
        referee=ConcernedEvaluator(roles.referee),
        floor=ProfileWarningGenerator(roles.floor) if roles.floor else None,
    )


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
    from selfright.memory.profiles import RowProfiles, SqliteProfiles
    from selfright.storage.rows import DatabaseRows

    if database is not None:
        return RowProfiles(DatabaseRows(database), pack.kinds_by_name)
    return SqliteProfiles(settings.home / _FILE, pack.kinds_by_name)
