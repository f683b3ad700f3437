"""What a document is known by: its content, not the file it came from."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.file_names import full_title
from selfright.domain.passages import Document, Passage

DOCUMENT = Document(id="guide.md", title="Guide", text="Back up daily.")


def test_the_hash_follows_what_retrieval_sees_and_ignores_where_it_came_from() -> None:
    seen = {"title": "Guide 2", "text": "Back up weekly.", "collection": "old"}
    for name, value in {**seen, "id": "other.md", "source": "elsewhere", "url": "https://example.org"}.items():
        changed: Any = {name: value}
        assert (replace(DOCUMENT, **changed).content_hash != DOCUMENT.content_hash) is (name in seen), name


@given(st.text(max_size=6), st.text(max_size=6))
def test_title_and_text_do_not_run_together(title: str, text: str) -> None:
    first = Document(id="a", title=title, text=text + "x")
    second = Document(id="a", title=title + "x", text=text)
    assert first.content_hash != second.content_hash


def test_a_lone_surrogate_has_a_hash() -> None:
    assert len(replace(DOCUMENT, text="\ud800").content_hash) == 64


@pytest.mark.parametrize(
    ("title", "section", "heading"),
    [("Guide", "Backup", "Guide > Backup"), ("Guide", "", "Guide"), ("", "Backup", "Backup"), ("", "", "")],
)
def test_the_heading_is_title_and_section(title: str, section: str, heading: str) -> None:
    passage = Passage("a#0", "a", title, "text", 0, 4, section=section)
    assert passage.heading == heading


@pytest.mark.parametrize(
    ("document", "title", "full"),
    [
        ("club/gym-hours.md", "How to train with us", "How to train with us (gym hours)"),
        ("헬스장-이용안내.md", "라온 피트니스 이용 안내", "라온 피트니스 이용 안내 (헬스장)"),
        ("price-list.xlsx:Rates 2026", "Rates 2026", "Rates 2026 (price list)"),
        ("en/user-guide.md", "User guide", "User guide"),  # nothing new
        ("ko/first-steps.md", "첫걸음", "첫걸음"),  # of another language
        ("docs/README.md", "Handbook", "Handbook"),
        ("sub05_16.md", "시정 소식", "시정 소식"),  # a number, no word
        ("row-17", "Seals", "Seals"),  # no file
        ("https://a.example/kettle-k7.html", "Boiling", "Boiling"),
        ("notes.txt", "", ""),
    ],
)
def test_the_name_of_a_file_adds_to_its_title(document: str, title: str, full: str) -> None:
    assert full_title(document, title) == full
    passage = Passage("p", document, title, "text", 0, 4, section="One")
    assert passage.above("text", section=False) == full
    assert passage.heading == (f"{title} > One" if title else "One")
