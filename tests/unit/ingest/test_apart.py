"""Files of unknown origin, read by a process of their own: the same documents, and bounds that hold."""

import json
import os
import sys
import threading
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import IO

import pytest

from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import Document
from selfright.ingest import sandbox
from selfright.ingest.files import SourceFile
from selfright.ingest.reading import read_each
from selfright.ingest.sandbox import Bounds, ReadDocument, read_apart, read_page_apart
from selfright.ingest.splitting import split
from selfright.processes import receive, send

SENTENCE = "The valve opens when the pressure falls under two bar. 밸브는 압력이 떨어지면 열린다. "
CONTENTS = {
    "a.txt": SENTENCE * 40,
    "a.md": f"# Valve\n\n{SENTENCE * 40}",
    "a.html": f"<h1>Valve</h1><p>{SENTENCE}</p>",
    "a.csv": f"id,text\n1,{SENTENCE}\n2,\n",
    "a.json": json.dumps([{"id": "a", "text": SENTENCE}, {"id": "b"}]),
    "a.jsonl": "".join(json.dumps({"_id": f"r{n}", "text": SENTENCE}) + "\n" for n in range(450)) + "!\n",
    "b.pdf": "no PDF",
    "b.md": "",
}


def told(item: ReadDocument | Document | UnreadableFile) -> object:
    if isinstance(item, UnreadableFile):
        return item.path, item.why
    return item.document if isinstance(item, ReadDocument) else item


@pytest.mark.parametrize("name", CONTENTS)
def test_a_process_apart_reads_what_this_one_would(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(CONTENTS[name], encoding="utf-8")
    items = list(read_apart(SourceFile(path, name), Bounds()))
    assert [told(item) for item in items] == [told(item) for item in read_each(SourceFile(path, name))]
    for item in items:
        if isinstance(item, ReadDocument):
            assert item.passages(item.document) == list(split(item.document))


def greedy(answers: IO[bytes]) -> None:
    """A reader that takes memory without end."""
    task = receive(sys.stdin.buffer)
    sandbox.limit_process(task["memory"], task["seconds"])
    held = []
    try:
        while True:
            held.append(bytearray(2**22))
    except MemoryError:
        held.clear()
        send(answers, "memory")


def silent(_: IO[bytes]) -> None:
    """A reader that never answers."""
    while True:
        time.sleep(60)


def crashing(_: IO[bytes]) -> None:
    """A reader that is brought down."""
    os.abort()


@pytest.mark.parametrize(
    ("reader", "bounds", "why"),
    [
        (greedy, Bounds(memory=300 * 2**20), "more than 300 MiB of memory"),
        (silent, Bounds(seconds=2), "more than 2 s"),
        (crashing, Bounds(), "ended the reading process"),
    ],
)
def test_a_file_that_exceeds_its_bound_is_one_clear_error(
    reader: Callable[[IO[bytes]], None], bounds: Bounds, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "_ENTRY", f"{__name__}:{reader.__name__}")
    path = tmp_path / "a.txt"
    path.write_text(SENTENCE)
    (error,) = read_apart(SourceFile(path, "a.txt"), bounds)
    assert isinstance(error, UnreadableFile)
    assert why in error.why


def test_the_time_in_which_nobody_asks_does_not_count(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(CONTENTS["a.jsonl"])
    items = read_apart(SourceFile(path, "a.jsonl"), Bounds(seconds=20))
    first = next(items)
    assert isinstance(first, ReadDocument)
    assert all(timer.finished.is_set() for timer in threading.enumerate() if isinstance(timer, threading.Timer))
    assert len(list(islice(items, 450))) == 450
    assert list(items) == []


def test_memory_is_bounded_while_a_true_file_is_read(tmp_path: Path) -> None:
    pytest.importorskip("resource", reason="this system bounds no process")
    path = tmp_path / "many.md"
    path.write_text("ab " * 5_000_000)  # fifteen megabytes, and the words they are split into hundreds
    (error,) = read_apart(SourceFile(path, "many.md"), Bounds(memory=256 * 2**20))
    assert isinstance(error, UnreadableFile)
    assert "more than 256 MiB of memory" in error.why


def test_where_no_process_can_be_started_nothing_is_read_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    path = tmp_path / "a.txt"
    path.write_text(SENTENCE)
    (error,) = read_apart(SourceFile(path, "a.txt"), Bounds())
    assert isinstance(error, UnreadableFile)
    assert "no process could be started" in error.why


def test_a_page_is_the_first_document_of_a_file_or_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<h1>Valve</h1><p>It opens.")
    assert read_page_apart(tmp_path / "a.html").text == "# Valve\n\nIt opens."
    (tmp_path / "b.pdf").write_text("no PDF")
    with pytest.raises(UnreadableFile, match="no PDF that can be read"):
        read_page_apart(tmp_path / "b.pdf")
