"""The judges of pairs that the user chose, and the index's own calibration: stored in its folder, read by the grader
that it was made for."""

import hashlib
import json
import logging
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from selfright.domain.errors import UsageError
from selfright.retrieval.locations import format_location
from selfright.roles.calibration.stored import GraderCalibration, read_calibration
from selfright.settings import Settings
from selfright.storage.files import write_atomically
from selfright.wiring.networks import pair_views
from selfright.wiring.open_index import OpenIndex
from selfright.wiring.roles import ChosenJudges, offline_roles

if TYPE_CHECKING:
    from selfright.models.cross_encoder import CrossEncoderJudge, Job
    from selfright.roles.calibration.refit import CalibrationReport
    from selfright.wiring.calibrating import Accept, Progress

_SHORTEST_NAME = 12

log = logging.getLogger(__name__)


class CalibrationFile:
    """That of an index: in its folder, or under ``home`` for one on a server."""

    def __init__(self, index: Path | str, home: Path) -> None:
        if not isinstance(index, Path):
            name = hashlib.sha256(format_location(index).encode()).hexdigest()[:_SHORTEST_NAME]
            index = home / "calibrations" / name
        self._path = index / "calibration.json"

    def store(self, calibration: GraderCalibration) -> Path:
        """Writes the calibration; gives back the file."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(self._path, json.dumps(calibration.as_json(), indent=1).encode())
        return self._path

    @property
    def state(self) -> tuple[object, ...]:
        """What changes when a calibration is stored or removed, by whichever process."""
        if not self._path.exists():
            return ()
        found = self._path.stat()
        return found.st_ino, found.st_mtime_ns, found.st_size

    def of(self, grader: str) -> GraderCalibration | None:
        """The grader's calibration; None when there is none, or it is of another grader.

        Raises ``SettingsError`` for a file that cannot be used.
        """
        try:
            stored: Any = json.loads(self._path.read_bytes()) or {}
        except FileNotFoundError:
            return None
        except ValueError:
            stored = {}
        found = read_calibration(stored, str(self._path))
        if found.origin.grader == grader:
            return found
        log.warning("%s was made for other judges and is left out: run 'selfright calibrate' again", self._path)
        return None


class JudgeService:
    """The judges that settings name, each made once; a network is loaded at its first reading."""

    def __init__(self, settings: Settings, index: OpenIndex) -> None:
        self._settings = settings
        self._index = index
        self.passages = _judge(settings.passage_judge, "passages")
        self.claims = _judge(settings.claim_judge, "claims")

    def judging(self) -> ChosenJudges:
        """All that judging rests on beside the shipped weights. Raises ``SettingsError`` for a damaged calibration."""
        fit = self._file.of(self._grader_name) if self._file else None
        return ChosenJudges(self.passages, self.claims, fit)

    @property
    def state(self) -> tuple[object, ...]:
        """What changes when another calibration is to be used."""
        return self._file.state if self._file else ()

    @cached_property
    def _file(self) -> CalibrationFile | None:
        """Where the calibration is kept; None for a retriever of the user's."""
        if self._index.is_foreign:
            return None
        return CalibrationFile(self._settings.index, self._settings.home)

    def facts(self) -> dict[str, str]:
        """What judging rests on beside the shipped weights: judges by name, a calibration by date and rows' SHA-256."""
        found = self.judging()
        judges = {"passage_judge": found.passages, "claim_judge": found.claims}
        facts = {name: judge.name for name, judge in judges.items() if judge}
        if found.calibration:
            origin = found.calibration.origin
            facts["calibration"] = f"{origin.made} {origin.sha256[:_SHORTEST_NAME]}"
        return facts

    def calibrate(
        self, labelled: Path, risk: float, progress: "Progress | None", accept: "Accept"
    ) -> "tuple[CalibrationReport, Path | None]":
        """Fits the grader to labelled pairs, and keeps what came of it in the index.

        What would make judging worse is kept only if ``accept`` says so; else the path is None. Raises ``ModelError``
        where a judge of the user's own cannot be used: without it, it would be another fit.
        """
        from selfright.roles.calibration.refit import harms
        from selfright.wiring.calibrating import calibrate_grading, read_labelled

        if self._file is None:
            raise UsageError("a calibration is kept in an index folder, but a retriever was given; open an index")
        read, index = read_labelled(labelled), self._index
        roles = offline_roles(index.tokenizer, index.statistics(), index.embedder, ChosenJudges(self.passages))
        if self.passages is not None and read.rows:
            self.passages.read(read.rows[0].question, [read.rows[0].passage])
        report = calibrate_grading(read, roles.grader, risk, self._grader_name, progress)
        found = harms(report)
        if found and not (accept(found) if callable(accept) else accept):
            return report, None
        return report, self._file.store(report.calibration)

    @property
    def _grader_name(self) -> str:
        """What a calibration of grading holds for: weights, by checksum, and the networks they are used with.

        Scores of other weights lie on another scale, so a new version that brings some asks to calibrate again.
        """
        from importlib.resources import files

        weights = files("selfright.roles.grade").joinpath("weights.json").read_bytes()
        embedder = self._index.embedder
        views = pair_views(embedder)
        reader = self.passages or (views.questions if views else None)
        names = [embedder.name if embedder else "words", *([reader.name] if reader else [])]
        return "+".join((*names, hashlib.sha256(weights).hexdigest()[:_SHORTEST_NAME]))


def _judge(folder: str | None, job: "Job") -> "CrossEncoderJudge | None":
    if folder is None:
        return None
    from selfright.models.cross_encoder import CrossEncoderJudge

    return CrossEncoderJudge(folder, job)
