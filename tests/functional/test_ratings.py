"""Ratings from the answer to calibration: by Python, over HTTP, and out through the command line."""

import json
from pathlib import Path

import pytest

from selfright import Selfright
from selfright.assembly.calibrating import read_labelled
from selfright.domain.errors import InputError
from selfright.domain.turns import Scope
from selfright.entrypoints.client import Client, DoneEvent
from tests.functional.conftest import Cli
from tests.support.service import QUESTION, serving, write_index


def test_a_rated_answer_becomes_rows_that_calibrate_reads(
    tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = write_index(tmp_path)
    with serving(settings) as running, Client(running.url) as client:
        *_, done = client.stream(QUESTION)
        assert isinstance(done, DoneEvent)
        places = [(each.document_id, each.start, each.end) for each in done.evidence]
        client.rate(done.answer.trace_id, done.answer.question, True, places)
        client.rate("another-turn", "Is the lamp blue?", False, places[:1])
        client.rate("taken-back", "Is the lamp red?", False, places[:1])
        assert client.unrate("taken-back")
        assert not client.unrate("taken-back")
        rows = client.labelled().rows
        assert {(row.question, row.label) for row in rows} == {(done.answer.question, 1), ("Is the lamp blue?", 0)}
        assert "every 90 days" in " ".join(row.passage for row in rows)

    written = tmp_path / "labelled.jsonl"
    monkeypatch.setenv("SELFRIGHT_HOME", str(settings["home"]))
    outcome = cli("ratings", "export", "--index", settings["path"], "--out", written, "--set", "embedder=none")
    assert outcome.code == 0
    assert f"{len(rows)} rows" in outcome.err
    assert [row.label for row in read_labelled(written).rows] == [row.label for row in rows]


def test_a_passage_that_changed_or_went_is_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    for name in ("kept", "changed", "gone"):
        (folder / f"{name}.md").write_text(f"# {name}\n\nThe {name} buoy of Kilbray is green and rings at night.\n")
    with Selfright.open(tmp_path / "index", embedder="none", home=tmp_path / "home") as selfright:
        selfright.add([folder])
        places = [(name, 0, 40) for name in sorted(one.id for one in selfright.documents())]
        selfright.rate("turn", "What colour is the buoy?", True, places)
        (folder / "changed.md").write_text("# changed\n\nA red buoy lies off Kilbray now, and it is changed.\n")
        (folder / "gone.md").unlink()
        selfright.sync([folder])
        found = selfright.labelled()
        assert ["kept" in row["passage"] for row in found.rows] == [True]
        assert found.left_out == 2
        for wrong in (("nothing.md", 0, 5), (places[-1][0], 5, 5), (places[-1][0], 0, 10_000)):
            with pytest.raises(InputError):
                selfright.rate("turn", "What colour?", True, [wrong])
        with pytest.raises(InputError, match="there is no document"):
            selfright.rate("turn", "What?", True, [("kept.md", 0, 9)], Scope("local", ("elsewhere",)))
        assert selfright.labelled(Scope(None, ("elsewhere",))).rows == ()


def test_rows_say_the_last_word_on_a_passage(tmp_path: Path) -> None:
    with Selfright.open(**write_index(tmp_path)) as selfright:
        place = ("lighthouse.md", 0, 60)
        selfright.rate("first", QUESTION, False, [place])
        selfright.rate("second", QUESTION, True, [place])
        assert [row["label"] for row in selfright.labelled().rows] == [1]
        assert json.dumps(selfright.labelled("nobody").rows) == "[]"
