"""A user's own cross-encoder or NLI model, from a folder or a hub name, behind the port ``PairJudge``."""

import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from selfright.domain.errors import JudgeFailed, ModelError, ModelFilesDamaged, SelfrightError, SettingsError
from selfright.domain.judgements import PairReading
from selfright.domain.passages import Language
from selfright.models import pair_files, pair_runtimes
from selfright.models.pair_files import (
    Layout,
    check_classifies,
    choose,
    fingerprint,
    listed,
    read_config,
    read_languages,
)
from selfright.models.pair_readings import Job, Labels, read_labels
from selfright.models.pair_runtimes import OnnxPairs
from selfright.models.reader import KeptPairs

T = TypeVar("T")

_SETTINGS: Mapping[Job, str] = {"passages": "passage_judge", "claims": "claim_judge"}
_PATH = re.compile(r"[./~\\]|[A-Za-z]:|.*\\")
_HUB_NAME = re.compile(r"([\w][\w.-]{0,95}/[\w][\w.-]{0,95})(?:@([\w][\w./-]{0,199}))?", re.ASCII)
_LONGEST_NAME = 60
_AGAIN = 60.0  # seconds until what can be retried is tried again: waiting for a hub at each question would be worse


class _Backend(Protocol):
    def rows(self, text: str, passages: Sequence[str]) -> list[list[float]]: ...


@dataclass(frozen=True, slots=True)
class _Found:
    """A model's folder, looked through."""

    folder: Path
    layout: Layout
    config: Mapping[str, Any]
    labels: Labels
    languages: tuple[Language, ...]


@dataclass(frozen=True, slots=True)
class _HubName:
    repo: str
    revision: str


def pair_judge(named: str, job: Job) -> "PairModel":
    """The model called ``named``; for ``job`` it is shown questions with passages, or claims with passages.

    Raises what ``check_named`` does; nothing is loaded or downloaded yet.
    """
    check_named(named, job)
    return PairModel(named, job)


def check_named(named: str, job: Job) -> None:
    """Says what can be said without loading anything and without the network.

    Raises ``SettingsError`` for a folder that is not there, lacks files, or holds a model that does not fit the job,
    and for what is neither a folder nor a hub name; ``MissingExtra`` for a model that needs what is not installed.
    """
    place = _place(named, job)
    if isinstance(place, Path):
        _look_through(place, job)
    else:
        pair_files.check_hub_installed()


class PairModel:
    """A cross-encoder or an NLI model. Implements the port ``PairJudge``.

    The files are found when name, languages or a reading are first asked for, which may download them; the network is
    loaded at the first reading. What goes wrong with either is found once and then said again, for a minute where
    it can be retried. Safe to share between threads.
    """

    def __init__(self, named: str, job: Job) -> None:
        self._place = _place(named, job)
        self._job: Job = job
        self._lock = threading.RLock()
        self._known: tuple[_Found, str] | None = None
        self._backend: _Backend | None = None
        self._failure: SelfrightError | None = None
        self._failed_at = 0.0
        self._kept = KeptPairs()

    @property
    def name(self) -> str:
        """The folder's or repository's last name and twelve digits of what its files hold.

        Another job, other weights, another tokenizer or config give another name: what was fitted on one does not fit
        the other. Raises ``SettingsError``, ``MissingExtra`` and ``ModelError`` like ``languages`` and ``read``.
        """
        return self._looked_through()[1]

    @property
    def languages(self) -> tuple[Language, ...]:
        """English and Korean as far as the model's README.md declares them; both where it declares nothing."""
        return self._looked_through()[0].languages

    def read(self, text: str, passages: Sequence[str]) -> list[PairReading]:
        """Log-odds that each passage answers the question or bears the claim out; the last 256 pairs are kept.

        Of the text at most 128 word pieces count, of the passage what the model's window leaves (of 512 or less).
        """
        if not passages:
            return []
        backend, labels = self._loaded(), self._looked_through()[0].labels
        return self._kept.read(
            text, passages, lambda new: [labels.reading(row) for row in self._run(backend, text, new)]
        )

    def _run(self, backend: _Backend, text: str, passages: Sequence[str]) -> list[list[float]]:
        try:
            return backend.rows(text, passages)
        except ModelError:
            raise
        except Exception as error:  # of runtimes that have their own kinds for everything
            raise JudgeFailed(
                f"{self.name} should have judged {len(passages)} passages, but failed with {type(error).__name__}; "
                "try again, free memory, or choose a smaller model"
            ) from error

    def _looked_through(self) -> tuple[_Found, str]:
        with self._lock:
            if self._known is None:
                self._known = self._tried(self._look)
            return self._known

    def _look(self) -> tuple[_Found, str]:
        place = self._place
        folder = place if isinstance(place, Path) else pair_files.hub_folder(place.repo, place.revision)
        last = folder.resolve().name if isinstance(place, Path) else place.repo.rpartition("/")[2]
        found = _look_through(folder, self._job)
        try:
            return found, f"{last[:_LONGEST_NAME]}-{fingerprint(folder, found.layout, self._job)}"
        except OSError as error:
            raise ModelFilesDamaged(f"cannot read the model in {folder} ({error.strerror}); check its files") from error

    def _loaded(self) -> _Backend:
        found, _ = self._looked_through()
        with self._lock:
            if self._backend is None:
                self._backend = self._tried(lambda: self._load(found))
            return self._backend

    def _load(self, found: _Found) -> _Backend:
        try:
            if found.layout.backend == "onnx":
                return OnnxPairs(found.folder, found.layout, found.config, found.labels, self._job)
            return pair_runtimes.TorchPairs(found.folder, found.config, found.labels, self._job)
        except SelfrightError:
            raise
        except Exception as error:
            raise ModelFilesDamaged(
                f"the model in {found.folder} should run on a pair of words, but failed with {type(error).__name__}; "
                "free memory, or export or download it again"
            ) from error

    def _tried(self, work: Callable[[], T]) -> T:
        """What the work brings; a failure that is known is said again without another try."""
        known = self._failure
        if known is not None and (not known.retryable or time.monotonic() - self._failed_at < _AGAIN):
            raise known.with_traceback(None)
        try:
            return work()
        except SelfrightError as error:
            again = type(error).__new__(type(error), *error.args)  # without frames, which would keep half a model alive
            again.__dict__.update(error.__dict__)
            self._failure, self._failed_at = again, time.monotonic()
            raise


def _place(named: str, job: Job) -> Path | _HubName:
    """Where a model is: a folder that is there or looks like a path, else a hub name."""
    try:
        folder = Path(named or "?").expanduser()
        if folder.is_dir():
            return folder
        came = "is a file" if folder.is_file() else "is not there"
    except (OSError, RuntimeError) as error:  # too long, closed to us, or the home of a user who is unknown
        came = f"cannot be looked into ({type(error).__name__})"
    if _PATH.match(named):
        raise SettingsError(
            f"{_SETTINGS[job]} should be a model's folder, but {named} {came}; give the folder with its config.json"
        )
    found = _HUB_NAME.fullmatch(named)
    if found is None or ".." in named or "--" in named:
        raise SettingsError(
            f"{_SETTINGS[job]} should be a model's folder, or its hub name as owner/name or owner/name@revision, "
            f"but is '{named[:200]}'; correct it"
        )
    return _HubName(found[1], found[2] or "main")


def _look_through(folder: Path, job: Job) -> _Found:
    """What the folder holds, checked as far as that goes without loading it."""
    layout = choose(listed(folder), str(folder))
    config = read_config(folder)
    labels = read_labels(config, job, str(folder))
    if layout.backend == "sentence-transformers":
        check_classifies(config, str(folder))
        pair_runtimes.check_torch_installed()
    return _Found(folder, layout, config, labels, read_languages(folder))
