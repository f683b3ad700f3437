"""``eval retrieval`` on a small set in both layouts of BEIR."""

import json
from pathlib import Path

import pytest

from selfright.evals.beir import KEPT
from tests.functional.conftest import Cli
from tests.support.studies import read_study

DOCUMENTS = {
    "lamp": "The lamp of the lighthouse is changed every ninety days.",
    "horn": "The fog horn sounds twice a minute when the weather is thick.",
    "harbour": "The harbour master collects the mooring fees in the morning.",
    "등대": "Seals sleep on the rocks below the lighthouse.",
    "boats": "Boats over twenty metres anchor outside the bay.",
}
QUERIES = {
    "q1": ("how often is the lamp changed", {"lamp": 2, "horn": 0}),
    "q2": ("mooring fees", {"harbour": 1}),
    "q3": ("seals on the rocks", {"등대": 1, "lamp": 1}),
    "q4": ("penguins", {}),
}


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    folder = tmp_path / "dunmore"
    (folder / "dev").mkdir(parents=True)
    (folder / "qrels").mkdir()
    corpus = [{"_id": name, "title": "", "text": text} for name, text in DOCUMENTS.items()]
    queries = [{"_id": name, "text": text} for name, (text, _) in QUERIES.items()]
    judged = [f"{q}\t{d}\t{grade}\n" for q, (_, grades) in QUERIES.items() for d, grade in grades.items()]
    for path, rows in (
        (folder / "corpus.jsonl", corpus),
        (folder / "queries.jsonl", queries),
        (folder / "dev" / "queries.jsonl", queries),
    ):
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    for path in (folder / "dev" / "qrels.tsv", folder / "qrels" / "test.tsv"):
        path.write_text("query-id\tcorpus-id\tscore\n" + "".join(judged), encoding="utf-8")
    return folder


def test_four_systems_side_by_side(cli: Cli, beir: Path, tmp_path: Path, home_folder: Path) -> None:
    done = cli("eval", "retrieval", beir, "--out", tmp_path / "out", "--json")
    assert done.code == 0, done.err
    said = json.loads(done.out)
    assert [run["system"] for run in said["runs"]] == ["bm25", "dense", "rrf", "hybrid"]
    assert said["runs"][0]["summary"]["nDCG@10"]["n"] == 3  # the fourth query has nothing to find
    study = read_study(tmp_path / "out" / "study.json")
    assert (study.kind, study.data.name, study.data.of) == ("retrieval", "dunmore/dev", 4)
    by_words = {row.question_id: row.metrics["RR@10"].value for row in study.runs[0].rows}
    assert by_words["q1"] == by_words["q2"] == by_words["q3"] == 1.0
    assert len(study.comparisons) == 6
    assert all(0 < one.differences["nDCG@10"].p_holm <= 1 for one in study.comparisons)
    for system in ("bm25", "dense", "rrf", "hybrid"):
        lines = (tmp_path / "out" / "runs" / f"{system}.trec").read_text(encoding="utf-8").splitlines()
        assert all(len(line.split(" ")) == 6 and line.split(" ")[5] == f"selfright-{system}" for line in lines)
    assert (tmp_path / "out" / "rows.csv").exists()
    marker = next((home_folder / "home" / "evaluations" / "indexes").glob("*.complete"))
    again = cli("eval", "retrieval", beir, "--split", "test", "--measure", "P@1")  # BEIR's own layout, the same index
    assert again.code == 0, again.err
    assert "P@1" in again.out
    assert [marker] == list(marker.parent.glob("*.complete"))


def test_words_only_where_there_is_no_embedder(cli: Cli, beir: Path) -> None:
    done = cli("eval", "retrieval", beir, "--set", "embedder=none", "--json")
    assert done.code == 0, done.err
    assert [run["system"] for run in json.loads(done.out)["runs"]] == ["bm25", "hybrid"]


def test_an_index_of_ones_own(
    cli: Cli, beir: Path, tmp_path: Path, home_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SELFRIGHT_EMBEDDER", "none")
    assert cli("index", "add", beir / "corpus.jsonl", "--index", tmp_path / "mine").code == 0
    done = cli("eval", "retrieval", beir, "--index", tmp_path / "mine", "--limit", 2, "--seed", 1, "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["data"]["questions"] == 2
    assert not (home_folder / "home" / "evaluations").exists()


def test_only_some_indexes_are_kept(cli: Cli, beir: Path, home_folder: Path) -> None:
    for number in range(KEPT + 1):
        (beir / "corpus.jsonl").write_text(
            "".join(json.dumps({"_id": name, "text": f"{text} {number}"}) + "\n" for name, text in DOCUMENTS.items())
        )
        assert cli("eval", "retrieval", beir, "--set", "embedder=none").code == 0
    place = home_folder / "home" / "evaluations" / "indexes"
    assert len(list(place.glob("*.complete"))) == KEPT
    assert len([path for path in place.iterdir() if path.is_dir()]) == KEPT


@pytest.mark.parametrize(
    ("path", "content", "why"),
    [
        ("dev/qrels.tsv", "q1\tlamp\n", "line 1: expected query, document and a whole number"),
        ("dev/qrels.tsv", "q9\tlamp\t1\n", "the query 'q9' is judged but is not in"),
        ("dev/qrels.tsv", "q1\tlamp\t0\n", "nothing to measure"),
        ("dev/queries.jsonl", '{"_id": "q1"}\n', "line 1: 'text': it is missing"),
        ("corpus.jsonl", '{"_id": "lamp"}\n', "expected a string as 'text'"),
    ],
)
def test_what_is_wrong_with_a_set_is_said(cli: Cli, beir: Path, path: str, content: str, why: str) -> None:
    (beir / path).write_text(content)
    done = cli("eval", "retrieval", beir, "--set", "embedder=none")
    assert (done.code, why in done.err, done.out) == (1, True, "")


def test_wrong_use(cli: Cli, beir: Path) -> None:
    for options, why in (
        (("--measure", "ndgc@10"), "unknown measure"),
        (("--split", "train"), "expected train/queries.jsonl"),
    ):
        done = cli("eval", "retrieval", beir, *options, "--set", "embedder=none")
        assert done.code in (1, 2)
        assert why in done.err
