"""What nodes of a test's cluster run: the tests' embedder, slow, or deadly once."""

import os
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from selfright.ingest.bulk import Prepared
from selfright.retrieval.preparing import join_all
from selfright.wiring.bulk import _make_preparer
from tests.support.embedders import WordHashes
from tests.support.histories import TOKENIZER


def prepare(_setup: dict[str, Any]) -> Callable[[dict[str, Any]], Prepared]:
    """As the product prepares, with the tests' embedder."""
    return _make_preparer(partial(join_all, TOKENIZER), WordHashes())


def prepare_slowly(setup: dict[str, Any]) -> Callable[[dict[str, Any]], Prepared]:
    """The same, so that there is time for something to happen."""
    quick = prepare(setup)

    def slow(task: dict[str, Any]) -> Prepared:
        time.sleep(0.1)
        return quick(task)

    return slow


def prepare_or_die(setup: dict[str, Any]) -> Callable[[dict[str, Any]], Prepared]:
    """The same; the process ends at a text that says where to leave word, unless word was left there."""
    quick = prepare(setup)

    def deadly(task: dict[str, Any]) -> Prepared:
        for text in task["texts"]:
            if "DEADLY " in text:
                word = Path(text.split("DEADLY ")[1].split()[0])
                if not word.exists():
                    word.touch()
                    os.kill(os.getpid(), signal.SIGKILL)
        return quick(task)

    return deadly
