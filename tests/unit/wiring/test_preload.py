"""What is loaded ahead of a question, when, and what is left alone."""

import threading
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from selfright.domain.errors import ModelFilesDamaged
from selfright.models.encoder import E5
from selfright.wiring.encoders import Preload
from selfright.wiring.index import IndexService


class Encoder:
    """Tells by whom it was asked, and for what."""

    dimension = 384
    languages = ()

    def __init__(self, name: str = E5.name, error: Exception | None = None) -> None:
        self.name = name
        self.calls: list[tuple[list[str], threading.Thread]] = []
        self._error = error

    def embed(self, texts: Sequence[str]) -> Any:
        self.calls.append(([*texts], threading.current_thread()))
        if self._error:
            raise self._error
        return np.empty((0, self.dimension), dtype=np.float32)


def asked(encoder: Encoder | None, *questions: str) -> None:
    """Expects the questions, and waits for what that began."""
    preload = Preload(cast(IndexService, SimpleNamespace(embedder=encoder)), reads=False)
    for question in questions:
        preload.expect(question)
    for thread in threading.enumerate():
        if thread.name == "selfright-preload":
            thread.join()


def test_the_encoder_is_loaded_once_beside_the_turn_and_embeds_nothing() -> None:
    encoder = Encoder()
    asked(encoder, "How often is the lamp changed?", "And the horn?")
    assert [texts for texts, _ in encoder.calls] == [[]]
    assert encoder.calls[0][1] is not threading.current_thread()


def test_a_korean_question_is_expected_too() -> None:
    encoder = Encoder()
    asked(encoder, "등대의 등은 얼마나 자주 교체하나요?")
    assert len(encoder.calls) == 1


def test_an_embedder_of_somebody_else_is_not_asked_for_nothing() -> None:
    encoder = Encoder("openai:text-embedding-3-small")
    asked(encoder, "How often is the lamp changed?")
    asked(None, "How often is the lamp changed?")
    assert encoder.calls == []


def test_damaged_files_are_heard_of_from_the_turn_not_from_here(caplog: pytest.LogCaptureFixture) -> None:
    encoder = Encoder(error=ModelFilesDamaged("not the pinned file"))
    asked(encoder, "How often is the lamp changed?")
    assert len(encoder.calls) == 1
    assert not [record for record in caplog.records if record.levelname != "DEBUG"]
