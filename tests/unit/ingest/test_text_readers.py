"""Text and Markdown: decoded in whatever encoding they are, otherwise untouched."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import Document
from selfright.ingest.encoding import decode
from selfright.ingest.files import Limits, SourceFile
from selfright.ingest.reading import read, read_page

KOREAN = "관의 압력이 2 bar 아래로 내려가면 밸브가 열립니다.\r\n둘째 줄.\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp949", "euc-kr"])
def test_korean_text_is_read_in_the_encodings_it_comes_in(read_one: Callable[..., Document], encoding: str) -> None:
    document = read_one("안내.txt", KOREAN.encode(encoding))
    assert document.text == KOREAN
    assert (document.id, document.title, document.language) == ("안내.txt", "안내", "ko")


def test_western_text_is_not_taken_for_korean(read_one: Callable[..., Document]) -> None:
    german = (
        "Die Ärzte öffnen das große Ventil. Natürlich fällt der Druck über Nacht, schließlich müssen Prüfer üben.\n"
    )
    assert read_one("pruefung.txt", (german * 5).encode("cp1252")).text == german * 5


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1))
def test_utf8_comes_back_as_it_was(text: str) -> None:
    assert decode(b"\xef\xbb\xbf" + text.encode(), AssertionError) == text


def test_markdown_keeps_its_marks_and_takes_its_title_from_the_first_heading(read_one: Callable[..., Document]) -> None:
    text = "Intro\n\n```\n# a comment\n```\n\n## Part\n\n# The *Valve* [Guide](x.md) #\n\nText."
    document = read_one("guide.md", text)
    assert document.text == text
    assert document.title == "The Valve Guide"
    assert read_one("plain.md", "No heading here.").title == "plain"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "empty"),
        (b" \n\t", "empty"),
        (b"\xef\xbb\xbf\n", "no text"),
        (b"\x89PNG\r\n\0\0\0", "binary content"),
        (b"\xff\xfea\0b", "begins as UTF-16"),
        (bytes(range(1, 256)) * 20, "encoding could not be told"),
    ],
)
def test_what_is_no_text_is_refused(read_file: Callable[..., object], content: bytes, why: str) -> None:
    with pytest.raises(UnreadableFile, match=why):
        read_file("notes.txt", content)


def test_a_file_over_the_limit_is_refused(read_file: Callable[..., object]) -> None:
    with pytest.raises(UnreadableFile, match="larger than 10 bytes; split it"):
        read_file("long.md", "x" * 11, Limits(file_bytes=10))


def test_links_folders_and_forbidden_files_say_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lost.txt").symlink_to(tmp_path / "nowhere.txt")
    (tmp_path / "loop.txt").symlink_to(tmp_path / "loop.txt")
    (tmp_path / "folder.txt").mkdir()
    (tmp_path / "secret.txt").write_text("text")

    def forbidden(*_arguments: object) -> None:
        raise PermissionError(13, "Permission denied")

    assert "points to nothing" in why(tmp_path / "lost.txt")
    assert "leads back to itself" in why(tmp_path / "loop.txt")
    assert "regular file" in why(tmp_path / "folder.txt")
    assert "file is gone" in why(tmp_path / "gone.txt")
    monkeypatch.setattr(Path, "open", forbidden)
    assert "no permission" in why(tmp_path / "secret.txt")


def why(path: Path) -> str:
    with pytest.raises(UnreadableFile) as raised:
        list(read(SourceFile(path, path.name)))
    assert "\n" not in str(raised.value)
    return raised.value.why


def test_a_single_page_can_be_read_by_its_path(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text("nonsense\n")
    with pytest.raises(UnreadableFile, match="not JSON"):
        read_page(tmp_path / "rows.jsonl")
    (tmp_path / "page.txt").write_text("One page.")
    assert read_page(tmp_path / "page.txt").id == "page.txt"
