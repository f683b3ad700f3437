"""Reports found in a folder, and shown without trusting them."""

import os
from pathlib import Path

import pytest

pytest.importorskip("streamlit", reason="streamlit is not installed")

from selfright.ui import page
from selfright.ui.page import frame_report, read, studies


def write(folder: Path, text: str, age: int = 0) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.html").write_text(text)
    os.utime(folder / "report.html", (1_700_000_000 - age, 1_700_000_000 - age))
    return folder


def test_the_folder_and_those_below_are_looked_through_the_newest_first(tmp_path: Path) -> None:
    write(tmp_path / "old", "{}", age=100)
    write(tmp_path / "new", "{}")
    (tmp_path / "none").mkdir()
    assert list(studies(tmp_path)) == ["new", "old"]
    write(tmp_path, "{}", age=200)
    assert list(studies(tmp_path)) == ["new", "old", tmp_path.name]
    assert studies(tmp_path / "missing") == {}


def test_a_report_is_read_in_part_where_it_is_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "MOST_REPORT_BYTES", 4)
    assert read(write(tmp_path, "<h1>The report") / "report.html") == "<h1>"
    with pytest.raises(OSError, match="missing"):
        read(tmp_path / "missing" / "report.html")


def test_a_report_is_framed_without_scripts_and_origin() -> None:
    framed = frame_report("""<p title="x">'</p></iframe><script>top</script>""", "Report")
    assert 'sandbox=""' in framed
    assert "default-src 'none'" in framed
    assert "<script" not in framed
    assert framed.count("<iframe") == 1
    assert "allow-" not in framed
