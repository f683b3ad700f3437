"""What nodes of a test's cluster run to answer questions: as the product does, but one gets stuck half-way."""

import importlib
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from selfright.evals import nodes

_LONG_S = 120.0
"""Longer than a node takes to start, or to be removed."""


class Signs:
    """Words left in a folder, by which the test and the nodes know of one another."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def leave(self, word: str) -> None:
        """Leaves a word."""
        (self._folder / word).touch()

    def left(self, word: str) -> bool:
        """Whether it was left."""
        return (self._folder / word).exists()

    def wait(self, word: str) -> None:
        """Until it is left."""
        until = time.monotonic() + _LONG_S
        while not self.left(word):
            assert time.monotonic() < until, f"nobody said '{word}'"
            time.sleep(0.01)


def start(setup: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], Any]:
    """The product's own for the baseline. What is asked of others waits for word ``half``.

    Then the node that word ``second-ID`` names gets stuck, and the others go on when it is.
    """
    signs = Signs(Path(setup["values"]["index"]).parent)
    ray: Any = importlib.import_module("ray")
    second = signs.left(f"second-{ray.get_runtime_context().get_node_id()}")
    work = nodes.start(setup)

    def sticking(task: Mapping[str, Any]) -> Any:
        if task["system"]["name"] != "baseline":
            signs.wait("half")
            if second:
                signs.leave("stuck")
                time.sleep(_LONG_S)
            signs.wait("stuck")
        return work(task)

    return sticking
