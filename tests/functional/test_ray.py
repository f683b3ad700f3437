"""Bulk ingestion on a cluster of two local nodes: the same as in one process, whatever is lost.

In one module, for starting the cluster takes longer than most of these tests.
"""

import importlib
import importlib.util
import json
import logging
import os
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

if sys.platform == "win32" or importlib.util.find_spec("ray") is None:
    pytest.skip("Ray is not installed", allow_module_level=True)

from selfright.ingest.pipeline import Report, ingest
from selfright.ingest.ray_cluster import RayCluster
from selfright.wiring.bulk import BulkTarget, add_to
from tests.functional.conftest import DOCUMENTS, Cli
from tests.support.contents import contents
from tests.support.embedders import WordHashes
from tests.support.histories import TOKENIZER, create_store, misranked, open_store, random_text

pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own, of files and processes left open

_MEMORY = 80_000_000
_SMALL = {"num_cpus": 1, "object_store_memory": _MEMORY, "include_log_monitor": False}


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("selfright.ingest.pipeline._COMMIT", 200)
    monkeypatch.setattr("selfright.ingest.ray_cluster._PART", 32)
    monkeypatch.setattr(RayCluster, "batch", 64)


def started_cluster() -> Any:
    """A cluster of one node. Ray gives a node thirty seconds, which a cold disk may take the first time."""
    make: Any = importlib.import_module("ray.cluster_utils").Cluster
    head = {**_SMALL, "include_dashboard": False, "no_monitor": True}
    for tried in range(3):
        try:
            return make(initialize_head=True, head_node_args=head)
        except Exception as error:  # Ray raises nothing narrower
            if tried == 2 or "timed out" not in str(error):
                raise
    raise AssertionError("unreachable")


@pytest.fixture(scope="module")
def nodes() -> Iterator[Any]:
    """The cluster; its one node is where the tests run. It knows no settings and no keys of anybody."""
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith("SELFRIGHT_") or name.endswith("_API_KEY"):
                patch.delenv(name)
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_worker_niceness", "0")  # Ray lets everything else go first
        patch.setenv("RAY_health_check_period_ms", "400")  # five of them until a node counts as lost
        ray: Any = importlib.import_module("ray")
        cluster = started_cluster()
        try:
            ray.init(cluster.address, log_to_driver=False, logging_level=logging.ERROR)
            yield cluster
        finally:
            ray.shutdown()
            cluster.shutdown()


@pytest.fixture
def second(nodes: Any) -> Any:
    return nodes.add_node(**_SMALL)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of several kinds, a bad one, and rows."""
    folder = tmp_path_factory.mktemp("files")
    for name, text in DOCUMENTS.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "page.html").write_text("<title>Keel</title><p>A keel keeps a boat upright.</p>", encoding="utf-8")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 and nothing more")
    chance = random.Random(5)
    rows = [{"_id": f"row{number}", "text": random_text(chance, number)} for number in range(600)]
    rows.append({**rows[7], "text": "the seventh row again, with other words"})
    lines = [json.dumps(row, ensure_ascii=False) for row in rows] + ["{not a row"]
    (folder / "rows.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def alone(files: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Report]:
    """What one process makes of them."""
    folder = tmp_path_factory.mktemp("alone") / "index"
    with create_store(folder) as store:
        return folder, ingest([files], store, store, "docs")


def place(folder: Path, entry: str = "embedding_of") -> BulkTarget:
    return BulkTarget(folder, TOKENIZER, WordHashes(), "the tests'", f"tests.support.bulk:{entry}")


def same(folder: Path, reference: Path) -> None:
    with open_store(folder) as one, open_store(reference) as other:
        assert contents(one) == contents(other)
        assert misranked(one, other) is None


@pytest.mark.usefixtures("nodes")
def test_the_same_as_in_one_process_and_nothing_twice(files: Path, alone: tuple[Path, Report], tmp_path: Path) -> None:
    target, told = place(tmp_path / "index"), []
    with RayCluster() as cluster:
        report = add_to(cluster, target, [files], "docs", lambda *now: told.append(now))
        again = add_to(cluster, target, [files], "docs")
    assert report == alone[1]
    same(tmp_path / "index", alone[0])
    assert told[-1][0] == told[-1][1] > 0
    assert (again.added, again.unchanged) == (0, report.added)


@pytest.mark.usefixtures("nodes")
def test_a_killed_worker_costs_nothing(tmp_path: Path) -> None:
    word, folder = tmp_path / "word", tmp_path / "files"
    folder.mkdir()
    (folder / "a.txt").write_text(f"Here is a DEADLY {word} text.", encoding="utf-8")
    (folder / "b.txt").write_text("Here is a harmless one.", encoding="utf-8")
    with RayCluster() as cluster:
        report = add_to(cluster, place(tmp_path / "index", "embed_or_die"), [folder], "docs")
    assert word.exists()
    assert (report.added, report.failed) == (2, [])
    with create_store(tmp_path / "alone") as store:
        ingest([folder], store, store, "docs")
    same(tmp_path / "index", tmp_path / "alone")


@pytest.mark.usefixtures("nodes")
def test_from_the_command_line_with_the_encoder_of_the_settings(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    for name in ("lighthouse.md", "harbour.md"):
        (tmp_path / "files" / name).write_text(DOCUMENTS[name], encoding="utf-8")
    found = []
    for index, options in (("one", ()), ("other", ("--ray", "auto"))):
        told = cli("index", "add", tmp_path / "files", "--index", tmp_path / index, "--json", *options)
        assert told.code == 0, told.err
        hits = json.loads(cli("search", "when is the lamp changed", "--index", tmp_path / index, "--json").out)
        words = [(hit["passage_id"], hit["bm25"]) for hit in hits]
        found.append((json.loads(told.out), words, [hit["dense"] and hit["dense"]["score"] for hit in hits]))
    assert found[0][:2] == found[1][:2]
    assert len(found[0][1]) >= 2
    # The encoder rounds by the company that a text has.
    assert found[0][2] == pytest.approx(found[1][2], abs=1e-5)


def test_a_node_removed_halfway_costs_nothing(
    nodes: Any, second: Any, files: Path, alone: tuple[Path, Report], tmp_path: Path
) -> None:
    removed: list[str] = []

    def progress(done: int, total: int, name: str) -> None:
        if 2 * done > total and not removed:
            removed.append(name)
            nodes.remove_node(second, allow_graceful=False)

    with RayCluster() as cluster:
        report = add_to(cluster, place(tmp_path / "index", "embed_slowly"), [files], "docs", progress)
    assert removed
    assert report == alone[1]
    same(tmp_path / "index", alone[0])


@pytest.mark.usefixtures("nodes")
def test_broken_off_it_goes_on_behind_the_last_commit(files: Path, alone: tuple[Path, Report], tmp_path: Path) -> None:
    def stop(done: int, total: int, name: str) -> None:
        if 10 * done > 7 * total:
            raise KeyboardInterrupt

    with RayCluster() as cluster:
        with pytest.raises(KeyboardInterrupt):
            add_to(cluster, place(tmp_path / "index"), [files], "docs", stop)
        with open_store(tmp_path / "index") as store:
            kept = store.info().documents
        report = add_to(cluster, place(tmp_path / "index"), [files], "docs")
    assert 0 < kept < alone[1].added
    assert report.added == alone[1].added - kept
    same(tmp_path / "index", alone[0])
