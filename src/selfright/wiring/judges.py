"""The judges of pairs that the user chose, and the index's own calibrations: stored in its folder, read by the judges
that they were made for."""

import hashlib
import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from selfright.domain.errors import JudgeFailed, SelfrightError, UsageError
from selfright.domain.judgements import PairReading
from selfright.domain.passages import Language
from selfright.domain.ports import PairJudge
from selfright.retrieval.files import write_atomically
from selfright.retrieval.locations import format_location
from selfright.roles.calibration.stored import (
    ClaimCalibration,
    GraderCalibration,
    read_calibration,
    read_claim_calibration,
)
from selfright.settings import Settings
from selfright.wiring.encoders import pair_views
from selfright.wiring.open_index import OpenIndex, Overrides
from selfright.wiring.roles import ChosenJudges, offline_roles

if TYPE_CHECKING:
    from selfright.roles.calibration.refit import CalibrationReport, ClaimReport
    from selfright.wiring.calibrating import Accept, Progress

_SHORTEST_NAME = 12
Fit = TypeVar("Fit", GraderCalibration, ClaimCalibration)

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class HandedJudge:
    """A judge of the user's, whose failures are told as such: nothing is known of what it may raise."""

    inner: PairJudge

    @property
    def name(self) -> str:
        """As ``PairJudge``."""
        return self.inner.name

    @property
    def languages(self) -> Sequence[Language]:
        """As ``PairJudge``."""
        return self.inner.languages

    def read(self, text: str, passages: Sequence[str]) -> Sequence[PairReading]:
        """As ``PairJudge``."""
        try:
            readings = list(self.inner.read(text, passages))
        except SelfrightError:
            raise
        except Exception as error:
            raise JudgeFailed(
                f"the judge {type(self.inner).__name__} should have read {len(passages)} passages, but failed with "
                f"{type(error).__name__}; check that it works on its own: judge.read('text', ['passage'])"
            ) from error
        if len(readings) != len(passages):
            raise JudgeFailed(
                f"the judge {type(self.inner).__name__} read {len(passages)} passages and gave {len(readings)} "
                "readings; it must give one for each, in their order"
            )
        return readings


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
        files = (self._folder / kind.file for kind in (GraderCalibration, ClaimCalibration))
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


class JudgeService:
    """Judges named by settings or handed over, each made once; nothing is loaded or fetched before it is needed."""

    def __init__(self, settings: Settings, overrides: Overrides, index: OpenIndex) -> None:
        self._settings = settings
        self._overrides = overrides
        self._index = index
        self.passages = _judge(overrides.passage_judge, settings.passage_judge, "passages")
        self.claims = _judge(overrides.claim_judge, settings.claim_judge, "claims")

    def judging(self) -> ChosenJudges:
        """All that judging rests on beside the shipped weights.

        Raises ``SettingsError`` for a damaged calibration, and for a judge's files that are not what they should be;
        ``ModelError`` when they cannot be had.
        """
        for judge in (self.passages, self.claims):
            if judge is not None:
                _ = judge.name  # which looks its files through: now, and not in the midst of a turn
        if self._files is None:
            return ChosenJudges(self.passages, self.claims)
        fits = self._files.grading(self._grader_name), self._files.claims(self._claims_name)
        return ChosenJudges(self.passages, self.claims, *fits)

    @property
    def state(self) -> tuple[object, ...]:
        """What changes when another calibration is to be used."""
        return self._files.state if self._files else ()

    @cached_property
    def _files(self) -> CalibrationFiles | None:
        """Where calibrations are kept; None for a retriever of the user's."""
        if self._index.is_foreign:
            return None
        return CalibrationFiles(self._settings.index, self._settings.home)

    def facts(self) -> dict[str, str]:
        """What judging rests on beside the shipped weights: judges by name, calibrations by date and rows' SHA-256."""
        found = self.judging()
        judges = {"passage_judge": found.passages, "claim_judge": found.claims}
        fits = {"calibration": found.calibration, "claim_calibration": found.claim_calibration}
        return {
            **{name: judge.name for name, judge in judges.items() if judge},
            **{name: f"{fit.origin.made} {fit.origin.sha256[:_SHORTEST_NAME]}" for name, fit in fits.items() if fit},
        }

    def calibrate(
        self, labelled: Path, risk: float, progress: "Progress | None", accept: "Accept"
    ) -> "tuple[CalibrationReport | ClaimReport, Path | None]":
        """Fits the offline judges to labelled pairs, of questions or of claims, and keeps what came of it in the index.

        What would make judging worse is kept only if ``accept`` says so; else the path is None. Raises ``ModelError``
        where a judge of the user's own cannot be used: without it, it would be another fit.
        """
        from selfright.roles.calibration.refit import harms
        from selfright.wiring.calibrating import calibrate_claims, calibrate_grading, read_labelled

        if self._files is None:
            raise UsageError("a calibration is kept in an index folder, but a retriever was given; open an index")
        read = read_labelled(labelled)
        judging = ChosenJudges(self.passages, self.claims)
        index = self._index
        roles = offline_roles(index.tokenizer, index.statistics(), index.embedder, judging)
        judge = judging.claims if read.kind == "claim" else judging.passages
        if judge is not None and read.rows:
            judge.read(read.rows[0].text, [read.rows[0].passage])
        report: CalibrationReport | ClaimReport
        if read.kind == "claim":
            report = calibrate_claims(read, roles.evaluator, self._claims_name, progress)
        else:
            report = calibrate_grading(read, roles.grader, risk, self._grader_name, progress)
        found = harms(report)
        if found and not (accept(found) if callable(accept) else accept):
            return report, None
        return report, self._files.store(report.calibration)

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

    @property
    def _claims_name(self) -> str:
        """The same for claims, which go by no encoder."""
        from selfright.roles.evaluate.scoring import WEIGHTS

        return "+".join(("words", *([self.claims.name] if self.claims else []), WEIGHTS))


def _judge(handed: PairJudge | None, named: str | None, job: Literal["passages", "claims"]) -> PairJudge | None:
    if handed is not None or named is None:
        return handed and HandedJudge(handed)
    from selfright.models.cross_encoder import CrossEncoderJudge

    return CrossEncoderJudge(named, job)
