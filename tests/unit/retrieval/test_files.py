"""The files of an index."""

from pathlib import Path

from selfright.retrieval.files import read_ahead


def test_reading_ahead_begins_with_small_files_and_is_bounded(tmp_path: Path) -> None:
    (tmp_path / "lexical").mkdir()
    (tmp_path / "lexical" / "small").write_bytes(b"x" * 10)
    (tmp_path / "large").write_bytes(b"x" * 100)
    assert read_ahead(tmp_path) == 110
    assert read_ahead(tmp_path, most=60) == 60
    (tmp_path / "a link").symlink_to(tmp_path / "gone")
    assert read_ahead(tmp_path) == 110
    assert read_ahead(tmp_path / "nothing") == 0
