"""Import and export from the command line, over a real index."""

import json
from pathlib import Path

import faiss
import numpy as np
import pytest
from numpy.typing import NDArray

from tests.functional.conftest import Cli
from tests.support.transfer import write_lines

ROWS = [
    {"id": "otter", "title": "Otters", "text": "Otters hold hands while they sleep on the water."},
    {"id": "heron", "title": "Herons", "text": "A heron waits without moving until a fish comes near."},
    {"id": "swift", "title": "Swifts", "text": "Swifts sleep in the air and land only to breed."},
]


@pytest.fixture(scope="module")
def vectors() -> NDArray[np.float32]:
    from selfright.models.encoder import E5

    return E5().embed([row["text"] for row in ROWS])


@pytest.fixture
def elsewhere(tmp_path: Path, vectors: NDArray[np.float32]) -> tuple[object, ...]:
    """An index made elsewhere, as the options that name it."""
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)
    faiss.write_index(index, str(tmp_path / "x.faiss"))
    write_lines(tmp_path / "c.jsonl", ROWS)
    write_lines(tmp_path / "x.meta.jsonl", [{"text": row["text"]} for row in ROWS])
    return (
        *("--corpus", tmp_path / "c.jsonl", "--faiss", tmp_path / "x.faiss"),
        *("--meta", tmp_path / "x.meta.jsonl"),
    )


def test_an_index_made_elsewhere_answers(cli: Cli, elsewhere: tuple[object, ...], tmp_path: Path) -> None:
    index = tmp_path / "index"
    outcome = cli("index", "import", *elsewhere, "--index", index, "--collection", "animals", "--json")
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out) == {"added": 3, "replaced": 0, "passages": 3, "vectors": 3, "notes": []}
    info = json.loads(cli("index", "info", "--index", index, "--json").out)
    assert (info["documents"], info["collections"]) == (3, {"animals": 3})
    hits = json.loads(cli("search", "a wader standing still to catch its prey", "--index", index, "--json").out)
    assert [hit["document_id"] for hit in hits if hit["dense"]["rank"] == 1] == ["heron"]


def test_what_is_wrong_is_said_in_one_line_and_no_index_is_made(
    cli: Cli, elsewhere: tuple[object, ...], tmp_path: Path
) -> None:
    index = tmp_path / "index"
    write_lines(tmp_path / "x.meta.jsonl", [{"text": row["text"]} for row in ROWS[:2]])
    outcome = cli("index", "import", *elsewhere, "--index", index)
    assert (outcome.code, len(outcome.err.strip().splitlines())) == (1, 1)
    assert "2 lines for the 3 rows of c.jsonl" in outcome.err
    assert cli("index", "import", *elsewhere[:4], "--index", index).code == 2
    refused = cli("index", "import", *elsewhere, "--set", "embedder=none", "--index", index)
    assert (refused.code, "e5: 384" in refused.err) == (1, True)
    assert cli("index", "import", *elsewhere, "--embedder", "none", "--index", index).code == 1
    assert not index.exists()


def test_texts_alone(cli: Cli, tmp_path: Path) -> None:
    corpus = write_lines(tmp_path / "c.jsonl", ROWS)
    outcome = cli("index", "import", "--corpus", corpus, "--no-vectors", "--index", tmp_path / "index", "--json")
    assert json.loads(outcome.out)["passages"] == 3


def test_texts_alone_are_split_as_files_are(cli: Cli, tmp_path: Path) -> None:
    long = "\n\n".join(f"## Part {n}\n\n" + f"Word {n} of it. " * 60 for n in range(4))
    corpus = write_lines(tmp_path / "c.jsonl", [{"_id": "long", "text": long}])
    options = ("--set", "embedder=none", "--json", "--index")
    imported = cli("index", "import", "--corpus", corpus, "--no-vectors", *options, tmp_path / "imported")
    added = cli("index", "add", corpus, *options, tmp_path / "added")
    assert json.loads(imported.out)["passages"] == json.loads(added.out)["passages"] > 4


@pytest.mark.usefixtures("vectors")
def test_out_and_in_again_gives_the_same_ranking(cli: Cli, indexed: Path, tmp_path: Path) -> None:
    out, index = tmp_path / "out", tmp_path / "again"
    told = cli("index", "export", "--to", out, "--vectors", "--index", indexed, "--json")
    assert told.code == 0, told.err
    files = ("--corpus", out / "corpus.jsonl", "--faiss", out / "vectors.faiss", "--meta", out / "vectors.meta.jsonl")
    assert cli("index", "import", *files, "--index", index).code == 0
    query = "How often is the lamp changed? 등대의 등은 언제 교체하나요?"
    before, after = (json.loads(cli("search", query, "--index", place, "--json").out) for place in (indexed, index))
    assert [(row["text"], row["rrf_score"]) for row in after] == [(row["text"], row["rrf_score"]) for row in before]


def test_a_folder_in_use_is_not_written_to(cli: Cli, indexed: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    outcome = cli("index", "export", "--to", tmp_path, "--index", indexed)
    assert outcome.code == 1
    assert "--force" in outcome.err
    assert cli("index", "export", "--to", tmp_path, "--index", indexed, "--force").code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["corpus.jsonl", "mine.txt"]


def test_no_index_to_export(cli: Cli, tmp_path: Path) -> None:
    outcome = cli("index", "export", "--to", tmp_path / "out", "--index", tmp_path / "none")
    assert outcome.code == 1
    assert not (tmp_path / "out").exists()
