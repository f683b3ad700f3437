"""Addresses, read strictly and made safe to show."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.errors import PageRefused
from selfright.web.addresses import redirect, target_of


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("https://Example.ORG", "https://example.org/"),
        ("http://example.org.:80/a", "http://example.org/a"),
        ("https://example.org:8443/a?b=c#d", "https://example.org:8443/a?b=c"),
        ("https://예시.example/밸브?말=뜻", "https://xn--vv4b11d.example/%EB%B0%B8%EB%B8%8C?%EB%A7%90=%EB%9C%BB"),
        ("https://ｅxample。org/", "https://example.org/"),
        (
            "https://en.example.org/wiki/Valve_(disambiguation)",
            "https://en.example.org/wiki/Valve_%28disambiguation%29",
        ),
        ("https://example.org/a%20b", "https://example.org/a%20b"),
        ("http://[2606:4700::0001]/", "http://[2606:4700::1]/"),
        ("http://my_blog.example.org/", "http://my_blog.example.org/"),
    ],
)
def test_an_address_in_its_plain_form(given: str, url: str) -> None:
    assert target_of(given).url == url
    assert target_of(url).url == url


@given(st.text(st.characters(codec="utf-8"), max_size=40))
def test_no_path_breaks_a_link(tail: str) -> None:
    try:
        url = target_of(f"https://example.org/{tail}").url
    except PageRefused:
        return
    assert re.fullmatch(r"""https://example\.org[^\s<>"'()\[\]`\\]*""", url)
    assert url.isascii()


@given(st.text(max_size=60))
def test_anything_is_read_or_refused(text: str) -> None:
    try:
        target = target_of(text)
    except PageRefused:
        return
    assert target.scheme in ("http", "https")


@pytest.mark.parametrize(
    ("location", "url"),
    [
        ("/b", "https://h.example/b"),
        ("c?d", "https://h.example/x/c?d"),
        ("//o.example/e", "https://o.example/e"),
        ("http://o.example", "http://o.example/"),
    ],
)
def test_where_a_redirect_leads(location: str, url: str) -> None:
    assert redirect(target_of("https://h.example/x/y"), location).url == url


def test_a_redirect_out_of_the_web_is_refused() -> None:
    blanks = ("http://a b/", "/a\tb", "\nhttps://o.example/")  # of which a parser would drop some
    for location in ("javascript:alert(1)", "file:///etc/passwd", "http://[::1%25lo]/", *blanks):
        with pytest.raises(PageRefused):
            redirect(target_of("https://h.example/"), location)
