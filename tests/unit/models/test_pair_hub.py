"""Pair models by hub name: what is asked of the hub, what is kept for when it is away, and what is said when it is."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import onnx
import pytest
from onnx.external_data_helper import set_external_data

from selfright.domain.errors import MissingExtra, ModelRejected, ModelUnavailable, SettingsError
from selfright.models import pair_models, pair_runtimes
from selfright.models.pair_files import hub_folder
from selfright.models.pair_models import check_named, pair_judge
from tests.support.hub_server import COMMIT, Hub, serving_models
from tests.support.pair_models import tiny_cross_encoder, tiny_nli

hub_constants = pytest.importorskip("huggingface_hub.constants")

TEXTS = ("The lighthouse was built in 1874.", "The harbour was widened twice.")
QUESTION = "When was the lighthouse built?"
NAMED = "tester/reader"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tiny_cross_encoder(tmp_path_factory.mktemp("hub") / "reader", TEXTS, readme="---\nlanguage: en\n---\n")
    for other in ("pytorch_model.bin", "model.safetensors", "onnx/model_quantized.onnx", "vocab.txt"):
        (folder / other).parent.mkdir(exist_ok=True)
        (folder / other).write_bytes(b"not asked for")
    return folder


@pytest.fixture
def hub(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A hub that the library takes for its own; what was downloaded stays after it has stopped."""
    with serving_models(reader=model) as served:
        at(served.url, tmp_path, monkeypatch)
        yield served


def at(url: str, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_constants, "ENDPOINT", url)
    monkeypatch.setattr(hub_constants, "HUGGINGFACE_CO_URL_TEMPLATE", url + "/{repo_id}/resolve/{revision}/{filename}")
    monkeypatch.setattr(hub_constants, "HF_HUB_CACHE", str(cache / "cache"))
    monkeypatch.setenv("HF_TOKEN", "hf_not_to_be_seen")


def test_only_what_is_needed_is_downloaded_and_read_as_from_a_folder(hub: Hub, model: Path) -> None:
    judge, local = pair_judge(NAMED, "passages"), pair_judge(str(model), "passages")
    assert hub.asked == []  # nothing happens before something is asked
    assert judge.read(QUESTION, TEXTS) == local.read(QUESTION, TEXTS)
    assert judge.name == local.name
    assert judge.languages == ("en",)
    assert hub.downloads() == ["README.md", "config.json", "model.onnx", "tokenizer.json"]


def test_the_next_start_downloads_nothing_and_a_pinned_commit_asks_nothing(hub: Hub) -> None:
    first = pair_judge(NAMED, "passages").name
    hub.asked.clear()
    assert pair_judge(NAMED, "passages").name == first
    assert hub.downloads() == []
    hub.asked.clear()
    assert pair_judge(f"{NAMED}@{COMMIT}", "passages").name == first
    assert hub.asked == []


def test_without_the_network_what_came_before_is_used(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving_models(reader=model) as served:
        at(served.url, tmp_path, monkeypatch)
        before = pair_judge(NAMED, "passages").read(QUESTION, TEXTS)
    assert pair_judge(NAMED, "passages").read(QUESTION, TEXTS) == before
    fresh = pair_judge("tester/another", "passages")
    with pytest.raises(ModelUnavailable, match=r"check the network.*give its folder") as caught:
        fresh.read(QUESTION, TEXTS)
    assert "hf_not_to_be_seen" not in str(caught.value)
    assert caught.value.retryable


def test_weights_beside_the_network_come_with_it(hub: Hub, model: Path, tmp_path: Path) -> None:
    split = tmp_path / "split"
    split.mkdir()
    for name in ("config.json", "tokenizer.json"):
        (split / name).write_bytes((model / name).read_bytes())
    network = onnx.load(model / "model.onnx")
    for tensor in network.graph.initializer:
        if tensor.name == "scale":
            set_external_data(tensor, "model.onnx_data")
    onnx.save(network, split / "model.onnx")
    hub.folders["tester/split"] = split
    assert (split / "model.onnx_data").stat().st_size > 0
    assert pair_judge("tester/split", "passages").read(QUESTION, TEXTS) == pair_judge(NAMED, "passages").read(
        QUESTION, TEXTS
    )


def test_a_hub_that_is_away_is_asked_again_after_a_minute(
    hub: Hub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    hub.broken = {"model.onnx"}
    judge = pair_judge(NAMED, "passages")
    with pytest.raises(ModelUnavailable) as caught:
        _ = judge.name
    hub.broken = set()
    hub.asked.clear()
    with pytest.raises(ModelUnavailable) as again:
        judge.read(QUESTION, TEXTS)
    assert str(again.value) == str(caught.value)
    assert hub.asked == []
    monkeypatch.setattr(pair_models, "_AGAIN", 0.0)
    assert len(judge.read(QUESTION, TEXTS)) == 2


def test_half_a_download_is_not_taken_for_a_model(hub: Hub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    hub.broken = {"config.json"}
    with pytest.raises(ModelUnavailable):
        hub_folder(NAMED, "main")
    at("http://127.0.0.1:9", tmp_path, monkeypatch)
    with pytest.raises(ModelUnavailable):
        hub_folder(NAMED, "main")


@pytest.mark.parametrize(("named", "what"), [("tester/none", "tester/none"), (f"{NAMED}@v9", r"revision v9")])
def test_a_name_that_the_hub_does_not_know(hub: Hub, named: str, what: str) -> None:
    check_named(named, "passages")
    with pytest.raises(ModelRejected, match=what):
        _ = pair_judge(named, "passages").languages


def test_a_model_that_needs_what_is_not_installed_is_found_out_once(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.folders["tester/tensors"] = tmp_path / "tensors"
    (tmp_path / "tensors").mkdir()
    (tmp_path / "tensors" / "config.json").write_text('{"architectures": ["BertForSequenceClassification"]}')
    (tmp_path / "tensors" / "model.safetensors").write_bytes(b"")
    monkeypatch.setattr(pair_runtimes, "find_spec", lambda name: None)
    judge = pair_judge("tester/tensors", "claims")
    for _ in range(2):
        with pytest.raises(MissingExtra, match=r"selfright\[judges\]"):
            judge.read(QUESTION, TEXTS)
    assert sum("/api/models/" in line for line in hub.asked) == 1


def test_a_model_that_does_not_fit_the_job_is_not_downloaded_twice_nor_used(
    hub: Hub, model: Path, tmp_path: Path
) -> None:
    hub.folders["tester/nli"] = tiny_nli(tmp_path / "nli", TEXTS)
    hub.folders["tester/pickled"] = tmp_path / "pickled"
    (tmp_path / "pickled").mkdir()
    (tmp_path / "pickled" / "config.json").write_text("{}")
    (tmp_path / "pickled" / "pytorch_model.bin").write_bytes(b"\x80\x02.")
    judge = pair_judge("tester/nli", "passages")
    for _ in range(2):
        with pytest.raises(SettingsError, match="claim_judge"):
            judge.read(QUESTION, TEXTS)
    assert sum("/api/models/" in line for line in hub.asked) == 1
    with pytest.raises(SettingsError, match="format that can run code"):
        pair_judge("tester/pickled", "passages").read(QUESTION, TEXTS)
    assert not any("pytorch_model" in line for line in hub.asked)


def test_the_library_s_own_environment_says_where_the_hub_and_the_cache_are(model: Path, tmp_path: Path) -> None:
    script = (
        "import json\nfrom selfright.models.pair_models import pair_judge\n"
        f"judge = pair_judge({NAMED!r}, 'passages')\n"
        f"print(json.dumps([judge.name, [r.score for r in judge.read({QUESTION!r}, {list(TEXTS)!r})]]))"
    )
    with serving_models(reader=model) as served:
        env = {**os.environ, "HF_ENDPOINT": served.url, "HF_HOME": str(tmp_path), "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
        done = subprocess.run(
            [sys.executable, "-c", script], env=env, capture_output=True, text=True, timeout=60, check=False
        )
    assert done.returncode == 0, done.stderr
    name, scores = json.loads(done.stdout)
    local = pair_judge(str(model), "passages")
    assert (name, scores) == (local.name, [found.score for found in local.read(QUESTION, TEXTS)])
    assert (tmp_path / "hub").is_dir()
