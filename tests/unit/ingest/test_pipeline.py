"""The pipeline: what a run reports, keeps, replaces and leaves alone."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from selfright.domain.errors import InputError
from selfright.domain.passages import Document, DocumentInfo, Passage, StoreInfo
from selfright.ingest.pipeline import Report, ingest

SENTENCE = "The valve opens when the pressure in the line falls under two bar. "


class Shelf:
    """A store in memory that shows what was committed only, and counts the work it was given."""

    def __init__(self) -> None:
        self.committed: dict[str, tuple[Document, Sequence[Passage]]] = {}
        self.pending: dict[str, tuple[Document, Sequence[Passage]]] = {}
        self.batches: list[int] = []
        self.commits: list[int] = []

    def put(self, batch: Sequence[tuple[Document, Sequence[Passage]]]) -> None:
        assert len({document.id for document, _ in batch}) == len(batch)
        self.pending.update({document.id: (document, passages) for document, passages in batch})
        self.batches.append(sum(len(passages) for _, passages in batch))

    def remove(self, document_ids: Sequence[str]) -> list[str]:
        raise AssertionError("adding removes nothing")

    def commit(self) -> None:
        self.committed.update(self.pending)
        self.commits.append(sum(len(passages) for _, passages in self.pending.values()))
        self.pending = {}

    def document(self, document_id: str) -> Document | None:
        found = self.committed.get(document_id)
        return found[0] if found else None

    def documents(self) -> Iterator[DocumentInfo]:
        raise AssertionError("a run looks documents up one by one")

    def info(self) -> StoreInfo:
        raise AssertionError("a run needs no figures")

    def texts(self) -> dict[str, str]:
        return {name: document.text for name, (document, _) in self.committed.items()}


def counts(report: Report) -> tuple[int, int, int, int]:
    return report.added, report.replaced, report.unchanged, len(report.failed)


def folder(root: Path, **files: str) -> Path:
    for name, text in files.items():
        path = root / name.replace("__", "/")
        path = path.with_name(path.name.replace("_", "."))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_files_become_documents_with_passages(tmp_path: Path) -> None:
    shelf = Shelf()
    docs = folder(
        tmp_path, a_md="# Valve\n\nIt opens.", sub__b_txt=SENTENCE * 60, c_jsonl='{"_id": "r", "text": "Row."}\n!'
    )
    report = ingest([docs], shelf, shelf, collection="manuals")
    assert counts(report) == (3, 0, 0, 1)
    assert report.failed[0][0].endswith("c.jsonl")
    assert report.failed[0][1].startswith("line 2: not JSON")
    assert set(shelf.committed) == {"a.md", "sub/b.txt", "r"}
    assert report.passages == sum(len(passages) for _, passages in shelf.committed.values())
    for document, passages in shelf.committed.values():
        assert document.collection == "manuals"
        assert Path(document.source or "").is_file()
        assert all(passage.collection == "manuals" for passage in passages)
        assert all(document.text[passage.start : passage.end] == passage.text for passage in passages)


def test_unchanged_documents_cost_nothing_and_changed_ones_are_replaced(tmp_path: Path) -> None:
    shelf = Shelf()
    docs = folder(tmp_path, a_md="one", b_md="two")
    ingest([docs], shelf, shelf)
    shelf.batches.clear()
    assert counts(ingest([docs], shelf, shelf)) == (0, 0, 2, 0)
    assert shelf.batches == []
    (docs / "b.md").write_text("other")
    assert counts(ingest([docs], shelf, shelf)) == (0, 1, 1, 0)
    assert shelf.texts() == {"a.md": "one", "b.md": "other"}


def test_one_bad_file_does_not_stop_the_others(tmp_path: Path) -> None:
    shelf = Shelf()
    docs = folder(tmp_path, a_md="one", b_md="", c_pdf="broken", d_docx="broken", e_png="x")
    report = ingest([docs], shelf, shelf)
    assert counts(report) == (1, 0, 0, 3)
    assert [Path(path).name for path, _ in report.failed] == ["b.md", "c.pdf", "d.docx"]
    assert (report.skipped, [Path(name).name for name in report.skipped_names]) == (1, ["e.png"])


def test_a_missing_path_stops_the_run_before_it_begins(tmp_path: Path) -> None:
    shelf = Shelf()
    with pytest.raises(InputError):
        ingest([folder(tmp_path, a_md="one"), tmp_path / "nowhere"], shelf, shelf)
    assert shelf.commits == []


def test_equal_names_from_different_folders_both_stay_and_keep_their_names(tmp_path: Path) -> None:
    shelf = Shelf()
    ko = folder(tmp_path / "docs" / "ko", a_md="하나")
    en = folder(tmp_path / "docs" / "en", a_md="one")
    for _ in range(2):
        ingest([ko, en], shelf, shelf)
        assert shelf.texts() == {"a.md": "하나", "en/a.md": "one"}
    assert counts(ingest([en], shelf, shelf)) == (0, 0, 1, 0)
    assert counts(ingest([folder(tmp_path / "more", a_md="third")], shelf, shelf)) == (1, 0, 0, 0)
    assert shelf.texts() == {"a.md": "하나", "en/a.md": "one", "more/a.md": "third"}


def test_a_file_that_moved_takes_its_old_place(tmp_path: Path) -> None:
    shelf = Shelf()
    ingest([folder(tmp_path / "old", a_md="one")], shelf, shelf)
    (tmp_path / "old" / "a.md").unlink()
    assert counts(ingest([folder(tmp_path / "new", a_md="two")], shelf, shelf)) == (0, 1, 0, 0)
    assert shelf.texts() == {"a.md": "two"}


def test_rows_with_the_same_id(tmp_path: Path) -> None:
    shelf = Shelf()
    one, two = tmp_path / "x" / "c.jsonl", tmp_path / "y" / "c.jsonl"
    folder(
        tmp_path,
        x__c_jsonl='{"_id": "r", "text": "first"}\n{"_id": "r", "text": "second"}',
        y__c_jsonl='{"_id": "r", "text": "other"}',
    )
    assert counts(ingest([one, two], shelf, shelf)) == (2, 1, 0, 0)
    assert shelf.texts() == {"r": "second", "y/r": "other"}
    # In a run of its own the row means the document of that id, wherever that came from.
    assert counts(ingest([two], shelf, shelf)) == (0, 1, 0, 0)
    assert shelf.texts()["r"] == "other"


def test_the_same_row_twice_is_the_same_document(tmp_path: Path) -> None:
    shelf = Shelf()
    docs = folder(tmp_path, c_jsonl='{"_id": "r", "text": "same"}\n' * 2)
    assert counts(ingest([docs], shelf, shelf)) == (1, 0, 1, 0)


def test_batches_and_commits_are_bounded(tmp_path: Path) -> None:
    shelf = Shelf()
    rows = "".join(json.dumps({"_id": str(n), "text": SENTENCE * 40}) + "\n" for n in range(1_500))
    report = ingest([folder(tmp_path, c_jsonl=rows)], shelf, shelf)
    assert report.added == 1_500
    assert max(shelf.batches) < 512 + 10
    assert len(shelf.commits) >= report.passages // 2_600
    assert max(shelf.commits) < 2_000 + 520


def test_an_interrupted_run_keeps_what_it_committed(tmp_path: Path) -> None:
    class Interrupted(Shelf):
        def put(self, batch: Sequence[tuple[Document, Sequence[Passage]]]) -> None:
            if self.commits:
                raise KeyboardInterrupt
            super().put(batch)

    shelf = Interrupted()
    rows = "".join(json.dumps({"_id": str(n), "text": "Short."}) + "\n" for n in range(5_000))
    docs = folder(tmp_path, c_jsonl=rows)
    with pytest.raises(KeyboardInterrupt):
        ingest([docs], shelf, shelf)
    kept = len(shelf.committed)
    assert kept >= 2_000
    whole = Shelf()
    whole.committed = shelf.committed
    assert counts(ingest([docs], whole, whole)) == (5_000 - kept, 0, kept, 0)


def test_progress_counts_bytes_and_never_goes_back(tmp_path: Path) -> None:
    told: list[tuple[int, int, str]] = []
    docs = folder(tmp_path, a_md="하나 둘 셋", b_jsonl='{"text": "x"}\n' * 50, c_md="")
    ingest([docs], Shelf(), Shelf(), progress=lambda done, total, name: told.append((done, total, name)))
    size = sum(path.stat().st_size for path in docs.iterdir())
    assert {total for _, total, _ in told} == {size}
    assert [done for done, _, _ in told] == sorted(done for done, _, _ in told)
    assert told[0] == (0, size, "a.md")
    assert told[-1][0] == size
