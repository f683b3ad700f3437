"""Synchronising: the index is what the folders are, and nothing goes that is not certainly gone."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import rule

from selfright.domain.errors import InputError
from selfright.domain.passages import Document
from selfright.ingest.pipeline import Report
from selfright.ingest.syncing import SyncOptions, sync
from tests.support.folders import ChangingFolder, folder
from tests.support.transfer import Shelf


def done(shelf: Shelf, *paths: Path, **options: object) -> Report:
    return sync(list(paths), shelf, shelf, replace(SyncOptions(), **options))


def figures(report: Report) -> tuple[int, int, int, int]:
    return report.added, report.replaced, report.removed, report.unchanged


def test_added_replaced_removed(tmp_path: Path) -> None:
    shelf = Shelf()
    docs = folder(tmp_path / "docs", a_md="one", b_md="two", c_md="three")
    assert figures(done(shelf, docs)) == (3, 0, 0, 0)
    folder(docs, b_md="changed", d_md="four")
    (docs / "c.md").unlink()
    dry = done(shelf, docs, dry_run=True)
    assert shelf.texts() == {"a.md": "one", "b.md": "two", "c.md": "three"}
    real = done(shelf, docs)
    assert figures(dry) == figures(real) == (1, 1, 1, 1)
    assert dry.changes == real.changes
    assert {(change.kind, change.document_id) for change in real.changes} == {
        ("replaced", "b.md"),
        ("added", "d.md"),
        ("removed", "c.md"),
    }
    assert shelf.texts() == {"a.md": "one", "b.md": "changed", "d.md": "four"}


def test_a_dry_run_needs_no_index(tmp_path: Path) -> None:
    report = sync([folder(tmp_path, a_md="one")], None, None, SyncOptions(dry_run=True))
    assert report.added == 1


def test_what_was_renamed_goes_and_comes(tmp_path: Path) -> None:
    shelf = Shelf()
    docs = folder(tmp_path / "docs", a_md="# Same\n\none", b_txt="two", rows_csv="text\nfirst\nsecond")
    done(shelf, docs)
    (docs / "deep").mkdir()
    (docs / "a.md").rename(docs / "deep" / "called-otherwise.md")
    (docs / "rows.csv").rename(docs / "deep" / "lines.csv")
    (docs / "b.txt").rename(docs / "deep" / "b.txt")  # its name is still that of the one that is gone
    assert figures(done(shelf, docs)) == (3, 1, 3, 0)
    texts = {"deep/called-otherwise.md": "# Same\n\none", "b.txt": "two"}
    assert shelf.texts() == {**texts, "deep/lines.csv:2": "first", "deep/lines.csv:3": "second"}
    assert shelf.committed["b.txt"][0].source == str(docs / "deep" / "b.txt")
    assert figures(done(shelf, docs)) == (0, 0, 0, 4)


def test_two_files_that_hold_the_same_are_never_taken_for_one(tmp_path: Path) -> None:
    shelf = Shelf()
    docs = folder(tmp_path / "docs", a_md="same", b_md="same")
    done(shelf, docs)
    shutil.move(docs / "a.md", docs / "x.md")
    shutil.move(docs / "b.md", docs / "y.md")
    done(shelf, docs)
    assert sorted(document.source or "" for document, _ in shelf.committed.values()) == [
        str(docs / "x.md"),
        str(docs / "y.md"),
    ]


def test_only_what_came_from_these_folders_into_this_collection_is_removed(tmp_path: Path) -> None:
    shelf = Shelf()
    one, other = folder(tmp_path / "one", a_md="one", b_md="two"), folder(tmp_path / "one-more", c_md="three")
    uploaded = Document("u", "U", "text", source="upload:u.md")
    shelf.committed["u"] = (uploaded, [])
    done(shelf, one)
    done(shelf, other, collection="others")
    (one / "b.md").unlink()
    (other / "c.md").unlink()
    (other / "d.md").write_text("four")
    done(shelf, one)
    assert sorted(shelf.committed) == ["a.md", "c.md", "u"]
    done(shelf, tmp_path, collection="default")
    assert "c.md" in shelf.committed  # another collection's
    done(shelf, tmp_path)
    assert "c.md" not in shelf.committed


def test_a_document_stays_in_its_collection_unless_another_one_is_named(tmp_path: Path) -> None:
    shelf = Shelf()
    docs = folder(tmp_path / "docs", a_md="one", b_md="two")
    done(shelf, docs, collection="manuals")
    folder(docs, a_md="one, changed", c_md="three")
    (docs / "b.md").rename(docs / "d.md")
    assert figures(done(shelf, docs)) == (2, 1, 1, 0)
    where = {name: document.collection for name, (document, _) in shelf.committed.items()}
    assert where == {"a.md": "manuals", "c.md": "default", "d.md": "default"}
    done(shelf, docs, collection="other")
    assert {document.collection for document, _ in shelf.committed.values()} == {"other"}


def test_what_cannot_be_read_stays(tmp_path: Path) -> None:
    shelf = Shelf()
    docs = folder(
        tmp_path, a_json='[{"text": "one"}, {"text": "two"}]', b_md="three", c_jsonl='{"text": "x"}\n{"text": "y"}'
    )
    done(shelf, docs)
    (docs / "a.json").write_text('[{"text": "one"')
    (docs / "b.md").unlink()
    (docs / "c.jsonl").write_text('{"text": "x"}\nbroken')
    report = done(shelf, docs)
    assert (report.removed, report.kept, len(report.failed)) == (1, 3, 2)
    assert sorted(shelf.committed) == ["a.json:1", "a.json:2", "c.jsonl:1", "c.jsonl:2"]


def test_a_row_that_is_gone_goes(tmp_path: Path) -> None:
    shelf = Shelf()
    done(shelf, folder(tmp_path, a_jsonl='{"_id": "p", "text": "x"}\n{"_id": "q", "text": "y"}'))
    folder(tmp_path, a_jsonl='{"_id": "q", "text": "y"}')
    assert figures(done(shelf, tmp_path / "a.jsonl")) == (0, 0, 1, 1)


def test_an_empty_folder_empties_nothing_unless_asked(tmp_path: Path) -> None:
    shelf = Shelf()
    docs = folder(tmp_path / "docs", a_md="one")
    done(shelf, docs)
    (docs / "a.md").unlink()
    with pytest.raises(InputError, match=r"1 document from there.*--allow-empty"):
        done(shelf, docs)
    docs.rmdir()
    with pytest.raises(InputError, match="no such file or folder"):
        done(shelf, docs, allow_empty=True)
    docs.mkdir()
    assert done(shelf, docs, allow_empty=True).removed == 1
    assert shelf.committed == {}


def test_files_that_look_unchanged_are_not_read_again(tmp_path: Path) -> None:
    shelf = Shelf()
    docs = folder(tmp_path, a_md="one", b_md="two")
    states: dict[str, tuple[int, int]] = {}
    done(shelf, docs, states=states)
    kept = (docs / "a.md").stat()
    (docs / "a.md").write_text("six")  # as long and as old as before: only a full pass sees that
    import os

    os.utime(docs / "a.md", ns=(kept.st_atime_ns, kept.st_mtime_ns))
    (docs / "b.md").unlink()
    assert figures(done(shelf, docs, states=states)) == (0, 0, 1, 1)
    assert figures(done(shelf, docs)) == (0, 1, 0, 0)


class Folders(ChangingFolder):
    """After a pass the index holds exactly what the folders do."""

    def __init__(self) -> None:
        super().__init__()
        self.shelf = Shelf()

    @rule(place=st.sampled_from(["a", "b", "."]))
    def sync(self, place: str) -> None:
        path = self.root / place
        if not path.exists():
            return
        elsewhere = {source: text for source, text in self.texts().items() if not source.startswith(str(path) + "/")}
        done(self.shelf, path, allow_empty=True)
        there = {str(file): file.read_text() for file in path.rglob("*.md")}
        held = self.texts()
        assert {source: text for source, text in held.items() if source.startswith(str(path) + "/")} == there
        # What was elsewhere is there still, unless its file is gone and it was found again here.
        for source, text in elsewhere.items():
            assert held.get(source) == text or (not Path(source).exists() and text in there.values())
        assert done(self.shelf, path, allow_empty=True).changes == []

    def texts(self) -> dict[str, str]:
        held = {document.source or "": document.text for document, _ in self.shelf.committed.values()}
        assert len(held) == len(self.shelf.committed)
        return held


TestFolders = Folders.TestCase
