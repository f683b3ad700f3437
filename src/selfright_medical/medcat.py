"""MedCAT 2 as a second reader of English: its model packs know far more names than the lexicon, and link them.

Load packs only from people you trust: some components of a pack are stored in a form that can run code when it is read.
"""

import importlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

from selfright.domain.errors import MissingExtra, SettingsError
from selfright_medical.lexicon import Concept, Kind, load_lexicon, words
from selfright_medical.spotting import Mention, longest, spotter

SEMANTIC_TYPES: Mapping[str, Kind] = MappingProxyType(
    {
        **dict.fromkeys(("T019", "T020", "T033", "T037", "T046", "T047", "T048", "T049", "T190", "T191"), "condition"),
        "T184": "symptom",
        **dict.fromkeys(("T109", "T121", "T125", "T127", "T195", "T200"), "drug"),
        **{kind: kind for kind in ("condition", "symptom", "drug")},
        **dict.fromkeys(("disorder", "disease", "Disease"), "condition"),
        **dict.fromkeys(("medicinal product", "substance", "Chemical"), "drug"),
    }
)
"""A pack's types → kinds: semantic types of UMLS, tags of SNOMED CT, our own kinds; others are passed over."""


class Annotator(Protocol):
    """What is used of ``medcat.cat.CAT``."""

    def get_entities(self, text: str) -> Any:
        """``{"entities": {number: {"start", "end", "cui", "pretty_name", "type_ids", "acc", …}}}``."""
        ...


class MedCatNames:
    """A source of mentions for ``MedicalExtractor(also=…)``.

    A concept that the lexicon knows by one of its names becomes the lexicon's; any other keeps the pack's name, with
    the key ``medcat:`` and its id. ``types``: which of the pack's types are read as what; ``sure``: the least accuracy.
    """

    def __init__(self, pack: Annotator, types: Mapping[str, Kind] = SEMANTIC_TYPES, sure: float = 0.3) -> None:
        self._pack, self._sure = pack, sure
        self._types = {name.casefold(): kind for name, kind in types.items()}

    def find(self, text: str) -> list[Mention]:
        """The pack's mentions, the longest of those that overlap, in the order of the text."""
        found = self._pack.get_entities(text)["entities"].values()
        read = ((entity, self._kind(entity)) for entity in found if float(entity.get("acc", 1.0)) >= self._sure)
        mentions = (
            Mention(_concept(entity, kind), int(entity["start"]), int(entity["end"]), "en")
            for entity, kind in read
            if kind
        )
        return longest(mentions, len(text))

    def _kind(self, entity: Mapping[str, Any]) -> Kind | None:
        types: Iterable[str] = entity.get("type_ids") or ()
        return next((self._types[name] for one in types if (name := str(one).casefold()) in self._types), None)


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
    try:
        cat = importlib.import_module("medcat.cat").CAT
    except ImportError as error:
        raise MissingExtra("MedCAT 2", 'pip install "selfright[medcat]"') from error
    if not path.exists():
        raise SettingsError(f"{path}: there is no MedCAT model pack; give the folder or the .zip file of one")
    try:
        return MedCatNames(cat.load_model_pack(str(path)))
    except (OSError, ValueError, KeyError) as error:
        raise SettingsError(
            f"{path}: MedCAT cannot read this model pack ({error}); it must be one of MedCAT 2"
        ) from error
