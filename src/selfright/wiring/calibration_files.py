"""The calibrations of an index: stored in its folder, read by the judges, dropped when they fit no more."""

import hashlib
import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from selfright.roles.calibration.stored import ClaimCalibration, GraderCalibration

_SHORTEST_NAME = 12
Fit = TypeVar("Fit", "GraderCalibration", "ClaimCalibration")

log = logging.getLogger(__name__)


def store_calibration(calibration: "GraderCalibration | ClaimCalibration", index: Path | str, home: Path) -> Path:
    """Writes the calibration into the index folder, or under ``home`` for one on a server; gives back the file."""
    from selfright.retrieval.files import write_atomically

    path = _folder(index, home) / calibration.file
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, json.dumps(calibration.as_json(), indent=1).encode())
    return path


def state_of(index: Path | str, home: Path) -> tuple[object, ...]:
    """What changes when a calibration of the index is stored or removed, by whichever process."""
    from selfright.roles.calibration.stored import ClaimCalibration, GraderCalibration

    files = (_folder(index, home) / name for name in (GraderCalibration.file, ClaimCalibration.file))
    found = (file.stat() if file.exists() else None for file in files)
    return tuple(one and (one.st_ino, one.st_mtime_ns, one.st_size) for one in found)


def grading_calibration(index: Path | str, home: Path, name: str) -> "GraderCalibration | None":
    """The grader's calibration in the index folder; None when there is none, or it is of another grader.

    Raises ``SettingsError`` for a file that cannot be used.
    """
    from selfright.roles.calibration.stored import GraderCalibration, read_calibration

    return _fitting(_folder(index, home) / GraderCalibration.file, read_calibration, name)


def claim_calibration(index: Path | str, home: Path, name: str) -> "ClaimCalibration | None":
    """The same for the evaluator's calibration of claims."""
    from selfright.roles.calibration.stored import ClaimCalibration, read_claim_calibration

    return _fitting(_folder(index, home) / ClaimCalibration.file, read_claim_calibration, name)


def _fitting(path: Path, read: Callable[[Any, str], Fit], name: str) -> Fit | None:
    stored = _read_file(path)
    found = None if stored is None else read(stored, str(path))
    if found is None or found.origin.grader == name:
        return found
    log.warning("%s was made for other judges and is left out: run 'selfright calibrate' again", path)
    return None


def drop_unfitting(
    index: Path | str, home: Path, grader: Callable[[], str], claims: Callable[[], str]
) -> tuple[str, ...]:
    """Removes the calibrations that were made for others than these judges; gives back the names of their files.

    One that cannot be read stays, so that the next question reports it.
    """
    from selfright.roles.calibration.stored import ClaimCalibration, GraderCalibration

    dropped = []
    for file, name in ((GraderCalibration.file, grader), (ClaimCalibration.file, claims)):
        path = _folder(index, home) / file
        stored = _read_file(path)
        origin = stored.get("origin") if isinstance(stored, dict) else None
        if isinstance(origin, dict) and origin.get("grader") != name():
            path.unlink()
            dropped.append(file)
    return tuple(dropped)


def _read_file(path: Path) -> Any:
    """What stands in a file; None without a file, and nothing that can be read for what is no JSON."""
    try:
        return json.loads(path.read_bytes()) or {}
    except FileNotFoundError:
        return None
    except ValueError:
        return {}


def _folder(index: Path | str, home: Path) -> Path:
    from selfright.retrieval.locations import format_location

    if isinstance(index, Path):
        return index
    return home / "calibrations" / hashlib.sha256(format_location(index).encode()).hexdigest()[:_SHORTEST_NAME]
