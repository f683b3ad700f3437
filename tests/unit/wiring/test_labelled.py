"""Labelled rows from anywhere: what is no row, or no text, is named by its line."""

import json
from pathlib import Path

import pytest

from selfright.domain.errors import InputError
from selfright.wiring.labelled_rows import read_labelled

ROW = {"question": "Who?", "passage": "Ada.", "label": 1}


@pytest.mark.parametrize("line", ["[" * 100_000, '{"question": ' + '{"a":' * 100_000, "1" * 5_000, "NaN", '"text"'])
def test_what_is_no_row_is_named_by_its_line(tmp_path: Path, line: str) -> None:
    file = tmp_path / "labelled.jsonl"
    file.write_text(f"{json.dumps(ROW)}\n{line}\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 2"):
        read_labelled(file)


def test_half_a_character_is_named_by_its_line(tmp_path: Path) -> None:
    file = tmp_path / "labelled.jsonl"
    for wrong in ({**ROW, "question": "Who\ud800?"}, {**ROW, "passage": "\udfffAda."}):
        file.write_text(f"{json.dumps(ROW)}\n{json.dumps(wrong)}\n", encoding="utf-8")
        with pytest.raises(InputError, match=r"line 2: half of a surrogate pair"):
            read_labelled(file)
