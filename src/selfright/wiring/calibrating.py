"""Fits the grader to labelled pairs, which are read from a file."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from selfright.domain.errors import InputError
from selfright.domain.passages import Hit, Passage
from selfright.domain.text import language_of

if TYPE_CHECKING:
    from selfright.roles.calibration.refit import CalibrationReport, JudgedSet
    from selfright.roles.calibration.stored import CalibrationSource
    from selfright.roles.grade.offline import OfflineGrader
    from selfright.roles.scoring import Blend

MOST_ROWS = 200_000


@dataclass(frozen=True, slots=True)
class Row:
    """A labelled pair: whether the passage helps to answer the question (1), or not (0)."""

    question: str
    passage: str
    label: int


@dataclass(frozen=True, slots=True)
class Labelled:
    """The rows of a file, and its SHA-256."""

    rows: tuple[Row, ...]
    sha256: str


def read_labelled(path: Path) -> Labelled:
    """Reads a JSONL file. Raises ``InputError`` with the line of the first bad row."""
    content = path.read_bytes()
    try:
        lines = content.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} must be UTF-8, but byte {error.start} is not; save it as UTF-8") from None
    found = [_labelled(line, f"{path}, line {number}") for number, line in enumerate(lines, start=1) if line.strip()]
    if len(found) > MOST_ROWS:
        raise InputError(f"{path} has {len(found):,} rows; at most {MOST_ROWS:,} are taken. Give a sample of them")
    return Labelled(tuple(found), hashlib.sha256(content).hexdigest())


def _labelled(line: str, where: str) -> Row:
    try:
        row: Any = json.loads(line)
        json.dumps(row, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise InputError(f"{where}: half of a surrogate pair (\\ud800 to \\udfff) stands in it; take it out") from None
    except (ValueError, RecursionError):
        raise InputError(f"{where}: JSON was expected, one object to a line") from None
    if not isinstance(row, dict):
        raise InputError(f'{where}: an object {{"question", "passage", "label"}} was expected')
    for name in ("question", "passage"):
        if not isinstance(row.get(name), str) or not row[name].strip():
            raise InputError(f"{where}: '{name}' must be a text that is not empty")
    label = row.get("label")
    if isinstance(label, str) or label not in (0, 1):
        raise InputError(f"{where}: 'label' must be 1 (helps to answer) or 0 (does not)")
    return Row(row["question"].strip(), row["passage"], int(label))


MOST_PER_QUESTION = 50
_RRF = 60
_SHORTEST_NAME = 12

Progress = Callable[[int, int, str], None]
Accept = bool | Callable[[Sequence[str]], bool]
"""Whether a calibration that makes judging worse is stored all the same; asked with what gets worse."""
_Questions = Mapping[str, Sequence[Row]]


def calibrate_grading(
    labelled: Labelled, grader: "OfflineGrader", risk: float, name: str, progress: Progress | None = None
) -> "CalibrationReport":
    """Grades the rows question by question with the shipped calibration, and fits a new one.

    A judge of the user's own is first weighed against the signals on about half of the questions, where both halves
    have rows enough; all else is then fitted to the other half. ``name`` is what a calibration holds for. Raises
    ``InputError`` for too few rows.
    """
    from selfright.roles.calibration.refit import check_enough, refit

    check_enough([row.label for row in labelled.rows])
    questions: dict[str, list[Row]] = {}
    for row in labelled.rows:
        questions.setdefault(row.question, []).append(row)
    graded = count(1)

    def one_more() -> None:
        if progress:
            progress(min(next(graded), len(questions)), len(questions), "")

    first, rest = _halves(questions) if grader.has_judge else ({}, questions)
    weights = _weights(judge_sets(first, grader, one_more)) if first else None
    if weights is None:
        rest = questions
    else:
        grader = grader.weighing(weights)
    judged = list(judge_sets(rest, grader, one_more))
    origin = _origin(labelled, len(questions), name, risk)
    return refit(judged, risk, origin, grader.thresholds, weights, len(first) if weights else 0)


def judge_sets(
    questions: Mapping[str, Sequence[Row]], grader: "OfflineGrader", one_more: Callable[[], None] | None = None
) -> "Iterator[JudgedSet]":
    """Each question's passages graded together, ordered by hash: files tend to have first what answers.
    ``one_more`` is called after each question.
    """
    from selfright.roles.calibration.refit import JudgedSet

    for question, group in questions.items():
        for start in range(0, len(group), MOST_PER_QUESTION):
            some = group[start : start + MOST_PER_QUESTION]
            part = sorted(some, key=lambda row: hashlib.sha256(row.passage.encode()).digest())
            hits = [_hit(row.passage, rank) for rank, row in enumerate(part, start=1)]
            reading = grader.read(question, hits)
            grading = grader.decide(reading)
            found = {grade.passage_id: grade.probability or 0.0 for grade in grading.grades}
            said = {hit.passage.id: one for hit, one in zip(reading.hits, reading.opinions, strict=False)}
            yield JudgedSet(
                question,
                tuple(row.label for row in part),
                tuple(found[hit.passage.id] for hit in hits),
                grading.sufficiency or 0.0,
                tuple(said.get(hit.passage.id) for hit in hits),
            )
        if one_more:
            one_more()


def _origin(labelled: Labelled, texts: int, name: str, risk: float) -> "CalibrationSource":
    from selfright.roles.calibration.stored import CalibrationSource

    made = datetime.now(UTC).replace(microsecond=0).isoformat()
    return CalibrationSource(made, len(labelled.rows), texts, labelled.sha256, name, risk)


def _halves(questions: _Questions) -> tuple[_Questions, _Questions]:
    """Those that tell weights, and the others; none and all where one of the halves has too few rows."""
    from selfright.roles.calibration.refit import enough, is_for_weights

    first, rest = ({q: rows for q, rows in questions.items() if is_for_weights(q) is side} for side in (True, False))
    if all(enough([row.label for rows in half.values() for row in rows]) for half in (first, rest)):
        return first, rest
    return {}, questions


def _weights(judged: "Iterator[JudgedSet]") -> "Blend | None":
    """What the judge counts beside the signals; None when it has read too few of the rows."""
    from selfright.roles.calibration.fitting import fit_blend
    from selfright.roles.calibration.refit import enough
    from selfright.roles.calibration.stored import UNCALIBRATED

    pairs = [(said, y) for one in judged for said, y in zip(one.opinions, one.labels, strict=True) if said]
    labels = [y for _, y in pairs]
    return fit_blend([said for said, _ in pairs], labels, UNCALIBRATED) if enough(labels) else None


def _hit(text: str, rank: int) -> Hit:
    name = f"row-{hashlib.sha256(text.encode()).hexdigest()[:_SHORTEST_NAME]}-{rank}"
    passage = Passage(name, name, "", text, 0, len(text), language=language_of(text))
    return Hit(passage, 1 / (_RRF + rank))
