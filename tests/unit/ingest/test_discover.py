"""Which files a path means."""

import os
import sys
from pathlib import Path

import pytest

from selfright.domain.errors import InputError
from selfright.ingest.reading import discover


def write(*paths: Path) -> None:
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("text")


def test_a_folder_is_walked_in_order_and_files_are_called_by_their_path(tmp_path: Path) -> None:
    write(tmp_path / "b.md", tmp_path / "a" / "deep" / "x.TXT", tmp_path / "가.pdf", tmp_path / "a" / "y.html")
    found = discover([tmp_path])
    assert [file.name for file in found.files] == ["a/deep/x.TXT", "a/y.html", "b.md", "가.pdf"]
    assert (found.failed, found.skipped) == ([], 0)


def test_a_single_file_is_called_by_its_name_and_nothing_is_found_twice(tmp_path: Path) -> None:
    write(tmp_path / "docs" / "a.md", tmp_path / "docs" / "b.md")
    found = discover([tmp_path / "docs" / "b.md", tmp_path / "docs", tmp_path / "docs" / "a.md"])
    assert [file.name for file in found.files] == ["b.md", "a.md"]


def test_hidden_and_unsupported_files_are_counted_and_named(tmp_path: Path) -> None:
    write(tmp_path / "a.md", tmp_path / ".hidden.md", tmp_path / ".git" / "b.md", tmp_path / "pictures" / "c.png")
    found = discover([tmp_path])
    assert [file.name for file in found.files] == ["a.md"]
    assert found.skipped == 3
    assert sorted((Path(name).name, why) for name, why in found.skipped_names) == [
        (".git", "hidden"),
        (".hidden.md", "hidden"),
        ("c.png", ".png: not a kind that is read"),
    ]
    assert found.skipped_why == {"hidden": 2, ".png: not a kind that is read": 1}


def test_names_passed_over_are_bounded(tmp_path: Path) -> None:
    write(tmp_path / "a.md", *(tmp_path / f"{n}.png" for n in range(50)))
    found = discover([tmp_path])
    assert (found.skipped, len(found.skipped_names)) == (50, 20)


def test_links_may_not_lead_out_of_the_folder(tmp_path: Path) -> None:
    write(tmp_path / "outside" / "secret.md", tmp_path / "docs" / "a.md")
    docs = tmp_path / "docs"
    (docs / "escape.md").symlink_to(tmp_path / "outside" / "secret.md")
    (docs / "folder").symlink_to(tmp_path / "outside", target_is_directory=True)
    (docs / "round").symlink_to(docs, target_is_directory=True)
    (docs / "same.md").symlink_to(docs / "a.md")
    (docs / "loop.md").symlink_to(docs / "loop.md")
    found = discover([docs])
    assert [file.name for file in found.files] == ["a.md", "loop.md"]
    assert found.skipped == 3


def test_a_missing_path_is_an_error(tmp_path: Path) -> None:
    write(tmp_path / "a.md")
    with pytest.raises(InputError, match=r"no such file or folder: .*nowhere"):
        discover([tmp_path, tmp_path / "nowhere"])


def test_nothing_readable_is_an_error_that_lists_what_is(tmp_path: Path) -> None:
    write(tmp_path / "a.png")
    with pytest.raises(InputError, match=r"nothing to read in .*supported are .csv, .doc, .docm, .docx, .epub"):
        discover([tmp_path])
    with pytest.raises(InputError, match="no paths were given"):
        discover([])


def test_a_named_file_of_another_kind_fails_alone(tmp_path: Path) -> None:
    write(tmp_path / "a.md", tmp_path / "b.png")
    found = discover([tmp_path / "a.md", tmp_path / "b.png"])
    assert [file.name for file in found.files] == ["a.md"]
    assert "not read; supported are" in found.failed[0].why


@pytest.mark.skipif(sys.platform != "linux", reason="other systems take no file names that are not text")
def test_names_that_are_no_text_become_text(tmp_path: Path) -> None:
    os.close(os.open(os.fsencode(tmp_path) + b"/\xff.md", os.O_CREAT))
    write(tmp_path / "\u1112\u1161\u11ab글.md")
    names = [file.name for file in discover([tmp_path]).files]
    assert set(names) == {"\ufffd.md", "한글.md"}
