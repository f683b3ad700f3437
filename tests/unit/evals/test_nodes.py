"""What nodes of a cluster are told: everything that rows depend on, and nothing that opens anybody's door."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.api import Selfright
from selfright.domain.errors import StoreError, UsageError
from selfright.evals import provenance
from selfright.evals.nodes import _completed, _opened, _told, _versions, forget_homes, start
from selfright.evals.provenance import models, public
from selfright.settings import Settings, load_settings

_WORD = st.text("abcdefghijklmnopqrstuvwxyz0123456789-_.!$&'()*+;=:%@/#?", min_size=6)


@pytest.fixture
def selfright(tmp_path: Path) -> Selfright:
    (tmp_path / "a.txt").write_text("Orla Keane is the harbour master of Dunmore.", encoding="utf-8")
    selfright = Selfright.open(tmp_path / "index", embedder="none", top_k=3, home=tmp_path / "home")
    selfright.add([tmp_path / "a.txt"])
    return selfright


def setup(selfright: Selfright, **changed: Any) -> dict[str, Any]:
    """What is sent, as it arrives."""
    told = _told(selfright.settings, {})
    index = asdict(provenance.index_facts(selfright))
    told["values"] |= changed.pop("values", {})
    return json.loads(json.dumps({**told, "judge": "local", "index": index, **changed}))  # type: ignore[no-any-return]


def test_a_node_has_the_same_settings_whatever_its_own_are(
    selfright: Selfright, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SELFRIGHT_TOP_K", "7")
    monkeypatch.setenv("SELFRIGHT_PACK", "none")
    with _opened(setup(selfright), str(tmp_path / "there")) as there:
        assert there.settings.home == tmp_path / "there"
        for name in Settings.__dataclass_fields__:
            if name not in ("home", "database"):
                assert getattr(there.settings, name) == getattr(selfright.settings, name), name


@pytest.mark.skipif(sys.platform == "win32", reason="Ray's nodes are not tested there")
def test_a_home_goes_once_the_process_that_used_it_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = "from selfright.evals.nodes import _own_home; print(_own_home()[0], flush=True); input()"
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)  # read anew
    with subprocess.Popen([sys.executable, "-c", program], stdin=-1, stdout=-1, text=True) as process:
        assert process.stdout
        home = Path(process.stdout.readline().strip())
        assert home.parent == tmp_path
        forget_homes()
        assert home.exists()
        process.kill()
    forget_homes()
    assert list(tmp_path.iterdir()) == []


def test_an_index_given_by_a_relative_path_is_found(
    selfright: Selfright, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with Selfright.open("index", embedder="none") as relative:
        told = setup(relative)
    monkeypatch.chdir("/")
    with _opened(told, str(tmp_path / "there")) as there:
        assert there.info().documents == 1
    selfright.close()


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"values": {"index": "/nowhere/index"}}, "cannot open the index at /nowhere/index.*all of them see"),
        ({"versions": {**_versions(), "selfright": "0.0.0"}}, "where 0.0.0 was expected; install the same"),
        ({"index": {"documents": 2}}, "another index.*1 documents instead of 2"),
    ],
)
def test_a_node_that_would_not_give_the_same_rows_says_why(
    selfright: Selfright, changed: Mapping[str, Any], why: str
) -> None:
    answer = start(setup(selfright, **changed))({})
    with pytest.raises(StoreError, match=why):
        raise StoreError(answer["refused"])
    selfright.close()


@given(login=_WORD, key=_WORD)
def test_no_login_is_sent(login: str, key: str) -> None:
    for address in (f"http://<{login}>@host:80/v1", f"https://host/v1?<{key}>", f"http://<{login}>@host/?<{key}>"):
        for value in (address, f"openai:m@{address}", f"searxng={address},brave=https://other", {"judge": address}):
            assert not {"<", ">"} & set(json.dumps(public(value)))


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ("openai:gpt-4o-mini", "openai:gpt-4o-mini"),
        ("http://127.0.0.1:80/v1", "http://127.0.0.1:80/v1"),
        ("openai:m@http://me:a,b@host/v1?key=1", "openai:m@http://host/v1"),
        ("searxng=http://me:b@one,brave=https://two/?a=1", "searxng=http://one,brave=https://two/"),
        (None, None),
    ],
)
def test_where_a_model_is_may_be_known(given: str | None, sent: str | None) -> None:
    assert public(given) == sent


def test_passwords_are_the_nodes_own(monkeypatch: pytest.MonkeyPatch) -> None:
    address, server = "postgresql://me:hush@host/db?schema=docs", "http://me:hush@llm:80/v1"
    settings = load_settings({"index": address, "llm": "openai:m", "base_url": server})
    told = _told(settings, {})
    assert "hush" not in json.dumps(told)
    with pytest.raises(UsageError.__base__, match="SELFRIGHT_BASE_URL on each node"):  # type: ignore[arg-type]
        _completed(told["values"], told["withheld"])
    monkeypatch.setenv("SELFRIGHT_BASE_URL", "http://node:own@llm:80/v1")
    monkeypatch.setenv("SELFRIGHT_INDEX", "postgresql://me:own@host/db?schema=docs")
    values = _completed(told["values"], told["withheld"])
    assert (values["base_url"], values["index"]) == (
        "http://node:own@llm:80/v1", "postgresql://me:own@host/db?schema=docs",
    )  # fmt: skip


def test_a_judge_s_folder_is_sent_in_full_and_a_hub_name_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine").mkdir()
    monkeypatch.chdir(tmp_path)
    told = _told(load_settings({"passage_judge": "mine", "claim_judge": "owner/nli@main"}), {})
    assert told["values"]["passage_judge"] == str(tmp_path / "mine")
    assert told["values"]["claim_judge"] == "owner/nli@main"


@pytest.mark.parametrize(
    "values",
    [
        {"llm": object()},
        {"models": {"evaluate": object()}},
        {"retriever": object()},
        {"claim_judge": object()},
    ],
)
def test_python_objects_stay_here(values: Mapping[str, Any]) -> None:
    with pytest.raises(UsageError, match="cannot be sent to a cluster"):
        _told(load_settings(), values)


def test_no_result_names_a_password() -> None:
    found = models(Settings(llm="openai:small@http://ann:secret@127.0.0.1:9"))
    assert set(found.values()) == {"openai:small@http://127.0.0.1:9"}
