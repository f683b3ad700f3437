"""A study at the terminal: every metric with its change, and one sentence of advice."""

from dataclasses import replace

import pytest

from selfright.cli.experiment_report import lines, of_study
from selfright.evals.results import Study
from tests.support.reports import answers, of_right, retrieval


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
    assert out.splitlines()[-1].startswith("advice: ")


@pytest.mark.parametrize(
    ("study", "said"),
    [
        (of_right([0.0] * 60, [1.0] * 60), "use '"),
        (of_right([1.0] * 60, [0.0] * 60), "nothing else is as good here"),
        (of_right([1.0, 0.0] * 5, [0.0, 1.0] * 5), "no difference from"),
    ],
)
def test_advice_follows_the_intervals(study: Study, said: str) -> None:
    assert said in of_study(study)


def test_advice_for_a_search() -> None:
    assert of_study(retrieval()).startswith("advice: ")


def test_advice_names_the_language_where_most_is_lost() -> None:
    study = answers()
    (one, *_), others = study.runs[-1].funnels, ("a", "b", "c")
    nothing = dict.fromkeys(one.lost, ())
    korean = replace(one, language="ko", lost={**nothing, "looked": others})
    english = replace(one, language="en", lost={**nothing, "looked": ("d",)})
    run = replace(study.runs[-1], funnels=(english, korean))
    advice = of_study(replace(study, runs=(*study.runs[:-1], run)))
    assert "most of them in ko: ask in the language of the documents" in advice
    assert "top_k" not in advice
    both = replace(run, funnels=(replace(english, lost=korean.lost), korean))
    assert "top_k" in of_study(replace(study, runs=(*study.runs[:-1], both)))
