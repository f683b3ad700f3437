"""Which request gets which reply: rules in Python and from files."""

from pathlib import Path
from typing import Any

import pytest

from selfright.domain.errors import SettingsError, UnknownName
from tests.support.scripted.catalogue import FAULTS, read_rules
from tests.support.scripted.faults import Status
from tests.support.scripted.requests import Request
from tests.support.scripted.rules import Damaged, Rule, Script, When


def request(user: str = "hello", system: str = "be kind", number: int = 1, **more: Any) -> Request:
    messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
    return Request(number, "POST", "/v1/chat/completions", body={"model": "m", "messages": messages, **more})


def asking(job: str) -> Request:
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"title": job, "type": "object"}}}
    return request(response_format=form)


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


RULES = """
[[rule]]
job = "grade"
times = 1
fault = "503"

[[rule]]
job = "grade"
json = { passages = [{ n = 1, probability = 0.9 }], sufficiency = 0.8 }

[[rule]]
user = "(?i)price"
nth = [1, 2]
replies = [{ text = "40 euros. [1]" }, { fault = { kind = "reset-midway", after = 2, reply = "Half of" } }]

[[rule]]
job = "evaluate"
damage = "trailing-comma"
of = { grounding = 0.5 }
"""


class TestFiles:
    def written(self, folder: Path, text: str) -> Path:
        path = folder / "rules.toml"
        path.write_text(text, "utf-8")
        return path

    def test_rules_are_read(self, tmp_path: Path) -> None:
        playing = script(*read_rules(self.written(tmp_path, RULES)))
        first, second = playing.reply(asking("grade")), playing.reply(asking("grade"))
        assert isinstance(first, Status)
        assert (first.status, first.retry_after) == (503, 1)
        assert second == {"passages": [{"n": 1, "probability": 0.9}], "sufficiency": 0.8}
        assert playing.reply(request("What Price?")) == "40 euros. [1]"
        broken: Any = playing.reply(request("What price?"))
        assert (broken.after, broken.reply) == (2, "Half of")
        assert playing.reply(request("What price?")) == "default"
        assert playing.reply(asking("evaluate")) == '{"grounding": 0.5,}'

    @pytest.mark.parametrize(
        ("text", "error", "says"),
        [
            ("[[rule", SettingsError, "cannot read the rules"),
            ("[[rules]]\ntext = 'x'", UnknownName, "did you mean 'rule'"),
            ("rule = 1", SettingsError, r"\[\[rule\]\] tables"),
            ("[[rule]]\ntext = 'x'\njobb = 'grade'", UnknownName, "unknown key of rule 1 'jobb': did you mean 'job'"),
            ("[[rule]]\ntext = 1", SettingsError, "text = 1 has the wrong type"),
            ("[[rule]]\njob = 'grade'", SettingsError, "one of text, json, fault, damage or replies, but has none"),
            ("[[rule]]\ntext = 'x'\nfault = '429'", SettingsError, "should have one of"),
            ("[[rule]]\nfault = '430'", UnknownName, "unknown fault '430'"),
            ("[[rule]]\nfault = {kind = 'stall', before = 1}", SettingsError, "does not take"),
            ("[[rule]]\ndamage = 'fence'", UnknownName, "did you mean 'fenced'"),
            ("[[rule]]\nuser = '('\ntext = 'x'", SettingsError, "rule 1: missing \\)"),
            ("[[rule]]\nreplies = []", SettingsError, "list of tables"),
            ("[[rule]]\nreplies = [{text = 'x', job = 'y'}]", UnknownName, "key of rule 1"),
        ],
    )
    def test_mistakes_are_told(self, tmp_path: Path, text: str, error: type[Exception], says: str) -> None:
        with pytest.raises(error, match=says):
            read_rules(self.written(tmp_path, text))

    def test_the_documented_file_is_a_rule_file(self, tmp_path: Path) -> None:
        page = (Path(__file__).parents[2] / "support" / "scripted" / "README.md").read_text("utf-8")
        example = page.split("```toml\n")[1].split("```")[0]
        assert len(read_rules(self.written(tmp_path, example))) == 4

    def test_every_fault_is_documented(self) -> None:
        page = (Path(__file__).parents[2] / "support" / "scripted" / "README.md").read_text("utf-8")
        rows = "\n".join(line.split("|")[1] for line in page.splitlines() if line.startswith("| `"))
        assert [name for name in FAULTS if f"`{name}`" not in rows] == []
        harmless = {name for line in rows.splitlines() if "†" in line for name in line.split("`")[1::2]}
        assert harmless == {name for name, fault in FAULTS.items() if fault.harmless}
