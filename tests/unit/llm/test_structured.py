"""What models can do is remembered, whatever happens to the file; a schema in words is complete in both languages."""

import json
import threading
from pathlib import Path

import pytest

from selfright.llm.backend import Mode
from selfright.llm.structured import LADDER, Capabilities


def test_the_ladder_begins_where_it_worked(tmp_path: Path) -> None:
    path = tmp_path / "new" / "models.json"
    known = Capabilities(path)
    assert known.mode("openai:a") is None
    assert known.rungs("openai:a") == LADDER
    known.learn("openai:a", Mode.TEXT)
    assert known.rungs("openai:a") == (Mode.TEXT,)
    assert known.rungs("openai:b") == LADDER
    assert Capabilities(path).mode("openai:a") is Mode.TEXT
    assert [file.name for file in path.parent.iterdir()] == ["models.json"]


@pytest.mark.parametrize(
    "damage",
    [
        b"", b"{", b"[]", b"{}", b'{"models": []}', b'{"models": {"openai:a": "magic"}}', b'{"models": {"a": {}}}',
        b"\xff\xfe", b'{"models": ' + b"[" * 100_000, b" " * 300_000,
    ],
)  # fmt: skip
def test_a_damaged_file_is_forgotten_and_replaced(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "models.json"
    path.write_bytes(damage)
    known = Capabilities(path)
    assert known.rungs("openai:a") == LADDER
    known.learn("openai:a", Mode.TEXT)
    assert Capabilities(path).mode("openai:a") is Mode.TEXT


def test_a_place_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    known = Capabilities(tmp_path / "file" / "models.json")
    known.learn("openai:a", Mode.TEXT)
    assert known.mode("openai:a") is Mode.TEXT
    (tmp_path / "folder").mkdir()
    known = Capabilities(tmp_path / "folder")
    known.learn("openai:a", Mode.TEXT)
    assert known.mode("openai:a") is Mode.TEXT
    assert sorted(file.name for file in tmp_path.iterdir()) == ["file", "folder"]


def test_without_a_file_it_is_remembered_in_memory() -> None:
    known = Capabilities()
    known.learn("openai:a", Mode.TEXT)
    assert known.mode("openai:a") is Mode.TEXT


def test_only_so_many_are_kept_the_latest_ones(tmp_path: Path) -> None:
    known = Capabilities(tmp_path / "models.json")
    for number in range(205):
        known.learn(f"openai:{number}", Mode.SCHEMA)
    kept = json.loads((tmp_path / "models.json").read_text())["models"]
    assert len(kept) == 200
    assert "openai:4" not in kept
    assert known.mode("openai:204") is Mode.SCHEMA


def test_what_another_process_learned_is_not_lost(tmp_path: Path) -> None:
    one, other = (Capabilities(tmp_path / "models.json") for _ in range(2))
    one.learn("openai:a", Mode.TEXT)
    other.learn("openai:b", Mode.TEXT)
    one.learn("openai:c", Mode.SCHEMA)
    read = Capabilities(tmp_path / "models.json")
    assert [read.mode(f"openai:{name}") for name in "abc"] == [Mode.TEXT, Mode.TEXT, Mode.SCHEMA]


def test_threads_may_learn_together(tmp_path: Path) -> None:
    known = Capabilities(tmp_path / "models.json")
    threads = [threading.Thread(target=known.learn, args=(f"openai:{number}", Mode.TEXT)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    read = Capabilities(tmp_path / "models.json")
    assert all(read.mode(f"openai:{number}") is Mode.TEXT for number in range(20))
