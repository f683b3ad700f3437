"""Which request gets which reply."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.scripted.catalogue import FAULTS
from tests.support.scripted.requests import Request
from tests.support.scripted.rules import Damaged, Rule, Script, When


def request(user: str = "hello", system: str = "be kind", number: int = 1, **more: Any) -> Request:
    messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
    return Request(number, "POST", "/v1/chat/completions", body={"model": "m", "messages": messages, **more})


def script(*rules: Rule, default: Any = "default") -> Script:
    return Script(rules, lambda _: default)


class TestWhen:
    @pytest.mark.parametrize(
        ("when", "holds"),
        [
            (When(), True),
            (When(user="^hel"), True),
            (When(user="^ello"), False),
            (When(system="kind", user="hello"), True),
            (When(system="cruel", user="hello"), False),
            (When(model="m", stream=False, form="text", job=""), True),
            (When(stream=True), False),
            (When(job="grade"), False),
        ],
    )
    def test_all_that_is_given_must_hold(self, when: When, holds: bool) -> None:
        assert when.matches(request()) is holds

    def test_nth_counts_the_calls_for_which_the_rest_holds(self) -> None:
        playing = script(Rule(When(user="cat", nth=2), "second cat"), Rule(When(nth=[1, 4]), "first or fourth"))
        said = [playing.reply(request(text)) for text in ("cat", "dog", "cat", "cat", "dog", "cow")]
        # The second rule sees all calls but the one the first rule took.
        assert said == ["first or fourth", "default", "second cat", "default", "first or fourth", "default"]


class TestRules:
    def test_damage_needs_something_to_spoil(self) -> None:
        assert script(Rule(When(), Damaged("nan", {"score": 0.5}))).reply(request()) == '{"score": NaN}'
        assert script(Rule(When(), Damaged("nan")), default={"kind": "x"}).reply(request()) == {"kind": "x"}
        assert script(Rule(When(), Damaged("nan")), default="text").reply(request()) == "text"


def test_every_fault_is_documented() -> None:
    page = (Path(__file__).parents[2] / "support" / "scripted" / "README.md").read_text("utf-8")
    rows = "\n".join(line.split("|")[1] for line in page.splitlines() if line.startswith("| `"))
    assert [name for name in FAULTS if f"`{name}`" not in rows] == []
    harmless = {name for line in rows.splitlines() if "†" in line for name in line.split("`")[1::2]}
    assert harmless == {name for name, fault in FAULTS.items() if fault.harmless}
