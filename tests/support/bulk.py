"""What nodes of a test's cluster run: the tests' embedder, slow, or deadly once."""

import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from selfright.ingest.ray_cluster import Embed
from tests.support.embedders import WordHashes


def embedding_of(_encoder: str) -> Embed:
    """As the product embeds, with the tests' embedder."""
    return WordHashes().embed


def embed_slowly(encoder: str) -> Embed:
    """The same, so that there is time for something to happen."""
    quick = embedding_of(encoder)

    def slow(texts: Sequence[str]) -> Any:
        time.sleep(0.1)
        return quick(texts)

    return slow


def embed_or_die(encoder: str) -> Embed:
    """The same; the process ends at a text that says where to leave word, unless word was left there."""
    quick = embedding_of(encoder)

    def deadly(texts: Sequence[str]) -> Any:
        for text in texts:
            if "DEADLY " in text:
                word = Path(text.split("DEADLY ")[1].split()[0])
                if not word.exists():
                    word.touch()
                    os.kill(os.getpid(), signal.SIGKILL)
        return quick(texts)

    return deadly
