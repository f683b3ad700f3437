"""What is loaded ahead of a question, when, and what is left alone."""

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from selfright.domain.errors import ModelFilesDamaged
from selfright.models.encoder import E5
from selfright.wiring.networks import Preload


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


def warm_up(encoder: Encoder | None, times: int = 1) -> None:
    """Warms up, and waits for what that began."""
    preload = Preload(lambda: encoder, reads=False)
    for _ in range(times):
        preload.warm_up()
    for thread in threading.enumerate():
        if thread.name == "selfright-preload":
            thread.join()


def test_the_encoder_is_loaded_once_beside_the_turn_and_embeds_nothing() -> None:
    encoder = Encoder()
    warm_up(encoder, 2)
    assert [texts for texts, _ in encoder.calls] == [[]]
    assert encoder.calls[0][1] is not threading.current_thread()


def test_a_process_waits_for_a_load_that_began_on_a_daemons_thread() -> None:
    """The loop in the background is one, and a process that ends within a load crashes."""
    encoder = Encoder()
    daemon = threading.Thread(target=warm_up, args=(encoder,), daemon=True)
    daemon.start()
    daemon.join()
    assert not encoder.calls[0][1].daemon


def test_an_embedder_of_somebody_else_is_not_asked_for_nothing() -> None:
    encoder = Encoder("openai:text-embedding-3-small")
    warm_up(encoder)
    warm_up(None)
    assert encoder.calls == []


def test_damaged_files_are_heard_of_from_the_turn_not_from_here(caplog: pytest.LogCaptureFixture) -> None:
    encoder = Encoder(error=ModelFilesDamaged("not the pinned file"))
    warm_up(encoder)
    assert len(encoder.calls) == 1
    assert not [record for record in caplog.records if record.levelname != "DEBUG"]
