"""Rows as the pieces that the network reads, in batches of about one length."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from selfright.models.files import BEGIN, END, piece_numbers
from selfright.models.reader import MOST_ASKED_PIECES, MOST_PASSAGE_PIECES, matching
from training.reading_rows import Row

PASSAGE_PIECES, ASKED_PIECES = MOST_PASSAGE_PIECES, MOST_ASKED_PIECES
UNKNOWN = -100


@dataclass(frozen=True, slots=True)
class Example:
    """Pieces of a pair; ``asked`` is how many belong to the question or claim; ``ends`` are pieces or ``UNKNOWN``."""

    ids: tuple[int, ...]
    asked: int
    is_claim: bool
    label: int
    about: int
    ends: tuple[int, int] = (UNKNOWN, UNKNOWN)


def example(row: Row) -> Example:
    """A row in pieces: beginning, text, end, end, heading and passage, end."""
    asked = [BEGIN, *encoded(row.asked)[: ASKED_PIECES - 2], END]
    before = f"{row.heading}\n" if row.heading else ""
    text = before + row.text
    ends = (UNKNOWN, UNKNOWN)
    if row.start >= 0 and not row.is_claim:
        # Normalized in three parts, so that the answer's place in pieces is known to about one piece.
        first, inside = text[: len(before) + row.start], text[len(before) + row.start : len(before) + row.end]
        low = len(encoded(first.rstrip())) if first.strip() else 0
        high = len(encoded(first + inside)) - 1
        if low <= high < PASSAGE_PIECES - 2:
            ends = (low + len(asked) + 1, high + len(asked) + 1)
    shown = [END, *encoded(text)[: PASSAGE_PIECES - 2], END]
    return Example((*asked, *shown), len(asked), row.is_claim, row.label, row.about, ends)


def encoded(text: str) -> list[int]:
    """The numbers of a text's pieces."""
    return piece_numbers([text])[0]


@dataclass(frozen=True, slots=True)
class Batch:
    """Arrays (rows, tokens) of one batch: piece numbers, whether there is one, whose it is, and what both have."""

    ids: NDArray[np.int64]
    mask: NDArray[np.bool_]
    kinds: NDArray[np.int64]
    matches: NDArray[np.int64]


def batch_of(examples: Sequence[Example], pad: int) -> Batch:
    """Filled up to the longest."""
    shape = (len(examples), max(len(one.ids) for one in examples))
    ids, mask = np.full(shape, pad, np.int64), np.zeros(shape, bool)
    kinds, matches = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    for row, one in enumerate(examples):
        length = len(one.ids)
        ids[row, :length], mask[row, :length], kinds[row, one.asked : length] = one.ids, True, 1
        matches[row, :length] = matching(one.ids, one.asked)
    return Batch(ids, mask, kinds, matches)


def batches(examples: list[Example], tokens: int, chooser: random.Random) -> Iterator[list[Example]]:
    """All examples once, shuffled, those of about one length together; at most ``tokens`` pieces, padding included."""
    order = list(examples)
    chooser.shuffle(order)
    for start in range(0, len(order), 512):
        block = sorted(order[start : start + 512], key=lambda one: len(one.ids))
        parts: list[list[Example]] = [[]]
        for one in block:
            if len(one.ids) * (len(parts[-1]) + 1) > tokens:
                parts.append([])
            parts[-1].append(one)
        chooser.shuffle(parts)
        yield from parts
