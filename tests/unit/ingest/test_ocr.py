"""Scanned PDF pages: recognised where the extra is installed, named where they are not, bounded and exact."""

import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import pytest
from click.testing import CliRunner

from selfright.cli.main import cli
from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import Document
from selfright.ingest import ocr
from selfright.ingest.files import FileLimits
from selfright.ingest.sandbox import read_page_apart
from selfright.ingest.splitting import split

tesserocr = pytest.importorskip("tesserocr", reason="the extra 'ocr' cannot be installed on this system")

Read = Callable[..., list[Document | UnreadableFile]]
ENGLISH = ("The valve opens at 4.5 bar", "and closes below 3.9 bar.")
KOREAN = ("밸브는 압력이 오르면 열립니다.", "점검은 매년 3월에 합니다.")
_FONTS = (
    "/usr/share/fonts/truetype/nanum/NanumGothic.ttf", "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc",
    "/System/Library/Fonts/AppleSDGothicNeo.ttc", r"C:\Windows\Fonts\malgun.ttf",
)  # fmt: skip


def picture(lines: tuple[str, ...] = (), font: str = "") -> Any:
    """A small page as a scanner gives it."""
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("L", (1250, 300), 255 if lines else 128)
    letters = ImageFont.truetype(font, 48) if font else ImageFont.load_default(48)
    ImageDraw.Draw(image).multiline_text((60, 70), "\n".join(lines), font=letters, fill=0, spacing=20)
    return image


def pdf(*pages: Any) -> bytes:
    """Pages of 300 × 72 points: a text, or a picture."""
    from reportlab.lib.utils import ImageReader
    from reportlab.pdfgen.canvas import Canvas

    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(300, 72))
    for page in pages:
        if isinstance(page, str):
            canvas.drawString(10, 30, page)
        else:
            canvas.drawImage(ImageReader(page), 0, 0, 300, 72)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def test_scanned_pages_are_recognised_in_their_place(read_file: Read) -> None:
    """Between pages with a text; one that is not legible is still named."""
    document, error = read_file("manual.pdf", pdf("Before.", picture(ENGLISH), "Behind.", picture()))
    assert isinstance(document, Document)
    assert document.text == f"Before.\n\n{' '.join(ENGLISH)}\n\nBehind."
    assert document.metadata == {"recognised_pages": "2"}
    assert all(passage.text == document.text[passage.start : passage.end] for passage in split(document))
    assert isinstance(error, UnreadableFile)
    assert error.why.startswith("pages without a text layer were left out: 4; OCR could not read them")


def test_the_command_line_says_what_was_recognised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SELFRIGHT_HOME", str(tmp_path / "home"))
    (tmp_path / "scan.pdf").write_bytes(pdf(picture(ENGLISH)))
    words_only = ("--index", str(tmp_path / "index"), "--set", "embedder=none")
    result = CliRunner().invoke(cli, ["index", "add", str(tmp_path / "scan.pdf"), *words_only], standalone_mode=False)
    assert "added 1" in result.stdout
    assert "scan.pdf: text of scanned pages recognised (OCR; may have errors or gaps): 1" in result.stderr


def test_korean_is_recognised_with_the_systems_language_data(read_file: Read) -> None:
    if "kor" not in ocr.language_data()[1]:
        pytest.skip("Tesseract's Korean language data is not installed (apt install tesseract-ocr-kor)")
    font = next((font for font in _FONTS if Path(font).exists()), None)
    if font is None:
        pytest.skip("no Korean font is installed to make a scan with")
    (document,) = read_file("ko.pdf", pdf(picture(KOREAN, font)))
    assert isinstance(document, Document)
    assert "점검은 매년" in document.text
    assert document.language == "ko"


def test_no_more_pages_than_allowed_are_tried(read_file: Read) -> None:
    document, error = read_file("a.pdf", pdf(picture(ENGLISH), picture(ENGLISH)), FileLimits(ocr_pages=1))
    assert isinstance(document, Document)
    assert document.metadata == {"recognised_pages": "1"}
    assert isinstance(error, UnreadableFile)
    assert "left out: 2; OCR reads at most 1 pages of a file" in error.why


@pytest.mark.parametrize(
    ("limits", "why"),
    [(FileLimits(ocr_seconds=0.01), "OCR stopped after"), (FileLimits(ocr_seconds=0.0), "no text is recognised")],
)
def test_no_more_time_than_allowed_is_taken(read_file: Read, limits: FileLimits, why: str) -> None:
    with pytest.raises(UnreadableFile, match=rf"no text layer \(scanned pages\?\); {why}"):
        read_file("a.pdf", pdf(picture(ENGLISH)), limits)


def crashing(_: IO[bytes]) -> None:
    """An engine that a page brings down."""
    os.abort()


def test_a_crash_of_the_engine_brings_nothing_else_down(read_file: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr, "_ENTRY", f"{__name__}:crashing")
    document, error = read_file("a.pdf", pdf("A text.", picture(ENGLISH)))
    assert isinstance(document, Document)
    assert document.text == "A text."
    assert isinstance(error, UnreadableFile)
    assert "left out: 2; OCR ended before they were read" in error.why


@pytest.mark.parametrize(
    ("missing", "why"), [("is_installed", r'pip install "selfright\[ocr\]"'), ("language_data", "tesseract-ocr-kor")]
)
def test_what_is_missing_is_said(read_file: Read, monkeypatch: pytest.MonkeyPatch, missing: str, why: str) -> None:
    monkeypatch.setattr(ocr, missing, lambda: ("", ()) if missing == "language_data" else False)
    with pytest.raises(UnreadableFile, match=why):
        read_file("a.pdf", pdf(picture()))


def test_a_page_fetched_during_a_turn_is_not_recognised(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(pdf(picture(ENGLISH)))
    with pytest.raises(UnreadableFile, match="while somebody waits for an answer"):
        read_page_apart(path)
