"""Labelled pairs from a file, to calibrate judges on."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from selfright.domain.errors import InputError

MOST_ROWS = 200_000

Kind = Literal["question", "claim"]


@dataclass(frozen=True, slots=True)
class Row:
    """A labelled pair: whether the passage helps to answer the question, or bears the claim out (1), or not (0)."""

    text: str
    passage: str
    label: int


@dataclass(frozen=True, slots=True)
class Labelled:
    """The rows of a file, all with questions or all with claims, and the file's SHA-256."""

    kind: Kind
    rows: tuple[Row, ...]
    sha256: str


def read_labelled(path: Path) -> Labelled:
    """Reads a JSONL file. Raises ``InputError`` with the line of the first bad row."""
    content = path.read_bytes()
    try:
        lines = content.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} must be UTF-8, but byte {error.start} is not; save it as UTF-8") from None
    found = [_row(line, f"{path}, line {number}") for number, line in enumerate(lines, start=1) if line.strip()]
    if len(found) > MOST_ROWS:
        raise InputError(f"{path} has {len(found):,} rows; at most {MOST_ROWS:,} are taken. Give a sample of them")
    kinds = {kind for kind, _ in found}
    if len(kinds) > 1:
        raise InputError(f"{path} has rows with questions and rows with claims; put them in two files, for two runs")
    kind = kinds.pop() if kinds else "question"
    return Labelled(kind, tuple(row for _, row in found), hashlib.sha256(content).hexdigest())


def _row(line: str, where: str) -> tuple[Kind, Row]:
    try:
        row: Any = json.loads(line)
        json.dumps(row, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise InputError(f"{where}: half of a surrogate pair (\\ud800 to \\udfff) stands in it; take it out") from None
    except (ValueError, RecursionError):
        raise InputError(f"{where}: JSON was expected, one object to a line") from None
    if not isinstance(row, dict):
        raise InputError(f'{where}: an object {{"question", "passage", "label"}} was expected')
    kind: Kind = "claim" if "claim" in row and "question" not in row else "question"
    for name in (kind, "passage"):
        if not isinstance(row.get(name), str) or not row[name].strip():
            raise InputError(f"{where}: '{name}' must be a text that is not empty")
    label = row.get("label")
    if isinstance(label, str) or label not in (0, 1):
        meaning = "bears the claim out" if kind == "claim" else "helps to answer"
        raise InputError(f"{where}: 'label' must be 1 ({meaning}) or 0 (does not)")
    return kind, Row(row[kind].strip(), row["passage"], int(label))
