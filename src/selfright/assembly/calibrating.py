"""Calibrating a grader on labelled pairs, and keeping the result in the index it was made for."""

import hashlib
import json
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from selfright.domain.errors import InputError
from selfright.domain.passages import Hit, Passage
from selfright.domain.text import language_of

if TYPE_CHECKING:
    from selfright.roles.calibration.refit import CalibrationReport, JudgedSet
    from selfright.roles.calibration.stored import GraderCalibration
    from selfright.roles.grade.offline import OfflineGrader

log = logging.getLogger(__name__)

MOST_ROWS = 200_000
MOST_PER_QUESTION = 50
_RRF = 60
_SHORTEST_NAME = 12


@dataclass(frozen=True, slots=True)
class Row:
    """A labelled pair: whether the passage helps to answer the question (1) or not (0)."""

    question: str
    passage: str
    label: int


Progress = Callable[[int, int, str], None]


def read_rows(path: Path) -> tuple[list[Row], str]:
    """The rows of a JSONL file, and the file's SHA-256. Raises ``InputError`` with the line of the first bad row."""
    content = path.read_bytes()
    try:
        lines = content.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} must be UTF-8, but byte {error.start} is not; save it as UTF-8") from None
    rows = [_row(line, f"{path}, line {number}") for number, line in enumerate(lines, start=1) if line.strip()]
    if len(rows) > MOST_ROWS:
        raise InputError(f"{path} has {len(rows):,} rows; at most {MOST_ROWS:,} are taken. Give a sample of them")
    return rows, hashlib.sha256(content).hexdigest()


def calibrate(
    rows: Sequence[Row], grader: "OfflineGrader", risk: float, sha256: str, name: str, progress: Progress | None = None
) -> "CalibrationReport":
    """Grades the rows question by question with the shipped calibration, and fits a new one.

    ``name`` is ``grader_name`` of it. Raises ``InputError`` for too few rows.
    """
    from selfright.roles.calibration.refit import check_enough, refit
    from selfright.roles.calibration.stored import Origin

    check_enough([row.label for row in rows])
    judged = list(_judged(rows, grader, progress or _silent))
    made = datetime.now(UTC).replace(microsecond=0).isoformat()
    return refit(judged, risk, Origin(made, len(rows), len(judged), sha256, name, risk))


def keep(calibration: "GraderCalibration", index: Path | str, home: Path) -> Path:
    """Writes the calibration into the index folder, or under ``home`` for one on a server; gives back the file."""
    from selfright.retrieval.files import write_atomically
    from selfright.roles.calibration.stored import FILE

    path = _folder(index, home) / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, json.dumps(calibration.stored(), indent=1).encode())
    return path


def kept(index: Path | str, home: Path, name: str) -> "GraderCalibration | None":
    """The calibration in the index folder; None when there is none, or it is of another grader.

    Raises ``SettingsError`` for a file that cannot be used.
    """
    from selfright.roles.calibration.stored import FILE, read_calibration

    path = _folder(index, home) / FILE
    try:
        stored = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValueError:
        stored = None
    found = read_calibration(stored, str(path))
    if found.origin.grader != name:
        log.warning("%s was made for another grader and is left out: run 'selfright calibrate' again", path)
        return None
    return found


def _folder(index: Path | str, home: Path) -> Path:
    from selfright.retrieval.locations import shown

    if isinstance(index, Path):
        return index
    return home / "calibrations" / hashlib.sha256(shown(index).encode()).hexdigest()[:_SHORTEST_NAME]


def grader_name(judges: Sequence[str]) -> str:
    """What a calibration holds for: the shipped weights, by checksum, and the encoders and readers they are used with.

    Scores of other weights lie on another scale, so a new version that brings some asks to calibrate again.
    """
    from importlib.resources import files

    weights = files("selfright.roles.grade").joinpath("weights.json").read_bytes()
    return "+".join((*judges, hashlib.sha256(weights).hexdigest()[:_SHORTEST_NAME]))


def _row(line: str, where: str) -> Row:
    try:
        row: Any = json.loads(line)
    except ValueError:
        raise InputError(f"{where}: JSON was expected, one object to a line") from None
    if not isinstance(row, dict):
        raise InputError(f'{where}: an object {{"question", "passage", "label"}} was expected')
    for name in ("question", "passage"):
        if not isinstance(row.get(name), str) or not row[name].strip():
            raise InputError(f"{where}: '{name}' must be a text that is not empty")
    label = row.get("label")
    if isinstance(label, str) or label not in (0, 1):
        raise InputError(f"{where}: 'label' must be 0 (does not help to answer) or 1 (helps)")
    return Row(row["question"].strip(), row["passage"], int(label))


def _judged(rows: Sequence[Row], grader: "OfflineGrader", progress: Progress) -> Iterator["JudgedSet"]:
    """Each question's passages graded together, in the order of the file: a set is what a search would bring."""
    from selfright.roles.calibration.refit import JudgedSet

    questions: dict[str, list[Row]] = {}
    for row in rows:
        questions.setdefault(row.question, []).append(row)
    for number, (question, group) in enumerate(questions.items(), start=1):
        for start in range(0, len(group), MOST_PER_QUESTION):
            part = group[start : start + MOST_PER_QUESTION]
            grading = grader.judge(question, [_hit(row.passage, rank) for rank, row in enumerate(part, start=1)])
            probabilities = tuple(grade.probability or 0.0 for grade in grading.grades)
            labels = tuple(row.label for row in part)
            yield JudgedSet(question, labels, probabilities, grading.sufficiency or 0.0)
        progress(number, len(questions), "")


def _hit(text: str, rank: int) -> Hit:
    name = f"row-{hashlib.sha256(text.encode()).hexdigest()[:_SHORTEST_NAME]}-{rank}"
    passage = Passage(name, name, "", text, 0, len(text), language=language_of(text))
    return Hit(passage, 1 / (_RRF + rank))


def _silent(done: int, total: int, name: str) -> None:
    del done, total, name
