"""A study at the terminal: every metric with its change."""

from dataclasses import replace

from selfright.cli.commands.eval import lines
from tests.support.reports import answers


def test_an_ablation_says_every_metric_with_its_change() -> None:
    study = replace(answers(), kind="ablation")
    out = "\n".join(lines(study, []))
    table = out.partition(f"the change against {study.runs[0].system}")[2].splitlines()
    base, other = (run.summary["quality"].mean for run in study.runs[:2])
    assert base is not None
    assert other is not None
    (line,) = (line for line in table if line.strip().startswith("quality "))
    assert line.split()[1:4] == [f"{base:.3f}", f"{other:.3f}", f"({(other - base) / base:+.0%})"]
    assert any(line.strip().startswith("retrieval_avoided") for line in table)
