"""Files that callers send: their names, and what is left of them after a crash."""

import os
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.errors import UnreadableFile
from selfright.entrypoints.server.routes.documents import place_for, remove_leftovers, safe_name


@pytest.mark.parametrize("name", ["a.md", "등대 안내.pdf", "a..b.txt", "-rf.txt", "con.txt"])
def test_plain_names_are_taken(name: str) -> None:
    assert safe_name(name) == name


@pytest.mark.parametrize("name", ["", "..", ".a", "a/b", "a\\b", "C:a.md", "a\x00.md", "a\n.md", "x" * 151])
def test_names_that_lead_somewhere_are_not(name: str) -> None:
    with pytest.raises(UnreadableFile):
        safe_name(name)


@given(st.text(max_size=30))
def test_a_name_that_is_taken_is_one_part_of_a_path(name: str) -> None:
    try:
        taken = safe_name(name)
    except UnreadableFile:
        return
    assert not set(taken) & set("/\\:\x00")
    assert not taken.startswith(".")


def test_what_a_killed_service_left_is_removed_a_day_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "others").mkdir()
    (tmp_path / "others" / "letter.md").write_text("not ours")
    with place_for("letter.md") as now:
        now.write_text("in use")
        yesterday = tmp_path / f"{now.parent.name}-old"
        yesterday.mkdir()
        (yesterday / "letter.md").write_text("left behind")
        astray = tmp_path / f"{now.parent.name}-link"
        astray.symlink_to(tmp_path / "others")
        for path in (yesterday, tmp_path / "others", astray):
            os.utime(path, (time.time() - 90_000,) * 2, follow_symlinks=False)
        remove_leftovers()
        assert now.exists()
        assert not yesterday.exists()
        assert (tmp_path / "others" / "letter.md").exists()
    assert not now.parent.exists()


def test_a_service_without_a_place_for_temporary_files_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> str:
        raise FileNotFoundError("no usable temporary directory found")

    monkeypatch.setattr(tempfile, "gettempdir", none)
    remove_leftovers()
