"""With the setting ``database``, all that is kept of people is there and nothing of it in the home folder."""

import json
from pathlib import Path
from typing import Any

import pytest

from selfright import Selfright
from selfright.cli.main import main
from selfright.domain.errors import SettingsError
from tests.support.service import QUESTION, write_index


def test_all_of_it_is_in_the_database_and_nothing_at_home(database: str, tmp_path: Path) -> None:
    settings: dict[str, Any] = {**write_index(tmp_path), "database": database, "preset": "basic"}
    with Selfright.open(**settings) as selfright:
        asked = selfright.ask(QUESTION, session="trip", user="ana", record=True)
        selfright.set_profile({"age": "61"}, "ana")
        selfright.ask(QUESTION, user="ben")
    assert [path.name for path in settings["home"].rglob("*") if path.is_file()] == []
    with Selfright.open(**settings) as again:
        assert [turn.trace_id for turn in again.turns("trip", "ana")] == [asked.trace_id]
        assert again.profile("ana").values("age") == ("61",)
        assert [trace.user for trace in again.traces()] == ["ben", "ana"]
        assert again.replay(asked.trace_id[:8]).faithful
        assert (again.forget(user="ana"), again.forget_profile("ana"), again.forget_traces("ana")) == (1, 1, 1)
        assert (again.sessions("ana"), again.profile_users(), len(again.traces())) == ((), (), 1)


def test_keys_are_kept_there_by_the_command_line(
    database: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], home_folder: Path
) -> None:
    monkeypatch.setenv("SELFRIGHT_DATABASE", database)
    assert main(["keys", "add", "--user", "ana", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert main(["keys", "list", "--json"]) == 0
    assert [key["id"] for key in json.loads(capsys.readouterr().out)] == [made["id"]]
    assert main(["keys", "revoke", made["id"]]) == 0
    assert main(["keys", "revoke", made["id"]]) == 1
    assert not list(home_folder.rglob("keys*"))


def test_a_wrong_address_is_told_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SELFRIGHT_DATABASE", "mysql://ana:blue-whale@db/kept")
    assert main(["keys", "list"]) == SettingsError.exit_code
    told = capsys.readouterr().err
    assert "setting 'database' is postgresql://" in told
    assert "blue-whale" not in told
    assert len(told.strip().splitlines()) == 1
