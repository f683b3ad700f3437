"""Training begins with the weights that ship, read back from their files."""

import numpy as np
import onnxruntime
import pytest

from selfright.models.files import FOLDER
from training.network_weights import NetworkWeights

pytest.importorskip("onnx")
WEIGHTS = NetworkWeights(FOLDER)


def test_word_vectors_are_what_the_network_looks_up() -> None:
    pieces = np.array([[0, 17, 90_000, 2]])
    vectors = WEIGHTS.words(pieces)
    assert vectors.shape == (1, 4, 384)
    assert np.isfinite(vectors).all()
    assert 0.02 < float(np.abs(vectors).mean()) < 1


def test_both_networks_have_all_their_parameters() -> None:
    encoder, reader = WEIGHTS.encoder(), WEIGHTS.reader()
    assert encoder["encoder.layer.11.attention.self.key.weight"].shape == (384, 384)
    assert encoder["encoder.layer.11.intermediate.dense.weight"].shape == (1536, 384)
    assert reader["layers.5.inner.weight"].shape == (1536, 384)
    assert reader["layers.5.query.bias"].shape == (384,)
    assert {name.split(".")[0] for name in reader} == {
        "ends", "first_norm", "kinds", "layers", "logits", "matches", "pooled",
    }  # fmt: skip


def test_the_reader_is_rebuilt_as_it_was() -> None:
    session = onnxruntime.InferenceSession(str(FOLDER / "reader.onnx"), providers=["CPUExecutionProvider"])
    assert [one.name for one in session.get_inputs()] == ["pieces", "attention_mask", "asked", "matches"]
