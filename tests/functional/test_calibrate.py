"""``selfright calibrate``: labelled pairs in, figures, pictures and a calibration in the index out."""

import hashlib
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from selfright.api.selfright import Selfright
from selfright.domain.errors import SettingsError
from selfright.domain.judgements import Verdict
from tests.functional.conftest import Cli

THINGS = ("kettle", "lantern", "ladder", "barrel", "compass", "anchor", "bucket", "hammer", "pulley", "rudder", "winch")


def rows() -> list[dict[str, object]]:
    """Each question with a passage that answers it, one about the thing that does not, and one about another thing."""
    made: list[dict[str, object]] = []
    for n, thing in enumerate(THINGS):
        question = f"How much does the {thing} weigh?"
        other = THINGS[n - 1]
        made += [
            {"question": question, "passage": f"The {thing} weighs {n + 2} kg when it is dry.", "label": 1},
            {"question": question, "passage": f"The {thing} hangs in the shed behind the house.", "label": 0},
            {"question": question, "passage": f"Nobody has seen the {other} since the summer.", "label": 0},
        ]
    return made


def written(place: Path, made: list[dict[str, object]]) -> Path:
    place.write_text("".join(json.dumps(row) + "\n" for row in made), encoding="utf-8")
    return place


def calibrate(cli: Cli, index: Path, labelled: Path, *more: object) -> dict[str, Any]:
    done = cli("calibrate", labelled, "--index", index, "--set", "embedder=none", "--json", *more)
    assert done.code == 0, done.err
    result: dict[str, Any] = json.loads(done.out)
    return result


def test_figures_pictures_and_the_file_in_the_index(cli: Cli, own_index: Path, tmp_path: Path) -> None:
    labelled, out = written(tmp_path / "labelled.jsonl", rows()), tmp_path / "out"
    done = cli("calibrate", labelled, "--index", own_index, "--set", "embedder=none", "--out", out, "--risk", "0.2")
    assert done.code == 0, done.err
    for shown in ("33 passages of 11 questions", "AUC", "Brier", "ECE", "100% answered", "thresholds stay"):
        assert shown in done.out
    stored = json.loads((own_index / "calibration.json").read_bytes())
    assert (stored["origin"]["rows"], stored["origin"]["questions"], stored["origin"]["risk"]) == (33, 11, 0.2)
    assert re.fullmatch(r"[0-9a-f]{64}", stored["origin"]["sha256"])
    figures = json.loads((out / "calibration.json").read_text(encoding="utf-8"))
    assert figures["passages"]["before"]["auc"] > 0.9
    assert figures["calibration"] == stored
    for name in ("reliability.svg", "risk-coverage.svg"):
        picture = (out / name).read_text(encoding="utf-8")
        assert ET.fromstring(picture).tag.endswith("svg")
        assert 'href="http' not in picture


def test_json_goes_to_stdout_and_figures_nobody_has_are_null(cli: Cli, own_index: Path, tmp_path: Path) -> None:
    result = calibrate(cli, own_index, written(tmp_path / "labelled.jsonl", rows()))
    # Every question has a passage that helps, so of the sets there is no AUC.
    assert result["sets"]["before"]["auc"] is None
    assert result["stored"] == str(own_index / "calibration.json")
    points = result["risk_coverage"]["points"]
    assert points[-1]["coverage"] == 1.0


def test_a_service_that_runs_takes_a_new_calibration_over(cli: Cli, own_index: Path, tmp_path: Path) -> None:
    question, path = "How often is the lamp of the lighthouse changed?", own_index / "calibration.json"
    with Selfright.open(own_index, embedder="none", preset="crag") as running:
        shipped = running.ask(question).verdict
        assert shipped is not Verdict.INCORRECT
        calibrate(cli, own_index, written(tmp_path / "labelled.jsonl", rows()))
        stored = json.loads(path.read_bytes())
        path.write_text(json.dumps({**stored, "lower": 1.0, "upper": 1.0}), encoding="utf-8")
        assert running.ask(question).verdict is Verdict.INCORRECT
        # Made for a grader with other weights, it is left alone.
        origin = {**stored["origin"], "grader": "another"}
        path.write_text(json.dumps({**stored, "lower": 1.0, "upper": 1.0, "origin": origin}), encoding="utf-8")
        assert running.ask(question).verdict is shipped
        path.unlink()
        assert running.ask(question).verdict is shipped


def test_swapped_labels_are_recognised(cli: Cli, own_index: Path, tmp_path: Path) -> None:
    made = [{**row, "label": 1 - int(str(row["label"]))} for row in rows()]
    command = ("calibrate", written(tmp_path / "swapped.jsonl", made), "--index", own_index, "--set", "embedder=none")
    done = cli(*command)
    assert (done.code, done.err.count("look at the labels")) == (1, 1)
    assert re.search(r"the labels look swapped: the AUC of passages is 0\.[0-3]\d\d", done.err)
    assert "interval -" not in done.err
    assert not list(own_index.glob("*calibration.json"))
    assert cli(*command, "--yes").code == 0


def test_a_good_file_is_not_refused_for_one_question_without_help(cli: Cli, own_index: Path, tmp_path: Path) -> None:
    one = unanswerable(rows())[:1]
    found = calibrate(cli, own_index, written(tmp_path / "one.jsonl", rows() + one))
    assert found["stored"]
    assert found["harms"] == []
    assert found["thresholds_fitted"] is False


def test_calibrating_again_starts_from_the_shipped_grader(cli: Cli, own_index: Path, tmp_path: Path) -> None:
    labelled = written(tmp_path / "labelled.jsonl", rows())
    first, second = (calibrate(cli, own_index, labelled) for _ in range(2))
    assert first["passages"] == second["passages"]


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"version": 1}', '{"version": 9}'])
def test_a_damaged_calibration_is_named_and_never_used(cli: Cli, own_index: Path, damage: str) -> None:
    (own_index / "calibration.json").write_text(damage, encoding="utf-8")
    asked = cli("ask", "Who is the harbour master?", "--index", own_index, "--set", "embedder=none")
    assert asked.code == SettingsError.exit_code
    assert "calibration.json cannot be used" in asked.err
    assert "run 'selfright calibrate' again" in asked.err


def test_too_few_rows_one_label_and_no_index(cli: Cli, own_index: Path, tmp_path: Path) -> None:
    few = cli("calibrate", written(tmp_path / "few.jsonl", rows()[:6]), "--index", own_index, "--set", "embedder=none")
    assert (few.code, "at least 20 rows" in few.err) == (1, True)
    one_label = [row for row in rows() if row["label"] == 0]
    same = cli("calibrate", written(tmp_path / "same.jsonl", one_label), "--index", own_index, "--set", "embedder=none")
    assert (same.code, "0 with label 1" in same.err) == (1, True)
    nowhere = cli("calibrate", written(tmp_path / "labelled.jsonl", rows()), "--index", tmp_path / "none")
    assert nowhere.code == 1
    assert "no index" in nowhere.err.lower()
    assert cli("calibrate", tmp_path / "missing.jsonl", "--index", own_index).code == 2
    assert cli("calibrate", tmp_path / "few.jsonl", "--index", own_index, "--risk", "1").code == 2


def unanswerable(made: list[dict[str, object]]) -> list[dict[str, object]]:
    """Questions on the same things that no passage answers, each beside passages that speak of the thing."""
    return [
        {"question": f"Who painted the {thing}?", "passage": row["passage"], "label": 0}
        for n, thing in enumerate(THINGS)
        for row in made[3 * n : 3 * n + 2]
    ]


def test_thresholds_need_questions_of_both_kinds(cli: Cli, own_index: Path, tmp_path: Path) -> None:
    made = rows()
    one_kind = calibrate(cli, own_index, written(tmp_path / "one.jsonl", made))
    assert one_kind["thresholds_fitted"] is False
    both = calibrate(cli, own_index, written(tmp_path / "both.jsonl", made + unanswerable(made)))
    assert both["thresholds_fitted"] is True
    assert both["calibration"]["upper"] != one_kind["calibration"]["upper"]


def test_what_makes_judging_worse_is_stored_only_when_told_so(cli: Cli, own_index: Path, tmp_path: Path) -> None:
    """Labels that nothing in the texts explains: every curve fitted to them misleads on those left out."""
    made = [*rows(), *unanswerable(rows())]
    noise = [{**row, "label": int(hashlib.md5(str(n).encode()).digest()[0] < 128)} for n, row in enumerate(made)]
    labelled = written(tmp_path / "noise.jsonl", noise)
    command = ("calibrate", labelled, "--index", own_index, "--set", "embedder=none", "--risk", "0.02", "--json")
    refused = cli(*command)
    assert refused.code == 1
    said = json.loads(refused.out)
    assert said["stored"] is None
    assert said["harms"]
    assert all(reason in refused.err for reason in said["harms"])
    assert "--yes" in refused.err
    assert not (own_index / "calibration.json").exists()
    accepted = cli(*command, "--yes")
    assert accepted.code == 0
    assert json.loads(accepted.out)["stored"] == str(own_index / "calibration.json")
