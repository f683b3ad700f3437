"""MedCAT 2 as a second reader of English: its model packs know far more names than the lexicon, and link them.

Load packs only from people you trust: some components of a pack are stored in a form that can run code when it is read.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from selfright.domain.errors import MissingExtra, SettingsError
from selfright_medical.lexicon import Concept, Kind, load_lexicon, words
from selfright_medical.spotting import Mention, longest, spotter

_TYPES: Mapping[Kind, str] = {
    "condition": "t019 t020 t033 t037 t046 t047 t048 t049 t190 t191 disorder disease condition",
    "symptom": "t184 symptom",
    "drug": "t109 t121 t125 t127 t195 t200 substance chemical drug",
}
_KIND_OF: dict[str, Kind] = {name: kind for kind, names in _TYPES.items() for name in names.split()} | {
    "medicinal product": "drug"
}
"""A pack's types → kinds: semantic types of UMLS, tags of SNOMED CT, our own kinds; others are passed over."""
_SURE = 0.3  # the least accuracy


class MedCatNames:
    """A source of mentions for ``MedicalExtractor(also=…)``.

    A concept that the lexicon knows by one of its names becomes the lexicon's; any other keeps the pack's name, with
    the key ``medcat:`` and its id. ``pack`` is a ``medcat.cat.CAT``, or what gives entities as that does.
    """

    def __init__(self, pack: Any) -> None:
        self._pack = pack

    def __call__(self, text: str) -> list[Mention]:
        """The pack's mentions, the longest of those that overlap, in the order of the text."""
        found = self._pack.get_entities(text)["entities"].values()
        sure = (entity for entity in found if float(entity.get("acc", 1.0)) >= _SURE)
        mentions = (
            Mention(_concept(entity, kind), int(entity["start"]), int(entity["end"]), "en")
            for entity in sure
            if (kind := _kind(entity))
        )
        return longest(mentions, len(text))


def _kind(entity: Mapping[str, Any]) -> Kind | None:
    types = (str(one).casefold() for one in entity.get("type_ids") or ())
    return next((_KIND_OF[name] for name in types if name in _KIND_OF), None)


def _concept(entity: Mapping[str, Any], kind: Kind) -> Concept:
    known = load_lexicon().concepts.get(str(entity["cui"]).lower())
    if known:
        return known
    name = str(entity["pretty_name"]).strip() or str(entity["cui"])
    for candidate in (name, str(entity.get("source_value", ""))):
        for mention in spotter(kind).find(candidate):
            if (mention.start, mention.end) == (0, len(candidate)) and words(candidate):
                return mention.concept
    return Concept(f"medcat:{entity['cui']}", kind, (name,), (name,), "medcat")


def load_medcat(path: Path) -> MedCatNames:
    """The names of a model pack (a folder or its .zip).

    Raises ``MissingExtra`` without the package, and ``SettingsError`` when there is no pack that it can read.
    """
    os.environ.setdefault("MEDCAT_DISABLE_VERSION_CHECK", "true")  # it would ask the network at import
    cat = MissingExtra.load("MedCAT 2", "medcat", "medcat.cat").CAT
    if not path.exists():
        raise SettingsError(f"{path}: there is no MedCAT model pack; give the folder or the .zip file of one")
    try:
        return MedCatNames(cat.load_model_pack(str(path)))
    except (OSError, ValueError, KeyError) as error:
        raise SettingsError(
            f"{path}: MedCAT cannot read this model pack ({error}); it must be one of MedCAT 2"
        ) from error
