"""Hangul 5 files, where the library that reads them is installed."""

import importlib
from collections.abc import Callable
from typing import Any

import pytest

from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import Document
from tests.support.office import hwpx

hwp2md = pytest.importorskip("hwp2md", reason="hwp2markdown is not installed")
LIBRARY = importlib.import_module("hwp2md.convert")  # a function of this name hides it in the package
ReadOne = Callable[..., Document]
CONTAINER = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def test_headings_lists_tables_and_notes(read_one: ReadOne, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = hwp2md.ListInfo("number", 0, "가."), hwp2md.ListInfo("number", 1, "(1)"), hwp2md.ListInfo("bullet", 0, "")
    found = [
        hwp2md.Paragraph("입찰 공고", level=1),
        hwp2md.Paragraph("다음과 같이\n공고합니다."),
        *(hwp2md.Paragraph(f"항목 {n}", list_info=info) for n, info in enumerate(listed, 1)),
        hwp2md.Table([["2026년 요금", ""], ["구분", "요금"], ["야간", "4만|원"]]),
        hwp2md.Note("footnote", 1, (hwp2md.Paragraph("각주입니다."),)),
    ]
    monkeypatch.setattr(LIBRARY, "read_blocks", lambda _: found)
    document = read_one("a.hwp", CONTAINER)
    assert document.text == (
        "# 입찰 공고\n\n다음과 같이\n공고합니다.\n\n가. 항목 1\n  (1) 항목 2\n- 항목 3\n\n2026년 요금\n\n"
        "|구분|요금|\n|---|---|\n|야간|4만\\|원|\n\n각주입니다."
    )
    assert document.title == "입찰 공고"


@pytest.mark.parametrize(
    ("error", "why"),
    [
        ("EncryptedDocumentError", "protected by a password"),
        ("DrmProtectedError", "protected by a password"),
        ("NotHwpFileError", r"no Hangul document that can be read .*save it again as \.hwpx"),
    ],
)
def test_what_is_locked_or_damaged_is_named(
    read_one: ReadOne, monkeypatch: pytest.MonkeyPatch, error: str, why: str
) -> None:
    def locked(_: bytes) -> Any:
        raise getattr(hwp2md, error)("no")

    monkeypatch.setattr(LIBRARY, "read_blocks", locked)
    with pytest.raises(UnreadableFile, match=why):
        read_one("a.hwp", CONTAINER)


def test_other_content_under_the_name(read_one: ReadOne) -> None:
    content = hwpx("<hp:p><hp:run><hp:t>밸브</hp:t></hp:run></hp:p>")
    assert read_one("a.hwp", content).text == "밸브"
    for other in (b"<HWPML/>", CONTAINER + bytes(600)):
        with pytest.raises(UnreadableFile, match="no Hangul document that can be read"):
            read_one("b.hwp", other)
