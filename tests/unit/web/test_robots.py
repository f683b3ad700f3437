"""What is asked of the library that reads robots.txt: RFC 9309, and bounded time whatever the file says."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from protego import Protego

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
    assert Protego.parse(RFC_EXAMPLE).can_fetch(f"https://x.example{path}", agent) is allowed


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
        ("nonsense\n:::", "/", True),
    ],
)
def test_rules(rules: str, path: str, allowed: bool) -> None:
    assert Protego.parse(f"User-agent: *\n{rules}").can_fetch(f"https://x.example{path}", "selfright") is allowed


@pytest.mark.parametrize(("rules", "delay"), [("2.5", 2.5), *((bad, None) for bad in ("nan", "-1", "soon"))])
def test_delays(rules: str, delay: float | None) -> None:
    assert Protego.parse(f"user-agent: *\ncrawl-delay: {rules}").crawl_delay("x") == delay


@given(st.text(alphabet="*$/ab:\n UDuserag-tdisallow", max_size=200), st.text(alphabet="/ab*", max_size=20))
def test_any_file_can_be_read(text: str, path: str) -> None:
    assert Protego.parse(text).can_fetch(f"https://x.example/{path}", "a") in (True, False)


def test_a_spiteful_pattern_costs_no_time() -> None:
    rules = Protego.parse("user-agent: *\n" + f"disallow: /{'*a' * 1000}b$\n" * 200)
    began = time.perf_counter()
    assert rules.can_fetch("https://x.example/" + "a" * 2000, "x")
    assert time.perf_counter() - began < 1.0
