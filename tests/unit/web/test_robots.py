"""What is asked of the library that reads robots.txt: that no file breaks it or costs much time."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from protego import Protego


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
