"""Files that somebody sent: what they are called, what is the same file again, and whose documents stay."""

import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from selfright import Selfright
from selfright.background import Deadline
from selfright.domain.errors import UnreadableFile
from selfright.wiring import uploads
from selfright.wiring.uploads import UploadReport, read_upload
from tests.support.embedders import WordHashes
from tests.support.uploads import take_in

TEXT = "The kiln of the pottery is fired with oak."


def send(selfright: Selfright, folder: Path, name: str, content: str, **options: str | bool) -> UploadReport:
    """As the service does it: from a file whose own name says nothing."""
    path = (folder / "8f14e45fceea167a").with_suffix(Path(name).suffix)
    path.write_text(content, encoding="utf-8")
    return take_in(selfright, path, name, **options)


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


@pytest.mark.parametrize("step", ["read", "store"])
def test_when_the_time_is_over_nothing_of_a_file_stays(tmp_path: Path, step: str) -> None:
    embedder, deadline = WordHashes(), Deadline(600)
    path = sheet(tmp_path, 6_000)
    with Selfright.open(tmp_path / "index", embeddings=embedder, home=tmp_path / "home") as selfright:
        take_in(selfright, sheet(tmp_path, 10), "before.csv")
        if step == "read":
            deadline.call_off()
        began = time.monotonic()
        with pytest.raises(UnreadableFile, match="took more than 600 s"):  # noqa: PT012, SIM117 - at either step
            with closing(selfright.read_upload(path, "kilns.csv", deadline)) as upload:
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
