"""Titles and snippets made harmless."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.web.page_index import clean_title, plain


@pytest.mark.parametrize(
    ("title", "clean"),
    [
        ("  Valve \n care ", "Valve care"),
        ("<script>alert(1)</script>", "‹script›alert(1)‹/script›"),
        ("x](javascript:alert(1)) [y", "x)(javascript:alert(1)) (y"),
        ("![img](http://h/p)", "!(img)(http://h/p)"),
        ("a`b`|c", "a'b'·c"),
        ("gro\u202egnp.exe\u202c\u200b", "grognp.exe"),
        ("밸브 정비 「안내」", "밸브 정비 「안내」"),
        ("\x1b[31mred", "(31mred"),
        ('" onmouseover="alert(1)', "' onmouseover='alert(1)"),
    ],
)
def test_titles(title: str, clean: str) -> None:
    assert clean_title(title) == clean


@given(st.text(max_size=400))
def test_no_title_breaks_anything(text: str) -> None:
    title = clean_title(text)
    assert len(title) <= 200
    assert not re.search(r"[<>\[\]`|\\\"\n\r\x00-\x1f\u202a-\u202e]", title)
    assert clean_title(title) == title


def test_snippets_lose_tags_and_entities() -> None:
    assert (
        plain("The <strong>valve</strong>&nbsp;opens &lt; 2 &amp; closes\n later")
        == "The valve opens < 2 & closes later"
    )
    assert len(plain("word " * 10_000)) <= 2_000
