"""An index on a server from the command line: the same commands with an address in place of a folder."""

import importlib.util
import json
from pathlib import Path

import pytest

from tests.functional.conftest import Cli


def test_the_commands_take_an_address_of_postgres(cli: Cli, documents: Path, database: str) -> None:
    index = ("--index", database.replace("postgres@", "postgres:s3cr3t@"))
    missing = cli("search", "lamp", *index)
    assert missing.code == 1
    assert "selfright index add" in missing.err
    added = json.loads(cli("index", "add", documents, *index, "--json").out)
    assert (added["added"], added["failed"]) == (3, 0)
    assert json.loads(cli("index", "add", documents, *index, "--json").out)["unchanged"] == 3
    found = json.loads(cli("search", "lamp changed", *index, "--json").out)
    assert found[0]["document_id"] == "lighthouse.md"
    answer = json.loads(cli("ask", "How often is the lamp changed?", *index, "--json").out)
    assert answer["citations"][0]["document_id"] == "lighthouse.md"
    info = cli("index", "info", *index)
    assert "cannot          upkeep" in info.out
    assert cli("index", "list", *index, "--set", "embedder=none").out.count("\n") == 3
    assert cli("search", "lamp changed", *index, "--set", "embedder=none").code == 1
    refused = cli("index", "verify", *index)
    assert refused.code == 2
    assert "engine's own means" in refused.err
    everything = "".join((missing.err, info.out, refused.err, refused.out))
    assert "s3cr3t" not in everything
    assert database.rpartition("/")[2] in everything


@pytest.mark.skipif(not importlib.util.find_spec("milvus_lite"), reason="needs the packages pymilvus and milvus-lite")
def test_the_commands_take_a_file_of_milvus_lite(cli: Cli, documents: Path, tmp_path: Path) -> None:
    index = ("--index", f"milvus://{tmp_path / 'index.db'}")
    assert json.loads(cli("index", "add", documents, *index, "--json").out)["added"] == 3
    assert cli("index", "remove", "harbour.md", *index, "--set", "embedder=none").code == 0
    assert cli("search", "lamp changed", *index, "--set", "embedder=none").code == 1
    found = json.loads(cli("search", "lamp changed", *index, "--json").out)
    assert found[0]["document_id"] == "lighthouse.md"
    assert json.loads(cli("index", "info", *index, "--json").out)["cannot"] == ["atomic", "history_free", "upkeep"]
    assert cli("index", "compact", *index).code == 2
