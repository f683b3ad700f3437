"""The calibrations of an index: stored in its folder, read by the judges they were made for."""

import hashlib
import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from selfright.retrieval.files import write_atomically
from selfright.retrieval.locations import format_location
from selfright.roles.calibration.stored import (
    ClaimCalibration,
    GraderCalibration,
    read_calibration,
    read_claim_calibration,
)

_SHORTEST_NAME = 12
FILES = (GraderCalibration.file, ClaimCalibration.file)
Fit = TypeVar("Fit", GraderCalibration, ClaimCalibration)

log = logging.getLogger(__name__)


class CalibrationFiles:
    """Those of an index: in its folder, or under ``home`` for one on a server."""

    def __init__(self, index: Path | str, home: Path) -> None:
        if not isinstance(index, Path):
            name = hashlib.sha256(format_location(index).encode()).hexdigest()[:_SHORTEST_NAME]
            index = home / "calibrations" / name
        self._folder = index

    def store(self, calibration: GraderCalibration | ClaimCalibration) -> Path:
        """Writes the calibration; gives back the file."""
        path = self._folder / calibration.file
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, json.dumps(calibration.as_json(), indent=1).encode())
        return path

    @property
    def state(self) -> tuple[object, ...]:
        """What changes when a calibration is stored or removed, by whichever process."""
        files = (self._folder / name for name in FILES)
        found = (file.stat() if file.exists() else None for file in files)
        return tuple(one and (one.st_ino, one.st_mtime_ns, one.st_size) for one in found)

    def grading(self, grader: str) -> GraderCalibration | None:
        """The grader's calibration; None when there is none, or it is of another grader.

        Raises ``SettingsError`` for a file that cannot be used.
        """
        return self._fitting(GraderCalibration.file, read_calibration, grader)

    def claims(self, judge: str) -> ClaimCalibration | None:
        """The same for the evaluator's calibration of claims."""
        return self._fitting(ClaimCalibration.file, read_claim_calibration, judge)

    def _fitting(self, file: str, read: Callable[[Any, str], Fit], name: str) -> Fit | None:
        path, stored = self._folder / file, self._read(file)
        found = None if stored is None else read(stored, str(path))
        if found is None or found.origin.grader == name:
            return found
        log.warning("%s was made for other judges and is left out: run 'selfright calibrate' again", path)
        return None

    def _read(self, file: str) -> Any:
        """What stands in a file; None without a file, and nothing that can be read for what is no JSON."""
        try:
            return json.loads((self._folder / file).read_bytes()) or {}
        except FileNotFoundError:
            return None
        except ValueError:
            return {}
