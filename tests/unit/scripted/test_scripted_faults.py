"""Each kind of damage as JSON's own parser sees it; the faults are played in ``test_llm_faults``."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.scripted.catalogue import FAULTS
from tests.support.scripted.damage import DAMAGES, damaged

EVALUATION = {
    "grounding": 0.9, "completeness": 0.85, "accuracy": 1.0, "answer_quality": "adequate", "confidence": 0.8,
    "missing_info": ["the price"], "needs_retrieval": False, "reason": 'It says "so", and more.',
    "claims": [{"text": "A is B.", "status": "supported", "passages": [1]}],
}  # fmt: skip
GRADING = {"passages": [{"n": 1, "probability": 0.85}, {"n": 2, "probability": 0.1}], "sufficiency": 0.8}
OBJECTS: list[Mapping[str, Any]] = [EVALUATION, GRADING, {"query_class": "question"}, {"kept": [1, 3]}]


@pytest.mark.parametrize("kind", DAMAGES)
def test_each_spoils_what_fits_and_nothing_else(kind: str) -> None:
    for data in OBJECTS:
        whole = json.dumps(data)
        if not DAMAGES[kind].fits(data):
            with pytest.raises(ValueError, match=f"'{kind}' spoils a"):
                damaged(kind, data)
            continue
        spoilt = damaged(kind, data)
        assert spoilt == damaged(kind, data)
        assert json.dumps(data) == whole, "the object that was given stays as it is"
        if data is EVALUATION:
            assert _strictly(spoilt) != data


def _strictly(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def test_every_fault_is_documented() -> None:
    page = (Path(__file__).parents[2] / "support" / "scripted" / "README.md").read_text("utf-8")
    rows = "\n".join(line.split("|")[1] for line in page.splitlines() if line.startswith("| `"))
    assert [name for name in FAULTS if f"`{name}`" not in rows] == []
    harmless = {name for line in rows.splitlines() if "†" in line for name in line.split("`")[1::2]}
    assert harmless == {name for name, fault in FAULTS.items() if fault.harmless}
