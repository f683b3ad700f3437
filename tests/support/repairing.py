"""Repairs an index whose file was damaged, and looks whether anything was lost without a word."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from selfright.domain.errors import SelfrightError
from selfright.retrieval import mending
from tests.support.crashing import isolated
from tests.support.damaging import Damage, Refusal, Told, ask, differences
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
        said = [finding.problem for finding in mending.verify(folder, TOKENIZER, embedder, repair=True)]
        said += [path.read_text(encoding="utf-8") for path in folder.glob(f"damaged-*/{mending.AGAIN}")]
    except SelfrightError as error:
        return Repair(Refusal(type(error).__name__, str(error)), [], 0)
    return Repair(ask(folder), said, len(embedder.embedded))


def judge_repair(folder: Path, damage: Damage, expected: Told) -> str | None:
    """What is wrong with the repair of an index that was just damaged; None when all is well.

    A document may be missing or changed only where the catalogue itself was damaged, and then it must be named.
    """
    if not damage.do(folder):
        return None
    mended, died = isolated(repair, folder)
    if died is not None:
        return f"CRASH: {died}"
    if isinstance(mended.told, Refusal):
        return f"still refused: {mended.told.kind}: {mended.told.message}"
    return next(_bad_repair(mended, mended.told, expected, damage.file), None)


def _bad_repair(mended: Repair, told: Told, expected: Told, file: str) -> Iterator[str]:
    if mended.embedded and not file.startswith("vectors"):
        yield f"{mended.embedded} texts embedded anew"
    if told.noticed:
        yield f"not sound after the repair: {told.noticed}"
    different = differences(told, expected)
    if different and not file.startswith("catalogue"):
        yield f"other answers after the repair: {different[:3]}"
    elif different:
        yield from _unnamed(told, "; ".join(mended.said), expected)


def _unnamed(told: Told, said: str, expected: Told) -> Iterator[str]:
    """Documents that are not what they were and that the repair did not name."""
    if "has lost its last commits" in said or "0 documents were carried over" in said:
        return  # of what nothing is left nothing can be named
    for name, text in expected.library.items():
        if name.startswith("document ") and told.library.get(name, text) != text:
            yield f"{name} is another one after the repair"
        if name.startswith("document ") and name not in told.library and name.split()[1] not in said:
            yield f"{name} is gone and was not named: {said}"
