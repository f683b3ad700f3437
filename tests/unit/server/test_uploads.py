"""Files that callers send: their names, and what is left of them after a crash."""

import asyncio
import os
import tempfile
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.background import Deadline
from selfright.domain.errors import UnreadableFile
from selfright.server.admission import Limits
from selfright.server.routes.documents import place_for, remove_leftovers, safe_name
from selfright.server.service import LOCAL, Service
from selfright.wiring.uploads import UploadReport


@pytest.mark.parametrize("name", ["a.md", "등대 안내.pdf", "a..b.txt", "-rf.txt", "con.txt"])
def test_plain_names_are_taken(name: str) -> None:
    assert safe_name(name) == name


@pytest.mark.parametrize("name", ["", "..", ".a", "a/b", "a\\b", "C:a.md", "a\x00.md", "a\n.md", "x" * 151])
def test_names_that_lead_somewhere_are_not(name: str) -> None:
    with pytest.raises(UnreadableFile):
        safe_name(name)


@given(st.text(max_size=30))
def test_a_name_that_is_taken_is_one_part_of_a_path(name: str) -> None:
    try:
        taken = safe_name(name)
    except UnreadableFile:
        return
    assert not set(taken) & set("/\\:\x00")
    assert not taken.startswith(".")


def test_what_a_killed_service_left_is_removed_a_day_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "others").mkdir()
    (tmp_path / "others" / "letter.md").write_text("not ours")

    async def story() -> Path:
        async with place_for("letter.md") as now:
            now.write_text("in use")
            yesterday = tmp_path / f"{now.parent.name}-old"
            yesterday.mkdir()
            (yesterday / "letter.md").write_text("left behind")
            astray = tmp_path / f"{now.parent.name}-link"
            astray.symlink_to(tmp_path / "others")
            for path in (yesterday, tmp_path / "others", astray):
                os.utime(path, (time.time() - 90_000,) * 2, follow_symlinks=False)
            remove_leftovers()
            assert now.exists()
            assert not yesterday.exists()
            assert (tmp_path / "others" / "letter.md").exists()
        return now

    assert not asyncio.run(story()).parent.exists()


async def test_the_event_loop_waits_for_no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[int] = []

    class Folder(tempfile.TemporaryDirectory[str]):
        def __init__(self, prefix: str) -> None:
            threads.append(threading.get_ident())
            super().__init__(prefix=prefix)

        def cleanup(self) -> None:
            threads.append(threading.get_ident())
            super().cleanup()

    monkeypatch.setattr(tempfile, "TemporaryDirectory", Folder)
    async with place_for("letter.md") as path:
        path.write_text("read")
    assert len(threads) == 2
    assert threading.get_ident() not in threads


def test_a_service_without_a_place_for_temporary_files_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> str:
        raise FileNotFoundError("no usable temporary directory found")

    monkeypatch.setattr(tempfile, "gettempdir", none)
    remove_leftovers()


class Recorder:
    """Stands for Selfright: says at each step whether the index is held."""

    def __init__(self) -> None:
        self.said: list[tuple[str, bool, int]] = []
        self.service = Service(self, Limits())

    def _note(self, step: str) -> None:
        self.said.append((step, self.service.writing.locked(), self.service.uploads.readers._value))

    def read_upload(self, path: Path, name: str, deadline: Deadline) -> "Recorder":
        self._note("read")
        return self

    def store_upload(self, upload: object, *, collection: str, apart: bool) -> UploadReport:
        self._note("store")
        return UploadReport(added=1)

    def close(self) -> None:
        self._note("close")


async def test_the_index_is_held_while_a_file_is_stored_and_not_while_it_is_read() -> None:
    recorder = Recorder()
    uploads = recorder.service.uploads
    with uploads.admit(LOCAL.key):
        report = await recorder.service.take_in(LOCAL, Path("a.md"), "a.md", "default", Deadline(60))
    assert report.added == 1
    steps = [("read", False, 1), ("store", True, 2), ("close", False, 2)]
    assert recorder.said == steps  # others may be read while it is stored
    assert recorder.service.vectors._woken.is_set()


async def test_who_cancels_an_upload_waits_until_its_thread_has_ended() -> None:
    recorder, began, ended = Recorder(), threading.Event(), threading.Event()
    deadline = Deadline(600)

    def work() -> None:
        began.set()
        while deadline.left:
            time.sleep(0.01)
        ended.set()

    recorder.store_upload = lambda *_args, **_named: work()
    with recorder.service.uploads.admit(LOCAL.key):
        taking = asyncio.create_task(recorder.service.take_in(LOCAL, Path("a.md"), "a.md", "default", deadline))
        await asyncio.to_thread(began.wait)
        taking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await taking
    assert ended.is_set()
    assert [step for step, *_ in recorder.said] == ["read", "close"]
