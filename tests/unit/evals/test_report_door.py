"""``selfright eval report``: the page anew, from what an evaluation has written."""

import json
from pathlib import Path

import pytest

from selfright.cli.main import main
from selfright.evals.writing import write
from tests.support import reports


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(reports.answers(), tmp_path)
    return tmp_path


def test_a_report_is_made_anew(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "report", str(folder)]) == 0
    assert main(["eval", "report", str(folder), "--json"]) == 0
    said = capsys.readouterr().out
    assert f"wrote {folder / 'report.html'}" in said
    assert json.loads(said[said.index("{") :]) == {"files": [str(folder / "report.html")]}
    assert "who built boat" in (folder / "report.html").read_text(encoding="utf-8")


def test_texts_can_be_left_out_of_the_page_alone(folder: Path) -> None:
    before = (folder / "study.json").read_bytes()
    assert main(["eval", "report", str(folder), "--no-texts"]) == 0
    assert "who built boat" not in (folder / "report.html").read_text(encoding="utf-8")
    assert (folder / "study.json").read_bytes() == before


def test_a_folder_without_a_study_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "report", str(tmp_path)]) == 1
    assert f"there is no study.json in {tmp_path}" in capsys.readouterr().err


def test_a_damaged_study_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "study.json").write_text("{", encoding="utf-8")
    assert main(["eval", "report", str(folder)]) == 1
    assert "is no study" in capsys.readouterr().err
    assert not (folder / "report.html").exists()
