"""The pipeline: what a run reports, keeps, replaces and leaves alone."""

import json
import shutil
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import rule

from selfright.domain.errors import InputError
from selfright.domain.passages import Document, DocumentInfo, Passage
from selfright.ingest.pipeline import Report, ingest
from tests.support import transfer
from tests.support.folders import ChangingFolder, folder
from tests.support.transfer import Vectors

SENTENCE = "The valve opens when the pressure in the line falls under two bar. "


class Shelf(transfer.Shelf):
    def documents(self, after: str = "", collections: Sequence[str] = ()) -> Iterator[DocumentInfo]:
        yield from islice(super().documents(after, collections), 1)
        assert not self.committed, "a run looks documents up one by one"


def counts(report: Report) -> tuple[int, int, int, int]:
    return report.added, report.replaced, report.unchanged, len(report.failed)


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


def test_another_folders_file_of_the_same_name_is_another_document(tmp_path: Path) -> None:
    shelf = Shelf()
    ingest([folder(tmp_path / "a", README_md="one")], shelf, shelf)
    shutil.rmtree(tmp_path / "a")
    other = folder(tmp_path / "b", README_md="two")
    assert counts(ingest([other], shelf, shelf)) == (1, 0, 0, 0)
    assert counts(ingest([other], shelf, shelf)) == (0, 0, 1, 0)
    assert shelf.texts() == {"README.md": "one", "b/README.md": "two"}


def test_a_file_that_moved_stays_the_same_document(tmp_path: Path) -> None:
    shelf = Shelf()
    old = folder(tmp_path / "old", a_md="one", sub__b_md="two")
    ingest([old], shelf, shelf)
    new = old.rename(tmp_path / "new")
    (new / "a.md").rename(new / "sub" / "a.md")
    assert counts(ingest([new], shelf, shelf)) == (0, 2, 0, 0)  # where they are has changed
    assert shelf.texts() == {"a.md": "one", "sub/b.md": "two"}
    assert {document.source for document, _ in shelf.committed.values()} == {
        str(new / "sub" / "a.md"),
        str(new / "sub" / "b.md"),
    }
    assert counts(ingest([new], shelf, shelf)) == (0, 0, 2, 0)


def test_a_copy_is_a_document_of_its_own(tmp_path: Path) -> None:
    shelf = Shelf()
    ingest([folder(tmp_path / "old", a_md="one")], shelf, shelf)
    copies = [Path(shutil.copytree(tmp_path / "old", tmp_path / name)) for name in ("new", "newer")]
    shutil.rmtree(tmp_path / "old")
    for _ in range(2):
        ingest(copies, shelf, shelf)
        assert shelf.texts() == {"a.md": "one", "newer/a.md": "one"}


def test_a_file_is_the_same_by_whichever_way_it_was_found(tmp_path: Path) -> None:
    shelf = Shelf()
    docs = folder(tmp_path / "docs", sub__a_md="one", b_md="two", rows__c_jsonl='{"text": "three"}')
    (tmp_path / "linked").symlink_to(docs)
    ingest([docs / "sub", docs / "b.md"], shelf, shelf)
    for way in (docs, tmp_path, docs / "rows", tmp_path / "linked", tmp_path / "linked" / "sub"):
        ingest([way], shelf, shelf)
        assert shelf.texts() == {"a.md": "one", "b.md": "two", "rows/c.jsonl:1": "three"}


def test_rows_with_the_same_id(tmp_path: Path) -> None:
    shelf = Shelf()
    one, two = tmp_path / "x" / "c.jsonl", tmp_path / "y" / "c.jsonl"
    folder(
        tmp_path,
        x__c_jsonl='{"_id": "r", "text": "first"}\n{"_id": "r", "text": "second"}',
        y__c_jsonl='{"_id": "r", "text": "other"}',
        z__d_jsonl='{"_id": "r", "text": "third"}',
    )
    assert counts(ingest([one, two], shelf, shelf)) == (2, 0, 0, 1)
    assert shelf.texts() == {"r": "first", "y/r": "other"}
    assert counts(ingest([two], shelf, shelf)) == (0, 0, 1, 0)
    assert counts(ingest([tmp_path / "z"], shelf, shelf)) == (1, 0, 0, 0)
    assert shelf.texts() == {"r": "first", "y/r": "other", "z/r": "third"}
    # A row names its document itself: where the file is gone, another one with that id is its new edition.
    one.unlink()
    folder(tmp_path, w__c_jsonl='{"_id": "r", "text": "edited"}')
    assert counts(ingest([tmp_path / "w"], shelf, shelf, "elsewhere")) == (1, 0, 0, 0)
    shelf.committed.pop("w/r")
    assert counts(ingest([tmp_path / "w"], shelf, shelf)) == (0, 1, 0, 0)
    assert shelf.texts() == {"r": "edited", "y/r": "other", "z/r": "third"}


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("c.jsonl", '{"text": "T.", "url": "https://one.test/"}', '{"text": "T.", "url": "https://two.test/"}'),
        ("c.jsonl", '{"_id": "r", "text": "T.", "metadata": {"a": 1}}', '{"_id": "r", "text": "T.", "metadata": {}}'),
        ("c.jsonl", '{"text": "T.", "title": "One"}', '{"text": "T.", "title": "Two"}'),
        ("c.json", '[{"text": "T.", "url": "https://one.test/"}]', '[{"text": "T."}]'),
        ("c.csv", "text,url\nT.,https://one.test/", "text,url\nT.,https://two.test/"),
        ("c.csv", "text,shelf\nT.,1", "text,shelf\nT.,2"),
    ],
)
def test_what_readers_see_beside_the_text_is_a_change(tmp_path: Path, name: str, before: str, after: str) -> None:
    shelf = Shelf()
    (tmp_path / name).write_text(before)
    ingest([tmp_path], shelf, shelf)
    (tmp_path / name).write_text(after)
    assert counts(ingest([tmp_path], shelf, shelf)) == (0, 1, 0, 0)
    ((document, passages),) = shelf.committed.values()
    assert [passage.url for passage in passages] == [document.url]
    assert document.url != "https://one.test/"
    assert counts(ingest([tmp_path], shelf, shelf)) == (0, 0, 1, 0)


class Folders(ChangingFolder):
    """What was added is there, once and as it is; everything else stays as it was, but for what has moved."""

    def __init__(self) -> None:
        super().__init__()
        self.shelf = Shelf()

    @rule(places=st.lists(st.sampled_from(["a", "b", "a/sub", "."]), min_size=1, max_size=2, unique=True))
    def add(self, places: list[str]) -> None:
        ways = [self.root / place for place in places if list((self.root / place).rglob("*.md"))]
        if not ways:
            return
        before = self.held()
        ingest(ways, self.shelf, self.shelf)
        after = self.held()
        added = {str(path): path.read_text() for way in ways for path in way.rglob("*.md")}
        assert {place: after.get(place) for place in added} == added
        others = {place: text for place, text in before.items() if place not in added}
        assert after.keys() <= {*added, *others}
        for place, text in others.items():
            moved = place not in after and not Path(place).exists()
            assert after.get(place) == text or (moved and text in {added[new] for new in added.keys() - before.keys()})
        again = ingest(ways, self.shelf, self.shelf)
        assert (again.added, again.replaced) == (0, 0)

    def held(self) -> dict[str | None, str]:
        held = {document.source: document.text for document, _ in self.shelf.committed.values()}
        assert len(held) == len(self.shelf.committed)
        return held


TestFolders = Folders.TestCase


def test_a_table_that_grew_into_parts_is_not_there_twice(tmp_path: Path) -> None:
    shelf = Shelf()
    lines = "".join(f"{n},valve\n" for n in range(1, 5_051))
    (tmp_path / "t.csv").write_text("no,part\n" + lines[:500])
    ingest([tmp_path], shelf, shelf)
    assert list(shelf.committed) == ["t.csv"]
    (tmp_path / "t.csv").write_text("no,part\n" + lines)
    ingest([tmp_path], shelf, shelf)
    assert list(shelf.committed) == ["t.csv:1", "t.csv:5001"]


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
        def put(self, batch: Sequence[tuple[Document, Sequence[Passage]]], vectors: Vectors | None = None) -> None:
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
