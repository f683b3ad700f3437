"""What a system must do to be measured."""

from collections.abc import Awaitable, Mapping
from pathlib import Path
from typing import Protocol

from benchmarks.peers.collection import Floats, Passages

Found = list[tuple[str, str]]
"""Passage ids with their texts, best first."""


class Driver(Protocol):
    """One system. Made with the vectors of all queries that will come, by text, and how deep to ask each half.

    ``depth`` is what it took of that: how many candidates each half gives to the fusion.
    """

    depth: int

    def build(self, folder: Path, passages: Passages) -> None:
        """From passages and vectors in memory to searchable; a system that lives on disk does so in ``folder``."""
        ...

    def save(self, folder: Path) -> bool:
        """Writes what is not on disk yet; False when the system has no way to."""
        ...

    def open(self, folder: Path) -> None:
        """Takes up what was built and saved in ``folder`` by another process."""
        ...

    def search(self, text: str, vector: Floats, k: int) -> Found | Awaitable[Found]:
        """The best ``k`` by both halves."""
        ...

    def dense(self, text: str, vector: Floats, k: int) -> list[str] | Awaitable[list[str]]:
        """The ids of the ``k`` nearest that its dense half finds."""
        ...

    def add(self, passages: Passages) -> None:
        """Adds passages; they can be found when it returns."""
        ...


QueryVectors = Mapping[str, Floats]
