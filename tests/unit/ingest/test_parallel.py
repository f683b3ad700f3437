"""Reading in worker processes: the same documents, passages, report and progress as reading here."""

import json
import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from selfright.domain.passages import Document
from selfright.ingest import parallel
from selfright.ingest.files import SourceFile
from selfright.ingest.pipeline import Report, ingest
from tests.support.transfer import Shelf

SENTENCE = "The valve opens when the pressure in the line falls under two bar. 밸브는 압력이 떨어지면 열린다. "


class Kept(Shelf):
    """A store that holds nothing back."""

    def remove(self, document_ids: Sequence[str]) -> list[str]:
        raise AssertionError("adding removes nothing")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for n in range(6):
        folder = tmp_path / "docs" / f"part{n % 2}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"same{n // 2}.txt").write_text(f"Text {n}\n\n" + SENTENCE * 30 * n)
        (folder / f"page{n}.html").write_text(f"<h1>Page {n}</h1><p>{SENTENCE * n}</p><h2>More</h2><p>{SENTENCE}</p>")
    docs = tmp_path / "docs"
    (docs / "rows.jsonl").write_text(
        "".join(json.dumps({"_id": f"r{n}", "text": "x"}) + "\n" for n in range(5)) + "!\n"
    )
    (docs / "broken.pdf").write_text("no PDF")
    (docs / "empty.md").write_text("")
    (docs / "odd\udcff.txt").write_text("A name that is no text.")
    return docs


def run(files: Path, processes: int) -> tuple[Report, Any, list[tuple[int, int, str]]]:
    kept = Kept()
    told: list[tuple[int, int, str]] = []
    paths = [files / "part1", files]  # the same names in two folders, and rows among files
    report = ingest(paths, kept, kept, "manuals", lambda *now: told.append(now), processes=processes)
    return report, kept.committed, told


def test_processes_change_nothing(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = run(files, 1)
    assert len(expected[0].failed) == 3
    monkeypatch.setattr(parallel, "read_here", only_rows_here)
    assert run(files, 2) == expected


read_here = parallel.read_here


def only_rows_here(file: SourceFile) -> Any:
    assert file.path.suffix == ".jsonl", f"{file.path} should have been read by a worker"
    return read_here(file)


def test_few_files_need_no_processes(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "Workers", None)
    kept = Kept()
    assert ingest([files], kept, kept).added == 18


def dying(_: Any) -> Callable[[Any], Any]:
    """A worker's side that no file survives."""
    return lambda task: os.kill(os.getpid(), signal.SIGKILL)


def test_a_file_that_ends_its_readers_is_reported_and_the_others_go_on(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parallel, "_ENTRY", f"{__name__}:dying")
    kept = Kept()
    report = ingest([files / "part0", files / "rows.jsonl"], kept, kept, processes=2)
    assert report.added == 5
    assert len(report.failed) == 7
    assert "ended the reading process twice" in report.failed[0][1]


def dying_over_page_two(options: Any) -> Callable[[Any], Any]:
    """A worker's side that one file ends, in whatever company it comes."""
    plain = parallel.work(options)

    def read(tasks: Any) -> Any:
        if any("page2" in task["path"] for task in tasks):
            os.kill(os.getpid(), signal.SIGKILL)
        return plain(tasks)

    return read


def test_a_file_that_ends_its_readers_takes_none_of_its_company_with_it(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = ingest([files], first := Kept(), first, processes=1)
    monkeypatch.setattr(parallel, "_ENTRY", f"{__name__}:dying_over_page_two")
    kept = Kept()
    report = ingest([files], kept, kept, processes=2)
    assert report.added == expected.added - 1
    assert set(first.committed) - set(kept.committed) == {"part0/page2.html"}
    (why,) = [why for path, why in report.failed if "page2" in path]
    assert "ended the reading process twice" in why


def test_an_interrupted_run_ends_its_workers(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[parallel.Workers] = []

    class Watched(parallel.Workers):
        def __enter__(self) -> parallel.Workers:
            started.append(self)
            return super().__enter__()

    class Interrupted(Kept):
        def document(self, document_id: str) -> Document | None:
            raise KeyboardInterrupt

    monkeypatch.setattr(parallel, "Workers", Watched)
    store = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        ingest([files], store, store, processes=2)
    assert started
    assert all(process.poll() is not None for process in started[0]._alive)
