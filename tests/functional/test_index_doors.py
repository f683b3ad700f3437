"""Looking after an index from outside: check, mend, compact."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from selfright import Selfright
from selfright.cli.main import cli


def run(*arguments: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(cli, [str(argument) for argument in arguments], standalone_mode=False)
    code = result.return_value if isinstance(result.return_value, int) else result.exit_code
    return code, result.stdout


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SELFRIGHT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SELFRIGHT_EMBEDDER", "none")
    (tmp_path / "wave.txt").write_text("A tidal wave follows an earthquake under the sea.", encoding="utf-8")
    (tmp_path / "sail.txt").write_text("A sail needs wind, and a keel keeps a boat upright.", encoding="utf-8")
    with Selfright.open(tmp_path / "index") as selfright:
        selfright.add([tmp_path / "wave.txt", tmp_path / "sail.txt"])
    return tmp_path / "index"


def test_damage_is_named_and_mended(index: Path) -> None:
    state = index / "lexical" / "state.json"
    state.write_bytes(state.read_bytes()[:-5])
    code, said = run("index", "verify", "--index", index)
    assert code == 1
    assert "lexical" in said
    code, said = run("index", "verify", "--repair", "--json", "--index", index)
    assert code == 0
    assert [finding["mended"] for finding in json.loads(said)["findings"]] == [True]
    assert run("index", "verify", "--index", index)[0] == 0


def test_a_damaged_catalogue_is_named_and_left_as_it_is(index: Path) -> None:
    catalogue = index / "catalogue.sqlite"
    content = catalogue.read_bytes()
    place = content.index(b"tidal wave follows")  # where the document or its passage is stored
    catalogue.write_bytes(content.replace(b"tidal wave follows", b"tidal rave follows"))
    assert place > 0
    for options in ((), ("--repair",)):
        code, said = run("index", "verify", *options, "--index", index)
        assert code == 1
        assert "wave.txt" in said
        assert f"make it anew with: selfright index add PATH --index {index}" in said
    advice = CliRunner().invoke(cli, ["index", "verify", "--index", str(index)], standalone_mode=False).stderr
    assert advice.startswith("selfright: --repair cannot mend the catalogue: restore the index from a backup")
    with Selfright.open(index) as selfright:
        assert selfright.search("keel")[0].passage.document_id == "sail.txt"


def test_compacting_keeps_what_is_found(index: Path) -> None:
    with Selfright.open(index) as selfright:
        selfright.remove(["wave.txt"])
        before = selfright.search("keel wind")
        selfright.compact()
        assert selfright.search("keel wind") == before
    code, said = run("index", "compact", "--json", "--index", index)
    assert code == 0
    assert json.loads(said).keys() == {"bytes_before", "bytes_after"}


@pytest.mark.parametrize("embedder", ["e5", "openai:text-embedding-of-nobody"])
def test_an_index_is_looked_after_without_the_embedder_it_was_made_with(
    index: Path, monkeypatch: pytest.MonkeyPatch, embedder: str
) -> None:
    monkeypatch.setenv("SELFRIGHT_EMBEDDER", embedder)
    assert run("search", "keel", "--index", index)[0] == 1
    assert run("index", "verify", "--index", index) == (0, "the index is sound\n")
    assert run("index", "list", "--index", index)[1].count("\n") == 2
    assert "embedder        none" in run("index", "info", "--index", index)[1]
    assert run("index", "describe", "default", "Waves and sails.", "--index", index)[0] == 0
    assert "Waves and sails." in run("index", "collections", "--index", index)[1]
    assert run("index", "remove", "wave.txt", "--index", index) == (0, "1 removed\n")
    assert run("index", "compact", "--index", index)[0] == 0
    assert run("index", "export", "--to", index.parent / "out", "--index", index)[0] == 0
    assert run("index", "verify", "--repair", "--index", index) == (0, "the index is sound\n")
    assert run("search", "keel", "--index", index, "--set", "embedder=none")[0] == 0


def test_only_damaged_vectors_need_the_embedder(index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SELFRIGHT_EMBEDDER", "e5")
    place = tmp_path / "with-vectors"
    assert run("index", "add", tmp_path / "wave.txt", "--index", place)[0] == 0
    state = place / "dense" / "state.json"
    state.write_bytes(state.read_bytes()[:-5])
    other = ("--index", place, "--set", "embedder=none")
    assert run("index", "verify", *other)[0] == 1
    assert run("index", "verify", "--repair", *other)[0] == 0
    (vectors,) = (place / "vectors").iterdir()
    vectors.write_bytes(bytes(vectors.stat().st_size))
    assert run("index", "verify", *other)[0] == 1
    assert run("index", "verify", "--repair", *other)[0] == 1
    assert run("index", "verify", "--repair", "--index", place)[0] == 0
    assert run("index", "verify", *other)[0] == 0


@pytest.mark.parametrize("repair", [False, True])
def test_turns_go_on_after_the_index_was_looked_after(index: Path, repair: bool) -> None:
    with Selfright.open(index) as selfright:
        (index.parent / "kiln.txt").write_text("The kiln is fired with oak wood.", encoding="utf-8")
        selfright.add(index.parent / "kiln.txt", collection="pottery")
        selfright.describe_collection("pottery", "Kilns and clay.")
        selfright.describe_collection("default", "Boats and waves.")
        before = selfright.ask("What does a keel keep upright?")
        assert selfright.verify(repair=repair) == []
        after = selfright.ask("What does a keel keep upright?")
        assert (after.answer, after.evaluation) == (before.answer, before.evaluation)
        assert [step.said for step in after.trace] == [step.said for step in before.trace]  # the router's word, too
        assert after.citations
        assert selfright.ask("What is the kiln fired with?").citations[0].document_id == "kiln.txt"
