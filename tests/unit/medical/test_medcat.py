"""MedCAT as a second reader: how a pack's concepts become slots; with a real pack where MedCAT is installed."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from selfright.domain.errors import MissingExtra, SettingsError
from selfright_medical.extract import MedicalExtractor
from selfright_medical.lexicon import load_lexicon
from selfright_medical.medcat import MedCatNames, load_medcat

INSTALLED = importlib.util.find_spec("medcat") is not None


class StandIn:
    """Finds what it was given, as a pack would tell it."""

    def __init__(self, *known: tuple[str, str, str, str, float]) -> None:
        self._known = known

    def get_entities(self, text: str) -> dict[str, Any]:
        entities = {}
        for cui, name, written, kind, accuracy in self._known:
            start = text.find(written)
            if start >= 0:
                entities[len(entities)] = {
                    "cui": cui, "pretty_name": name, "source_value": written, "type_ids": [kind], "acc": accuracy,
                    "start": start, "end": start + len(written),
                }  # fmt: skip
        return {"entities": entities, "tokens": []}


PACK = StandIn(
    ("C0398623", "Thrombophilia due to antithrombin deficiency", "antithrombin deficiency", "T047", 0.9),
    ("C0011849", "Diabetes Mellitus", "diabetes mellitus", "T047", 1.0),
    ("C0000001", "Doubtful", "zzyzx fever", "T047", 0.1),
    ("C0000002", "A gene", "F5 gene", "T028", 1.0),
    ("C0012345", "Obscurinib", "obscurinib", "T121", 1.0),
)


def told(text: str) -> list[tuple[str, str, bool, str]]:
    slots = MedicalExtractor(also=MedCatNames(PACK)).read(text)
    return [(slot.name, slot.value, slot.negated, slot.detail("key") or "") for slot in slots]


def test_concepts_become_slots_with_scope_and_dose() -> None:
    assert told("I have antithrombin deficiency and no diabetes mellitus.") == [
        ("conditions", "Thrombophilia due to antithrombin deficiency", False, "medcat:C0398623"),
        ("conditions", "diabetes", True, "condition:diabetes"),
    ]
    (slot,) = MedicalExtractor(also=MedCatNames(PACK)).read("I take obscurinib 20 mg twice daily.")
    assert (slot.name, slot.detail("dose"), slot.detail("frequency")) == ("medications", "20 mg", "2/day")


def test_doubtful_and_foreign_concepts_are_passed_over() -> None:
    assert told("I have an F5 gene and zzyzx fever") == [("symptoms", "fever", False, "symptom:fever")]


def test_korean_is_read_by_the_lexicon_as_before() -> None:
    assert told("당뇨가 있어요") == [("conditions", "당뇨병", False, "condition:diabetes")]


@pytest.mark.skipif(INSTALLED, reason="MedCAT is installed")
def test_without_the_package_the_extra_is_named() -> None:
    with pytest.raises(MissingExtra, match=r"selfright\[medcat\]"):
        load_medcat(Path("anywhere"))


@pytest.mark.skipif(not INSTALLED, reason="MedCAT is not installed")
@pytest.mark.filterwarnings("ignore")
def test_a_pack_made_of_the_lexicon_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEDCAT_DISABLE_VERSION_CHECK", "true")  # as the adapter does before it imports it
    pack = load_medcat(made(tmp_path))
    slots = MedicalExtractor(also=pack).read("She has diabetes mellitus and takes metformin. No chest pain.")
    keys = [(slot.detail("key"), slot.negated) for slot in slots]
    assert keys == [("condition:diabetes", False), ("drug:metformin", False), ("symptom:chest-pain", True)]
    assert [mention.concept.id for mention in pack("chest pain")] == ["symptom:chest-pain"]
    with pytest.raises(SettingsError, match="no MedCAT model pack"):
        load_medcat(tmp_path / "none")


def made(folder: Path) -> Path:
    """A model pack of a few of the lexicon's concepts."""
    import pandas
    from medcat.cat import CAT
    from medcat.config import Config
    from medcat.model_creation.cdb_maker import CDBMaker
    from medcat.vocab import Vocab

    config = Config()
    config.general.nlp.provider = "regex"
    concepts = [load_lexicon().concepts[key] for key in ("condition:diabetes", "drug:metformin", "symptom:chest-pain")]
    rows = [
        (one.id, name, "P" if name == one.name("en") else "A", one.kind) for one in concepts for name in one.forms_en
    ]
    table = pandas.DataFrame(rows, columns=["cui", "name", "name_status", "type_ids"])
    vocabulary = Vocab()
    vocabulary.add_word("patient", cnt=10, vec=[1.0, 0.0])
    cat = CAT(CDBMaker(config).prepare_csvs([table]), vocabulary, config=config)
    (folder / "pack").mkdir()
    return Path(cat.save_model_pack(str(folder / "pack"), "tiny"))
