"""Labelled rows from anywhere: what is no row, or no text, is named by its line."""

import json
from pathlib import Path

import pytest

from selfright.domain.errors import InputError
from selfright.wiring.calibrating import read_labelled

ROW = {"question": "Who?", "passage": "Ada.", "label": 1}


@pytest.mark.parametrize(
    ("line", "why"),
    [
        *((line, "") for line in ("[" * 100_000, '{"question": ' + '{"a":' * 100_000, "1" * 5_000, "NaN", '"text"')),
        ("not json", "JSON was expected"),
        ("[1]", "an object"),
        ('{"passage": "p", "label": 1}', "'question' must be a text"),
        ('{"question": "q", "passage": " ", "label": 1}', "'passage' must be a text"),
        *(
            (f'{{"question": "q", "passage": "p", "label": {label}}}', "'label' must be 1")
            for label in ("2", '"1"', "null", "[1]")
        ),
    ],
)
def test_what_is_no_row_is_named_by_its_line(tmp_path: Path, line: str, why: str) -> None:
    file = tmp_path / "labelled.jsonl"
    file.write_text(f"{json.dumps(ROW)}\n\n{line}\n", encoding="utf-8")
    with pytest.raises(InputError, match=f"line 3: .*{why}"):
        read_labelled(file)


def test_half_a_character_is_named_by_its_line(tmp_path: Path) -> None:
    file = tmp_path / "labelled.jsonl"
    for wrong in ({**ROW, "question": "Who\ud800?"}, {**ROW, "passage": "\udfffAda."}):
        file.write_text(f"{json.dumps(ROW)}\n{json.dumps(wrong)}\n", encoding="utf-8")
        with pytest.raises(InputError, match=r"line 2: half of a surrogate pair"):
            read_labelled(file)
