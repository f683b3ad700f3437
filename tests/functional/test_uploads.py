"""Files that somebody sent: what they are called, what is the same file again, and whose documents stay."""

import threading
import time
from collections.abc import Sequence
from contextlib import closing
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from selfright import Selfright
from selfright.background import Deadline
from selfright.domain.errors import ModelError, UnreadableFile
from selfright.retrieval.preparing import text_to_index
from selfright.wiring import uploads
from selfright.wiring.uploads import UploadReport, read_upload
from tests.support.embedders import WordHashes
from tests.support.uploads import take_in

TEXT = "The kiln of the pottery is fired with oak."


def send(selfright: Selfright, folder: Path, name: str, content: str, **options: str | bool) -> UploadReport:
    """As the service does it: from a file whose own name says nothing."""
    path = (folder / "8f14e45fceea167a").with_suffix(Path(name).suffix)
    path.write_text(content, encoding="utf-8")
    return take_in(selfright, path, name, **options)  # type: ignore[arg-type]  # told apart by name


def counts(report: UploadReport) -> tuple[int, int, int]:
    return report.added, report.replaced, report.unchanged


@pytest.mark.parametrize(
    ("name", "content", "title"),
    [
        ("notes.txt", TEXT, "notes"),
        ("가마.md", TEXT, "가마"),
        ("kilns.csv", "kiln,wood\nK3,oak", "kilns"),
        ("page.html", f"<p>{TEXT}</p>", "page"),
    ],
)
def test_a_text_without_a_heading_is_called_by_its_name(tmp_path: Path, name: str, content: str, title: str) -> None:
    with Selfright.open(tmp_path / "index", embedder="none") as selfright:
        assert counts(send(selfright, tmp_path, name, content)) == (1, 0, 0)
        document = selfright.document(name)
        assert document is not None
        assert (document.title, document.source) == (title, f"upload:{name}")
        assert counts(send(selfright, tmp_path, name, content)) == (0, 0, 1)
        assert counts(send(selfright, tmp_path, name, content.replace("oak", "ash"))) == (0, 1, 0)


def test_a_changed_address_of_a_row_is_a_change_that_embeds_nothing(tmp_path: Path) -> None:
    row, embedder = '{"_id": "r", "text": "T.", "url": "https://%s.test/"}', WordHashes()
    with Selfright.open(tmp_path / "index", embeddings=embedder) as selfright:
        assert counts(send(selfright, tmp_path, "c.jsonl", row % "one")) == (1, 0, 0)
        assert counts(send(selfright, tmp_path, "c.jsonl", row % "two")) == (0, 1, 0)
        assert embedder.embedded == ["T."]
        (hit,) = selfright.search("T")
        assert hit.passage.url == "https://two.test/"
        assert counts(send(selfright, tmp_path, "c.jsonl", row % "two")) == (0, 0, 1)


def check_vectors(selfright: Selfright, embedder: WordHashes, query: str) -> None:
    """Asserts that what is found has the vector of its own text."""
    hits = selfright.search(query, 50)
    assert any(hit.dense for hit in hits)
    asked, *texts = embedder.embed([query, *(text_to_index(hit.passage) for hit in hits)])
    assert [hit.cosine for hit in hits] == pytest.approx([float(text @ asked) for text in texts], abs=0.01)


def test_what_was_embedded_ahead_is_not_embedded_again(tmp_path: Path) -> None:
    """And nothing is embedded for what is stored as it is."""
    rows, embedder = tmp_path / "kilns.csv", WordHashes()
    rows.write_text("kiln,wood\n" + "".join(f"K{n},oak {n}\n" for n in range(600)))
    with Selfright.open(tmp_path / "index", embeddings=embedder, home=tmp_path / "home") as selfright:
        with closing(selfright.read_upload(rows, "kilns.csv")) as upload:
            selfright.embed_upload(upload)
            ahead = len(embedder.embedded)
            assert ahead == len(set(embedder.embedded))
            assert selfright.store_upload(upload).passages == ahead
        selfright.embed()
        assert len(embedder.embedded) == ahead
        check_vectors(selfright, embedder, "K77 oak 77")
        embedder.embedded.clear()
        with closing(selfright.read_upload(rows, "kilns.csv")) as upload:
            selfright.embed_upload(upload)
        assert embedder.embedded == []


def sheet(folder: Path, rows: int) -> Path:
    path = folder / "kilns.csv"
    path.write_text("kiln,wood\n" + "".join(f"K{n},oak {n}\n" for n in range(rows)))
    return path


def test_a_file_of_too_many_passages_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "_MOST_PASSAGES", 50)
    with Selfright.open(tmp_path / "index", embedder="none") as selfright:
        with pytest.raises(UnreadableFile, match="more than 50 passages; split it"):
            selfright.read_upload(sheet(tmp_path, 60_000), "kilns.csv")
        assert take_in(selfright, sheet(tmp_path, 100), "kilns.csv").added


@pytest.mark.parametrize("step", ["read", "embed", "store"])
def test_when_the_time_is_over_nothing_of_a_file_stays(tmp_path: Path, step: str) -> None:
    embedder, deadline = WordHashes(), Deadline(600)
    path = sheet(tmp_path, 6_000)
    with Selfright.open(tmp_path / "index", embeddings=embedder, home=tmp_path / "home") as selfright:
        take_in(selfright, sheet(tmp_path, 10), "before.csv")
        if step == "read":
            deadline.call_off()
        began = time.monotonic()
        with pytest.raises(UnreadableFile, match="took more than 600 s"):  # noqa: PT012, SIM117
            with closing(selfright.read_upload(path, "kilns.csv", deadline)) as upload:
                if step == "embed":
                    deadline.call_off()
                selfright.embed_upload(upload)
                deadline.call_off()
                selfright.store_upload(upload)
        assert time.monotonic() - began < 60
        assert [document.id for document in selfright.documents()] == ["before.csv"]


def test_a_reader_is_ended_when_nobody_waits_for_it(tmp_path: Path) -> None:
    deadline = Deadline(600)
    threading.Timer(0.5, deadline.call_off).start()
    began = time.monotonic()
    with pytest.raises(UnreadableFile, match="took more than"):
        read_upload(sheet(tmp_path, 3_000_000), "kilns.csv", deadline)
    assert time.monotonic() - began < 10


def test_an_upload_whose_embedding_failed_can_be_embedded_again(tmp_path: Path) -> None:
    rows, embedder = tmp_path / "kilns.jsonl", WordHashes()
    rows.write_text("".join(f'{{"_id": "{n}", "text": "K{n} takes oak {n}."}}\n' for n in range(600)))
    embed, calls = embedder.embed, count()

    def fails_once(texts: Sequence[str]) -> NDArray[np.float32]:
        if next(calls) == 1:
            raise ModelError("unavailable")
        return embed(texts)

    embedder.embed = fails_once  # type: ignore[method-assign]
    with (
        Selfright.open(tmp_path / "index", embeddings=embedder, home=tmp_path / "home") as selfright,
        closing(selfright.read_upload(rows, "kilns.jsonl")) as upload,
    ):
        with pytest.raises(ModelError, match="unavailable"):
            selfright.embed_upload(upload)
        selfright.embed_upload(upload)
        assert selfright.store_upload(upload).passages == 600
        selfright.embed()
        assert len(embedder.embedded) == 600
        check_vectors(selfright, embedder, "K599 oak 599")


def test_a_file_that_was_sent_and_one_of_a_folder_are_two(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "README.md").write_text("The folder's own text.")
    with Selfright.open(tmp_path / "index", embedder="none") as selfright:
        selfright.add(tmp_path / "docs")
        for expected in ((1, 0, 0), (0, 0, 1)):
            report = send(selfright, tmp_path, "README.md", TEXT)
            assert (counts(report), report.documents) == (expected, ["default/README.md"])
        selfright.remove("README.md")
        send(selfright, tmp_path, "README.md", TEXT)
        selfright.add(tmp_path / "docs")
        texts = {found.id: selfright.document(found.id).text for found in selfright.documents()}  # type: ignore[union-attr]
        assert texts == {"README.md": "The folder's own text.", "default/README.md": TEXT}


def test_a_row_takes_no_other_files_place(tmp_path: Path) -> None:
    row = '{"_id": "r", "text": "%s"}'
    with Selfright.open(tmp_path / "index", embedder="none") as selfright:
        send(selfright, tmp_path, "one.jsonl", row % "first")
        send(selfright, tmp_path, "two.jsonl", row % "second")
        assert sorted(found.id for found in selfright.documents()) == ["default/r", "r"]
