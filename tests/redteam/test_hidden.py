"""What a web page does not show is not read."""

from pathlib import Path

import pytest
from lxml import html

from selfright.domain.html_visibility import hidden_names, is_hidden

HIDDEN = [
    '<p style="display: none">',
    '<p style="VISIBILITY:hidden">',
    '<p style="font-size:1px">',
    '<p style="font-size: 0.5px; color: #fefefe">',
    '<p style="font-size:0">',
    '<p style="opacity: 0.01">',
    '<p style="position:absolute; left:-9999px">',
    '<p style="text-indent: -5000px">',
    '<p style="height:0;overflow:hidden">',
    '<p style="clip-path: inset(100%)">',
    '<p style="transform: scale(0)">',
    '<p style="color: transparent">',
    '<p style="color:#fff">',
    '<p style="color: rgb(254, 254, 255)">',
    '<p style="color:white;background:white">',
    "<p hidden>",
    '<p class="note gone">',
    '<p id="secret">',
    '<font color="white">',
]
SHOWN = [
    "<p>",
    '<p style="font-size: 12px">',
    '<p style="font-size: 0.8em">',
    '<p style="font-size: 100%">',
    '<p style="opacity: 0.9">',
    '<p style="opacity: 1">',
    '<p style="margin-left: -20px">',
    '<p style="color: white; background: #003366">',
    '<p style="color:#333">',
    '<p style="height: 0">',
    '<p class="note">',
    '<p style="width: 100%; overflow: hidden">',
]
SHEET = "<style>/* .note { display:none } */ .gone, #secret { visibility: hidden; } .note { color: red }</style>"


def hidden(opening: str, body: str = "<body>") -> bool:
    tag = opening[1:].partition(" ")[0].rstrip(">")
    page = html.document_fromstring(f"<html><head>{SHEET}</head>{body}{opening}text</{tag}></body></html>")
    (element,) = page.iter(tag)
    return is_hidden(element, hidden_names(page))


@pytest.mark.parametrize("opening", HIDDEN)
def test_what_nobody_sees_is_hidden(opening: str) -> None:
    assert hidden(opening)


@pytest.mark.parametrize("opening", SHOWN)
def test_what_is_shown_is_not(opening: str) -> None:
    assert not hidden(opening)


def test_white_on_a_dark_page_is_shown_and_black_is_not() -> None:
    dark = '<body style="background:#000">'
    assert not hidden('<p style="color:#fff">', dark)
    assert hidden('<p style="color:black">', dark)
    assert not hidden('<p style="color:#fff">', '<body style="background: url(night.png)">')


def test_the_cases_of_hidden_text_stay_out_of_the_index(tmp_path: Path) -> None:
    from selfright.ingest.reading import read_page
    from tests.redteam.arena import read_cases

    for case in (case for case in read_cases() if case.family == "hidden_text"):
        for name, text in {**case.files, **case.pages}.items():
            if name.endswith(".html"):
                path = tmp_path / f"{case.id}.html"
                path.write_text(text, encoding="utf-8")
                read = read_page(path)
                assert not any(planted in read.text for planted in case.planted), case.id
