"""The files of an index, read by processes of their own: the same documents in the same order, whatever ends one."""

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import pytest

from selfright.domain.errors import UnreadableFile
from selfright.ingest import parallel
from selfright.ingest.files import SourceFile
from selfright.ingest.parallel import read_files
from selfright.ingest.sandbox import ReadDocument, limit_process, read_split
from selfright.processes import Workers, receive, send

SENTENCE = "The valve opens when the pressure falls under two bar. 밸브는 압력이 떨어지면 열린다. "


def write(folder: Path, names: Sequence[str], repeat: int = 40) -> list[SourceFile]:
    """Files of the given names; each says its own."""
    for name in names:
        text = f"{name}. " + SENTENCE * repeat
        if name.endswith(".jsonl"):
            text = "".join(json.dumps({"_id": f"{name}-{n}", "text": SENTENCE}) + "\n" for n in range(300)) + "!\n"
        (folder / name).write_text(text, encoding="utf-8")
    return [SourceFile(folder / name, name) for name in names]


def items_of(files: Sequence[SourceFile]) -> list[tuple[str, object]]:
    """What comes, without the word that a file is waited for."""
    return [(file.name, item) for file, item in read_files(files) if item is not None]


def read_here(files: Sequence[SourceFile]) -> list[tuple[str, object]]:
    return [(file.name, item) for file in files for item in read_split(file)]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """One entry for each time that processes are made ready."""
    seen: list[object] = []

    class Seen(Workers):
        def __init__(self, *setup: object) -> None:
            seen.append(setup)
            super().__init__(*setup)  # type: ignore[arg-type]

    monkeypatch.setattr(parallel, "Workers", Seen)
    return seen


def test_many_files_come_as_they_would_here_and_in_order(tmp_path: Path, started: list[object]) -> None:
    names = [f"{n:03}.{('md', 'txt', 'jsonl')[n % 3]}" for n in range(120)]
    files = write(tmp_path, [*names, "torn.pdf", "gone.md"])
    (tmp_path / "gone.md").unlink()
    came = items_of(files)
    assert started
    assert all(isinstance(item, ReadDocument | UnreadableFile) for _, item in came)
    assert [(name, repr(item)) for name, item in came] == [(name, repr(item)) for name, item in read_here(files)]
    assert [name for name, item in came if isinstance(item, UnreadableFile)][-2:] == ["torn.pdf", "gone.md"]


@pytest.mark.parametrize(
    ("names", "repeat", "apart"),
    [(["a.md", "b.txt"], 40, False), (["a.pdf"], 1, True), (["a.md", "b.md"], 8_000, True)],
)
def test_a_few_small_texts_start_no_process(
    names: Sequence[str], repeat: int, apart: bool, tmp_path: Path, started: list[object]
) -> None:
    files = write(tmp_path, names, repeat)
    assert len(items_of(files)) == len(names)
    assert bool(started) is apart


def falling(answers: IO[bytes]) -> None:
    """A reader that one file brings down, whichever files come with it."""
    limit_process(receive(sys.stdin.buffer)["memory"])
    while (task := receive(sys.stdin.buffer)) is not None:
        if any(one["name"] == "bad.pdf" for one in task):
            os.abort()
        send(answers, [parallel._encoded(one) for one in task])


def test_a_file_that_ends_its_process_costs_no_other_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = write(tmp_path, ["a.md", "bad.pdf", "b.md", "c.md"])
    monkeypatch.setattr(parallel, "_ENTRY", f"{__name__}:falling")
    came = items_of(files)
    assert [name for name, _ in came] == ["a.md", "bad.pdf", "b.md", "c.md"]
    assert [name for name, item in came if isinstance(item, UnreadableFile)] == ["bad.pdf"]


def test_a_large_file_comes_document_by_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "_STREAMED", 10_000)
    monkeypatch.setattr(parallel, "_TASK", 10_000)
    monkeypatch.setattr(parallel, "_HERE", 0)
    files = write(tmp_path, ["a.md", "rows.jsonl", "b.md"])
    asked: list[str] = []

    def apart(file: SourceFile, bounds: object) -> object:
        asked.append(file.name)
        return read_split(file)

    monkeypatch.setattr(parallel, "read_apart", apart)
    assert [(name, repr(item)) for name, item in items_of(files)] == [(n, repr(i)) for n, i in read_here(files)]
    assert asked == ["rows.jsonl"]


def test_where_no_process_can_be_started_files_are_read_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = write(tmp_path, ["a.pdf", "b.md"])
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert [name for name, _ in items_of(files)] == ["a.pdf", "b.md"]


def test_who_stops_asking_ends_the_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pools: list[Workers] = []

    class Seen(Workers):
        def __enter__(self) -> "Seen":
            pools.append(self)
            return self

    monkeypatch.setattr(parallel, "Workers", Seen)
    items = read_files(write(tmp_path, [f"{n}.md" for n in range(40)], 2_000))
    assert any(item is not None for _, item in items)
    alive = list(pools[0]._alive)
    assert alive
    items.close()
    assert all(process.poll() is not None for process in alive)
