"""Studies found in a folder, and shown without trusting them."""

import json
import os
from pathlib import Path

import pytest

pytest.importorskip("streamlit", reason="streamlit is not installed")

from selfright.entrypoints.ui.reports_view import Unreadable, framed, read, studies, summary
from selfright.entrypoints.ui.words import WORDS


def write(folder: Path, text: str, age: int = 0) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "study.json").write_text(text)
    os.utime(folder / "study.json", (1_700_000_000 - age, 1_700_000_000 - age))
    return folder


def test_the_folder_and_those_below_are_looked_through_the_newest_first(tmp_path: Path) -> None:
    write(tmp_path / "old", "{}", age=100)
    write(tmp_path / "new", "{}")
    (tmp_path / "none").mkdir()
    assert list(studies(tmp_path)) == ["new", "old"]
    write(tmp_path, "{}", age=200)
    assert list(studies(tmp_path)) == ["new", "old", tmp_path.name]
    assert studies(tmp_path / "missing") == {}


@pytest.mark.parametrize("text", ["", "[]", "{", '{"runs": 3}', "[" * 100_000])
def test_a_study_that_is_none_is_told(tmp_path: Path, text: str) -> None:
    with pytest.raises(Unreadable):
        read(write(tmp_path, text))
    with pytest.raises(Unreadable):
        read(tmp_path / "missing")


def test_means_are_shown_with_their_intervals(tmp_path: Path) -> None:
    estimates = {
        "f1": {"mean": 0.5, "low": 0.4, "high": 0.6},
        "<b>": {"mean": None, "low": None, "high": None},
        "calls": {"mean": 3},
    }
    study = {"runs": [{"system": "<i>a", "summary": estimates}, {"system": "b"}, 7]}
    table = summary(read(write(tmp_path, json.dumps(study))), WORDS["en"])
    assert "0.5 (0.4–0.6)" in table
    assert "&lt;i&gt;a" in table
    assert "&lt;b&gt;" in table
    assert table.count("–</td>") == 4


def test_a_report_is_framed_without_scripts_and_origin() -> None:
    page = framed("""<p title="x">'</p></iframe><script>top</script>""", "Report")
    assert 'sandbox=""' in page
    assert "default-src 'none'" in page
    assert "<script" not in page
    assert page.count("<iframe") == 1
    assert "allow-" not in page
