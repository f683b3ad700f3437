"""The lexicon: large enough, whole, and without a name that means two things."""

import re
from collections import Counter, defaultdict
from importlib import resources

from selfright_medical.lexicon import KINDS, load_lexicon

CONCEPTS = load_lexicon().concepts.values()
REMEMBERED = ("condition", "symptom", "drug", "lab", "allergen")


def test_there_are_enough_concepts_to_remember() -> None:
    counts = Counter(concept.kind for concept in CONCEPTS)
    assert sum(counts[kind] for kind in REMEMBERED) >= 1_500
    assert set(counts) == set(KINDS)
    assert counts["condition"] >= 600
    assert counts["drug"] >= 600


def test_each_concept_has_one_line() -> None:
    files = list(resources.files("selfright_medical").joinpath("data").iterdir())
    texts = [file.read_text(encoding="utf-8") for file in files if file.name.partition("_")[0] in KINDS]
    assert sum(line.strip() != "" and line[0] != "#" for text in texts for line in text.splitlines()) == len(CONCEPTS)


def test_every_name_is_there_once_and_in_its_own_language() -> None:
    for concept in CONCEPTS:
        assert concept.group, concept.id
        for names in (concept.forms_en, concept.forms_ko):
            assert names
            assert all(name == name.strip() and name for name in names), concept.id
            assert len({name.casefold() for name in names}) == len(names), concept.id
        assert not any(re.search("[가-힣]", name) for name in concept.forms_en), concept.id
        korean = [name for name in concept.forms_ko if re.search("[가-힣]", name)]
        assert korean or concept.kind in ("lab", "term", "drug"), concept.id
        assert set(concept.brands) <= {*concept.forms_en, *concept.forms_ko}


def test_a_name_means_one_thing() -> None:
    meant: dict[str, set[str]] = defaultdict(set)
    for concept in CONCEPTS:
        for name in concept.forms_en:
            meant[name.casefold()].add(concept.id)
        for name in concept.forms_ko:
            meant[name.casefold().replace(" ", "")].add(concept.id)
    assert {name: ids for name, ids in meant.items() if len(ids) > 1} == {}


def test_brands_are_names_of_medicines() -> None:
    assert {concept.kind for concept in CONCEPTS if concept.brands} == {"drug"}
    metformin = load_lexicon().concepts["drug:metformin"]
    assert metformin.name("ko") == "메트포르민"
    assert metformin.name("en") == "metformin"
    assert "글루코파지" in metformin.brands
