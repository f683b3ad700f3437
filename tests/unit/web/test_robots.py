"""robots.txt by RFC 9309."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.web import visiting

RFC_EXAMPLE = """
User-Agent: *
Disallow: *.gif$
Disallow: /example/
Allow: /publications/

User-Agent: foobot
Disallow:/
Allow:/example/page.html
Allow:/example/allowed.gif

User-Agent: barbot
User-Agent: bazbot
Disallow: /example/page.html

User-Agent: quxbot
"""


@pytest.mark.parametrize(
    ("agent", "path", "allowed"),
    [
        ("other", "/a.gif", False), ("other", "/a.gif?x", True), ("other", "/example/x", False),
        ("other", "/publications/", True),
        ("foobot", "/x", False), ("FooBot", "/example/page.html", True), ("foobot", "/example/allowed.gif", True),
        ("barbot", "/example/page.html", False), ("bazbot", "/example/page.html", False), ("barbot", "/example/", True),
    ],
)  # fmt: skip
def test_the_example_of_the_rfc(agent: str, path: str, allowed: bool) -> None:
    assert visiting.parse(RFC_EXAMPLE, agent).allows(path) is allowed


@pytest.mark.parametrize(
    ("rules", "path", "allowed"),
    [
        ("Disallow: /a\nAllow: /a/b", "/a/b/c", True),
        ("Allow: /a\nDisallow: /a", "/a", True),  # on a tie, allowing wins
        ("Disallow: /a*b*c", "/axxbyyc", False),
        ("Disallow: /a*b*c", "/axxcyyb", True),
        ("Disallow: /*?s=", "/page?s=1", False),
        ("Disallow: /a$", "/ab", True),
        ("Disallow: /a$", "/a", False),
        ("Disallow: /*a*ba$", "/aba", False),
        ("Disallow:", "/anything", True),
        ("Disallow: /밸브", "/%EB%B0%B8%EB%B8%8C/1", False),
        ("Disallow: /%7Ejoe/", "/~joe/x", False),
        ("# Disallow: /\nDisallow: /b # c", "/b", False),
        ("nonsense\nDisallow /\n:::", "/", True),
    ],
)
def test_rules(rules: str, path: str, allowed: bool) -> None:
    assert visiting.parse(f"User-agent: *\n{rules}", "selfright").allows(path) is allowed


def test_delays() -> None:
    assert visiting.parse("user-agent: *\ncrawl-delay: 2.5", "x").delay_s == 2.5
    assert visiting.parse("user-agent: *\ncrawl-delay: nan\ncrawl-delay: -1\ncrawl-delay: soon", "x").delay_s == 0


@given(st.text(alphabet="*$/ab:\n UDuserag-tdisallow", max_size=200), st.text(alphabet="/ab*", max_size=20))
def test_any_file_can_be_read(text: str, path: str) -> None:
    assert visiting.parse(text, "a").allows(f"/{path}") in (True, False)


def test_a_spiteful_pattern_costs_no_time() -> None:
    rules = visiting.parse("user-agent: *\n" + f"disallow: /{'*a' * 1000}b$\n" * 200, "x")
    began = time.perf_counter()
    assert rules.allows("/" + "a" * 2000)
    assert time.perf_counter() - began < 1.0
