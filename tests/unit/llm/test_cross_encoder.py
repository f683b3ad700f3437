"""The network that reads question and passage together, as it ships, and what it says when its file is damaged."""

import importlib.util
from importlib.resources import files
from pathlib import Path

import pytest

from selfright.domain.errors import ModelFilesDamaged
from selfright.llm import kept_pairs, minilm
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
    scores = [found.score for found in reader.read(QUESTION, PASSAGES)]
    assert max(range(3), key=scores.__getitem__) == 1
    assert reader.read("What flour do bakers in the valley use?", PASSAGES)[0].score > scores[0]


@needs_model
def test_scores_keep_the_order_of_the_passages_whatever_their_lengths(reader: CrossEncoder) -> None:
    texts = [text + " More of the same follows." * times for times in (40, 0, 12) for text in PASSAGES]
    together = reader.read(QUESTION, texts)
    alone = [reader.read(QUESTION, [text])[0] for text in texts]
    assert together == alone
    assert reader.read(QUESTION, []) == []
    assert len(reader.read("word " * 300, ["word " * 900, ""])) == 2


@needs_model
def test_where_the_answer_stands(reader: CrossEncoder) -> None:
    (found,) = reader.read(QUESTION, PASSAGES[1:2])
    (begin, *_), (end, *_) = (sorted(found.places, key=lambda p: -getattr(p, name)) for name in ("begins", "ends"))
    assert PASSAGES[1][begin.start : end.end] == "1874"
    assert begin.begins > 0.9
    assert [p.start for p in found.places] == sorted(p.start for p in found.places)
    for texts in (("word " * 900, "", "日本語 1874\n\n"), PASSAGES):
        for text, places in zip(texts, reader.read(QUESTION, texts), strict=True):
            assert all(0 <= p.start < p.end <= len(text) for p in places.places)
            assert sum(p.begins for p in places.places) <= 1.001


@needs_model
def test_what_was_read_is_kept_for_a_while_and_never_more_than_its_bound(
    reader: CrossEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    neural = shipped_neural()
    assert neural is not None
    fresh = CrossEncoder(FILE, neural.sha256)
    runs: list[str] = []
    run = fresh._run
    monkeypatch.setattr(fresh, "_run", lambda question, passage: (runs.append(passage), run(question, passage))[1])
    monkeypatch.setattr(kept_pairs, "KEPT", 3)
    first = fresh.read(QUESTION, PASSAGES)
    assert fresh.read(QUESTION, PASSAGES[::-1]) == first[::-1]
    assert len(runs) == 3
    fresh.read(QUESTION, ["Something new."])
    assert fresh.read(QUESTION, PASSAGES) == first == reader.read(QUESTION, PASSAGES)
    assert 4 < len(runs) <= 7
    assert len(fresh._kept) == 3


@needs_model
def test_another_file_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "reader.onnx"
    other.write_bytes(b"not the network")
    refusing = CrossEncoder(other, "0" * 64)
    with pytest.raises(ModelFilesDamaged, match="SHA-256"):
        refusing.read(QUESTION, PASSAGES)
    other.unlink()
    with pytest.raises(ModelFilesDamaged, match="SHA-256"):  # it is not looked at again
        refusing.read(QUESTION, PASSAGES)
    with pytest.raises(ModelFilesDamaged, match="cannot read"):
        CrossEncoder(tmp_path / "absent.onnx", "0" * 64).read(QUESTION, PASSAGES)
