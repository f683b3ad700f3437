"""The network that reads question and passage together, as it ships, and what it says when its file is damaged."""

import importlib.util
from importlib.resources import files
from pathlib import Path

import pytest

from selfright.domain.errors import ModelFilesDamaged
from selfright.llm import minilm
from selfright.llm.cross_encoder import CrossEncoder
from selfright.roles.grade.neural import shipped_neural

FILE = Path(str(files("selfright.roles.grade") / "reader.onnx"))
needs_model = pytest.mark.skipif(importlib.util.find_spec(minilm.PACKAGE) is None, reason="the model is not installed")

QUESTION = "When was the lighthouse on the northern cape built?"
PASSAGES = (
    "Bakers in the valley use rye flour and let the dough rest for a day.",
    "The lighthouse on the northern cape was built in 1874, after three ships had been lost.",
    "The harbour was widened twice.",
)


@pytest.fixture(scope="module")
def reader() -> CrossEncoder:
    neural = shipped_neural()
    assert neural is not None
    return CrossEncoder(FILE, neural.sha256)


@needs_model
def test_a_passage_that_answers_is_ahead_of_one_about_something_else(reader: CrossEncoder) -> None:
    scores = reader.score(QUESTION, PASSAGES)
    assert max(range(3), key=scores.__getitem__) == 1
    assert reader.score("What flour do bakers in the valley use?", PASSAGES)[0] > scores[0]


@needs_model
def test_scores_keep_the_order_of_the_passages_whatever_their_lengths(reader: CrossEncoder) -> None:
    texts = [text + " More of the same follows." * times for times in (40, 0, 12) for text in PASSAGES]
    together = reader.score(QUESTION, texts)
    alone = [reader.score(QUESTION, [text])[0] for text in texts]
    # What flows between the layers is rounded on one scale for a batch, so company shifts a score a little.
    assert together == pytest.approx(alone, abs=0.6)
    assert reader.score(QUESTION, []) == []
    assert len(reader.score("word " * 300, ["word " * 900, ""])) == 2


@needs_model
def test_another_file_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "reader.onnx"
    other.write_bytes(b"not the network")
    with pytest.raises(ModelFilesDamaged, match="SHA-256"):
        CrossEncoder(other, "0" * 64).score(QUESTION, PASSAGES)
    with pytest.raises(ModelFilesDamaged, match="cannot read"):
        CrossEncoder(tmp_path / "absent.onnx", "0" * 64).score(QUESTION, PASSAGES)
