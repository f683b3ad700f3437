"""The network ships or it does not: who is told of it, and what happens to calibrations made without it."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from selfright.assembly import roles
from selfright.assembly.engine import Engine
from selfright.domain.chat import Job
from selfright.roles.grade import neural
from selfright.roles.grade.llm import ModelGrader
from selfright.roles.grade.model import shipped_model
from selfright.settings import Settings
from tests.support.embedders import WordHashes
from tests.support.texts import CountedTerms, PlainTokenizer


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder in the place of the one that holds the grader's weights."""
    monkeypatch.setattr(neural, "files", lambda _package: tmp_path)
    neural.shipped_neural.cache_clear()
    roles.shipped_reader.cache_clear()
    yield tmp_path
    neural.shipped_neural.cache_clear()
    roles.shipped_reader.cache_clear()


def put(folder: Path) -> None:
    scorer = {"weights": {"reader": 1.0}, "intercept": 0.0, "calibration": {"scores": [0.0], "probabilities": [0.5]}}
    card = {"reader": "reader-abc", "sha256": "abc", "passage": scorer, "sufficiency": scorer}
    (folder / "reader.json").write_text(json.dumps(card))


def test_card_without_network_or_network_without_card_is_no_reader(folder: Path) -> None:
    assert roles.shipped_reader() is None
    put(folder)
    neural.shipped_neural.cache_clear()
    roles.shipped_reader.cache_clear()
    assert roles.shipped_reader() is None
    (folder / "reader.json").unlink()
    (folder / "reader.onnx").write_bytes(b"")
    neural.shipped_neural.cache_clear()
    roles.shipped_reader.cache_clear()
    assert roles.shipped_reader() is None


def test_with_both_the_grader_of_the_engine_is_another_one(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    engine = Engine(Settings(index=tmp_path_factory.mktemp("index"), embedder="none"))
    before = engine._judges._grader_name
    put(folder)
    (folder / "reader.onnx").write_bytes(b"")
    neural.shipped_neural.cache_clear()
    roles.shipped_reader.cache_clear()
    reader = roles.shipped_reader()
    assert reader is not None
    assert reader.name == "reader-abc"
    assert reader.name in engine._judges._grader_name
    assert reader.name not in before
    engine.close()


def test_what_ships_is_whole() -> None:
    """The network is the one that its scorers were fitted on."""
    found = neural.shipped_neural()
    assert shipped_model().lower <= shipped_model().upper
    assert found is not None
    assert found.reader == f"reader-{found.sha256[:12]}"
    assert hashlib.sha256(neural.reader_file().read_bytes()).hexdigest() == found.sha256


def test_a_model_that_grades_has_no_reader_before_it() -> None:
    known = WordHashes(shipped_model().embedder)
    offline = roles.offline_roles(PlainTokenizer(), CountedTerms(()), known)
    never: Any = None  # nothing is asked here
    grader = roles.with_models(offline, never, {Job.GRADE}, "cascade").grader
    assert offline.grader._reader is not None
    assert isinstance(grader, ModelGrader)
    assert grader.offline._reader is None
