"""The multilingual encoder with its real weights, and how its tokenizer cuts."""

import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.errors import ModelFilesDamaged
from selfright.models.encoder import E5
from selfright.models.files import FOLDER, LIST, UNKNOWN, piece_numbers, tokenizer

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
    assert cosines == pytest.approx([0.795, 0.687, 0.698], abs=4e-3)  # products of eight bits


def test_a_vector_does_not_depend_on_its_company(encoder: E5) -> None:
    alone = np.concatenate([E5().embed([text]) for text in PASSAGES[:2]])
    together = E5().embed([*PASSAGES, "a long text " * 100])[:2]
    assert np.abs(alone - together).max() < 1e-5


def test_a_query_and_a_passage_are_read_in_forms_of_their_own(encoder: E5) -> None:
    text = "How often is the lamp changed?"
    assert 0.8 < float(encoder.embed([text])[0] @ encoder.embed_query(text)) < 0.9999


def test_threads_share_an_encoder() -> None:
    encoder, found = E5(), []
    threads = [threading.Thread(target=lambda: found.append(encoder.embed(PASSAGES))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(found) == 4
    assert all(np.abs(found[0] - each).max() < 1e-5 for each in found)


def copied(folder: Path) -> Path:
    """The files of the encoder, in a folder of their own; what is large stands there as a link."""
    for name in ("encoder.onnx", "words.bin", "tokenizer.json", LIST):
        (folder / name).symlink_to(FOLDER / name)
    return folder


@pytest.mark.parametrize("name", ["encoder.onnx", "words.bin"])
def test_a_damaged_file_is_named_before_it_is_used(tmp_path: Path, name: str) -> None:
    folder = copied(tmp_path)
    content = bytearray((FOLDER / name).read_bytes())
    content[1_000_000] ^= 1
    (folder / name).unlink()
    (folder / name).write_bytes(content)
    with pytest.raises(ModelFilesDamaged, match=f"{name} should have the SHA-256"):
        E5(folder=folder).embed(["x"])


@pytest.mark.parametrize("name", ["encoder.onnx", "words.bin", LIST])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    folder = copied(tmp_path)
    (folder / name).unlink()
    with pytest.raises(ModelFilesDamaged, match=f"cannot read .*{name}"):
        E5(folder=folder).embed(["x"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The lamp's 90 days", ["▁The", "▁lamp", "'", "s", "▁90", "▁days"]),
        ("등대의 등은 ９０일마다", ["▁등", "대의", "▁등", "은", "▁90", "일", "마다"]),
        ("  naïve   café ", ["▁na", "ï", "ve", "▁café"]),
        ("漢字とカナ", ["▁", "漢", "字", "と", "カ", "ナ"]),
    ],
)
def test_a_text_is_cut_into_pieces(text: str, expected: list[str]) -> None:
    assert [tokenizer().id_to_token(number) for number in piece_numbers([text])[0]] == expected


def test_letters_that_the_vocabulary_lacks_are_the_unknown_piece(encoder: E5) -> None:
    assert UNKNOWN in piece_numbers(["Привет"])[0]
    vectors = encoder.embed(["Привет, мир", "مرحبا بالعالم", "नमस्ते", "\ud800 half", "😀\u0000"])
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


@given(st.text(max_size=300))
def test_any_text_is_cut_and_its_numbers_have_vectors(text: str) -> None:
    numbers = piece_numbers([text])[0]
    assert all(0 <= number < tokenizer().get_vocab_size() for number in numbers)
