"""The engine knows no medicine: no name of the pack's lexicon stands in its code, its texts or its weights."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from selfright_medical.lexicon import load_lexicon

ENGINE = Path(__file__).resolve().parents[2] / "src" / "selfright"
ELSEWHERE = ("demo/", "cli/commands/demo.py", "models/tokenizer.json")
SUFFIXES = {".json", ".py", ".toml", ".txt"}

# What the lexicon does not list and belongs to the field all the same.
MORE = (
    "dosage", "dose", "incidence", "infant", "patients", "physician", "prevalence", "side effect", "부작용", "증상",
    "환자",
)  # fmt: skip

# Names of the lexicon that mean something else in the engine. Each was looked at where it stands.
OTHER_SENSES = frozenset(
    """
    a cold|admission|anxious|baby|back|bees|cats|cause|cell|child|children|colon|cost|covid|daily|deficiency|dogs|down
    echo|female|fish|gist|goal|hallucination|hand|head|height|hives|infant|joint|kiwi|lifespan|male|mass|medicine
    operation|patch|patient|pets|price|reaction|refresh|risk|salt|severe|shingles|sole|stage|stress|stroke|target|temp
    temperature|the runs|tolerance|treatment|weak|weakness|weight|woman|wound
    가격|가스|강아지|고양이|깜빡|남성|남자|단계|대하|매일|부족|비용|성인|아기|아이|어린이|여성|여자|용량|운동|원인|위험|장관|정제|지방|하루|환각
    """.strip()
    .replace("\n    ", "|")
    .split("|")
)


def medical_names() -> set[str]:
    """Every name of at least four letters or two syllables that has no other sense here, in lower case."""
    concepts = load_lexicon().concepts.values()
    names = {name.casefold() for c in concepts for name in (*c.forms_en, *c.forms_ko, *c.brands)} | set(MORE)
    return {name for name in names - OTHER_SENSES if len(name) >= (4 if name.isascii() else 2)}


def medicine_in(texts: Mapping[str, str]) -> list[str]:
    """``file:line: name`` for each name that stands as a word in one of the ``texts``."""
    runs = set(re.findall(r"[a-z]+|[가-힣]+", "\n".join(texts.values()).casefold()))
    starts = runs | {run[:end] for run in runs if not run.isascii() for end in range(2, len(run))}
    present = [name for name in medical_names() if set(re.findall(r"[a-z]+|[가-힣]+", name)) <= starts]
    if not present:
        return []
    pattern = re.compile(rf"(?<![a-z가-힣])(?:{'|'.join(map(re.escape, present))})(?![a-z])", re.IGNORECASE)
    found = ((name, text, match) for name, text in texts.items() for match in pattern.finditer(text))
    return [f"{name}:{text.count(chr(10), 0, match.start()) + 1}: {match[0]}" for name, text, match in found]


def engine_texts() -> dict[str, str]:
    paths = {path.relative_to(ENGINE).as_posix(): path for path in sorted(ENGINE.rglob("*")) if path.suffix in SUFFIXES}
    return {name: path.read_text("utf-8") for name, path in paths.items() if not name.startswith(ELSEWHERE)}


def test_no_name_of_the_lexicon_stands_in_the_engine() -> None:
    assert medicine_in(engine_texts()) == []


@pytest.mark.parametrize(
    "text", ["What dose of Metformin", "메트포르민은 무엇인가요", "어떤 증상이 있나요", "high blood pressure"]
)
def test_the_search_notices_medicine(text: str) -> None:
    assert medicine_in({"somewhere.py": text})
