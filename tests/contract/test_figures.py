"""The figures that the READMEs quote are those of the page of figures."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROW = re.compile(
    r"^\| all \| (\d+) → (\d+) of (\d+) \| (\d+) → (\d+) \| 0 → \d+ \| 0 → (\d+) of (\d+) \|$", re.MULTILINE
)


@pytest.mark.parametrize("page", ["README.md", "README.ko.md"])
def test_the_answers_over_real_documentation_are_those_that_were_measured(page: str) -> None:
    row = ROW.search((ROOT / "docs" / "figures.md").read_text(encoding="utf-8"))
    assert row
    basic, full, questions, basic_wrong, full_wrong, refused, unanswerable = row.groups()
    text = (ROOT / page).read_text(encoding="utf-8")
    quoted = text[text.index("**문장 선택**" if page.endswith("ko.md") else "**Sentence choice.**") :].split("\n- ", 1)[
        0
    ]
    found = re.findall(r"(?<![\w.#/])\d+", quoted)
    assert found == [questions, full, full_wrong, basic, basic_wrong, unanswerable, refused]
