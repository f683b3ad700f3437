"""Repairs an index whose file was damaged, and looks whether anything was lost without a word."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from selfright.domain.errors import SelfrightError
from selfright.retrieval.stores.embedded import EmbeddedStore
from tests.support.crashing import isolated
from tests.support.damaging import Damage, Refusal, Told, ask, differences, names
from tests.support.embedders import WordHashes
from tests.support.histories import TOKENIZER


@dataclass(frozen=True)
class Repair:
    """What a repair made of an index: its answers (None when it refused), what it said, and how much it embedded."""

    told: Told | Refusal
    said: list[str]
    embedded: int


def repair(folder: Path) -> Repair:
    """Verifies and repairs as the command line does, then asks."""
    embedder = WordHashes()
    try:
        said = [finding.problem for finding in EmbeddedStore.check(folder, TOKENIZER, embedder, repair=True)]
    except SelfrightError as error:
        return Repair(Refusal(type(error).__name__, str(error)), [], 0)
    return Repair(ask(folder), said, len(embedder.embedded))


def judge_repair(folder: Path, damage: Damage, expected: Told) -> str | None:
    """What is wrong with the repair of an index that was just damaged; None when all is well.

    Only where the catalogue itself was damaged may it go on refusing, by name, or lack the last commits, if it said so.
    """
    if not damage.do(folder):
        return None
    mended, died = isolated(repair, folder)
    if died is not None:
        return f"CRASH: {died}"
    if isinstance(mended.told, Refusal):
        named = damage.file.startswith("catalogue") and names(mended.told.message, damage.file)
        return None if named and mended.said else f"still refused: {mended.told.kind}: {mended.told.message}"
    return next(_bad_repair(mended, mended.told, expected, damage.file), None)


def _bad_repair(mended: Repair, told: Told, expected: Told, file: str) -> Iterator[str]:
    if mended.embedded and not file.startswith("vectors"):
        yield f"{mended.embedded} texts embedded anew"
    lost = file.startswith("catalogue") and "has lost its last commits" in "; ".join(mended.said)
    if told.noticed and not file.startswith("catalogue"):
        yield f"not sound after the repair: {told.noticed}"
    different = differences(told, expected)
    if different and not lost:
        yield f"other answers after the repair: {different[:3]}"
