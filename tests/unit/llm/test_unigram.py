"""A tokenizer's model written from its pieces."""

import numpy as np
import pytest
from sentencepiece import SentencePieceProcessor

from selfright.domain.errors import ModelFilesDamaged
from selfright.llm.e5_file import Pieces, sentencepiece_model

TEXTS = ("<s>", "<pad>", "</s>", "<unk>", "▁", "▁등", "대", "lamp", "▁lamp", "<mask>")
SCORES = (0.0, 0.0, 0.0, 0.0, -3.0, -2.0, -2.5, -4.0, -1.5, 0.0)


def pieces(texts: tuple[str, ...] = TEXTS) -> Pieces:
    encoded = [text.encode() for text in texts]
    return Pieces(
        np.frombuffer(b"".join(encoded), np.uint8),
        np.cumsum([0, *map(len, encoded)]).astype("<u4"),
        np.array(SCORES, dtype=np.float32),
        begin=0, end=2, pad=1, unknown=3,
    )  # fmt: skip


def test_a_model_holds_pieces_scores_and_marks() -> None:
    model = SentencePieceProcessor()
    model.LoadFromSerializedProto(sentencepiece_model(pieces()))
    assert [model.id_to_piece(number) for number in range(model.get_piece_size())] == list(TEXTS)
    assert [model.get_score(number) for number in range(len(TEXTS))] == list(SCORES)
    assert [number for number in range(len(TEXTS)) if model.is_control(number)] == [0, 1, 2, 9]
    assert (model.bos_id(), model.eos_id(), model.pad_id(), model.unk_id()) == (0, 2, 1, 3)
    assert model.encode("등대 lamp lamplamp x", out_type=str) == ["▁등", "대", "▁lamp", "▁lamp", "lamp", "▁", "x"]


def test_a_piece_longer_than_any_is_damage() -> None:
    with pytest.raises(ModelFilesDamaged, match="at most 118 bytes"):
        sentencepiece_model(pieces((*TEXTS[:4], "x" * 119, *TEXTS[5:])))
