"""The form of results: there and back, in files, and without the words of the data."""

import csv
import json
from dataclasses import replace
from pathlib import Path

from selfright.domain.answers import Citation
from selfright.evals.aggregation import aggregate, compare
from selfright.evals.results import FORM, DataSet, IndexFacts, RunResult, Study, dump_study
from selfright.evals.writing import redact, write
from tests.support.studies import one_pass, read_study, row, turn

SECRET = "SECRET"


def study() -> Study:
    told = turn(
        answer=f"{SECRET} said", citations=(Citation(1, "p", "a", SECRET, SECRET, 0, 6, SECRET),),
        removed_claims=(SECRET,), notes=(SECRET,),
        passes=(one_pass("a", missing_info=(SECRET,), brought=(SECRET,), new=(SECRET,)),),
    )  # fmt: skip
    asked = replace(row("=1+1", {"right": 1.0, "f1": None}, told), question=SECRET, answers=(SECRET,))
    failed = replace(row("b", {}), turn=None, error="TimeoutError: late")
    made = [RunResult(name, "full", {"top_k": 8}, {"answer": "offline"}, (asked, failed), {}) for name in ("a", "b")]
    runs = tuple(aggregate(one, ["right", "f1"], 0) for one in made)
    data, index = DataSet("set", "selfright", "ff", 2, 9), IndexFacts(1, 1, "none", "ours", "aa")
    return Study("answers", "2026-01-01T00:00:00+00:00", data, index, "local", 0, {"python": "3"}, runs,
                 compare(runs, [("a", "b")], 0))  # fmt: skip


def test_a_study_there_and_back(tmp_path: Path) -> None:
    files = write(study(), tmp_path / "out")
    assert read_study(tmp_path / "out" / "study.json") == study()
    assert [path.name for path in files] == ["study.json", "rows.csv", "summary.csv"]
    assert json.loads(files[0].read_bytes())["form"] == FORM


def test_tables_for_spreadsheets(tmp_path: Path) -> None:
    write(study(), tmp_path)
    with (tmp_path / "rows.csv").open(encoding="utf-8-sig", newline="") as file:
        first, second = list(csv.DictReader(file))[:2]
    assert (first["question_id"], first["right"], first["f1"], first["abstained"]) == ("'=1+1", "1.0", "", "False")
    assert (second["error"], second["answer"]) == ("TimeoutError: late", "")
    with (tmp_path / "summary.csv").open(encoding="utf-8-sig", newline="") as file:
        means = {(line["system"], line["metric"]): line["mean"] for line in csv.DictReader(file)}
    assert means[("a", "right")] == "1.0"
    assert means[("a", "f1")] == ""


def test_without_the_datas_words_the_figures_stay() -> None:
    bare = redact(study())
    assert SECRET.encode() not in dump_study(bare)
    assert SECRET.encode() in dump_study(study())
    assert [run.summary for run in bare.runs] == [run.summary for run in study().runs]
    (one,) = bare.runs[0].rows[0].turn.passes
    assert (len(one.missing_info), len(one.brought), one.documents) == (1, 1, ("a",))
