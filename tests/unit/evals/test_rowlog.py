"""Rows on disk: taken up again, cut off after the last whole one, never mixed with another plan's."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfright.domain.errors import UsageError
from selfright.evals.results import Row
from selfright.evals.writing import open_rows
from tests.support.studies import row

PLAN = {"data": "abc", "systems": [["basic", "basic", {"top_k": 8}]]}
ROWS = [row(name, {"right": 1.0, "f1": None}) for name in ("등대", "b", "c")]


def kept(path: Path) -> list[Row]:
    with open_rows(path, PLAN) as log:
        assert {system for system, _ in log.rows} <= {"ba sic"}
        return list(log.rows.values())


def filled(path: Path) -> bytes:
    with open_rows(path, PLAN) as log:
        for one in ROWS:
            log.append("ba sic", one)
    return path.read_bytes()


def test_a_row_is_in_the_file_before_the_next_is_asked(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    with open_rows(path, PLAN) as log:
        log.append("basic", ROWS[0])
        assert path.read_bytes().count(b"\n") == 2


@settings(max_examples=15)
@given(st.data())
def test_cut_anywhere_the_whole_rows_before_stay(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    path = tmp_path_factory.mktemp("cut") / "out" / "rows.jsonl"
    whole = filled(path)
    cut = data.draw(st.integers(0, len(whole)))
    path.write_bytes(whole[:cut])
    expected = ROWS[: max(0, whole[:cut].count(b"\n") - 1)]
    assert kept(path) == expected
    with open_rows(path, PLAN) as log:  # and it goes on from there
        for one in ROWS[len(expected) :]:
            log.append("ba sic", one)
    assert kept(path) == ROWS
    assert path.read_bytes() == whole


def test_what_is_behind_a_broken_line_is_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    lines = filled(path).splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], b"\0" * 20 + b"\n", lines[3]]))
    assert kept(path) == ROWS[:1]


def test_another_plans_rows_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    before = filled(path)
    with pytest.raises(UsageError, match="rows of another plan"), open_rows(path, {**PLAN, "data": "def"}):
        pass
    assert path.read_bytes() == before
    assert kept(path) == ROWS  # and the lock was given back


def test_one_run_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    with open_rows(path, PLAN), pytest.raises(UsageError, match="written by another run"), open_rows(path, PLAN):
        pass
