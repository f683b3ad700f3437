"""A user's own cross-encoder or NLI model, which sentence-transformers runs (extra ``judges``).

Which hub is asked and where its cache is are the settings of huggingface_hub itself (``HF_ENDPOINT``, ``HF_HOME``, …).
"""

import hashlib
import importlib
import json
import math
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np

from selfright.domain import errors
from selfright.domain.judgements import PairReading
from selfright.domain.passages import Language
from selfright.models.files import sendable
from selfright.models.reader import KeptPairs

Job = Literal["passages", "claims"]
T = TypeVar("T")

_HUB_NAME = re.compile(r"(?!.*(?:\.\.|--))(\w[\w.-]{0,95}/\w[\w.-]{0,95})(?:@(\w[\w./-]{0,199}))?", re.ASCII)
_USED = ["*.json", "*.safetensors", "*.txt", "*.model", "README.md"]
_LONGEST = 512  # word pieces of a pair
_AGAIN = 60.0  # seconds until what can be retried is tried again: waiting for a hub at each question would be worse
_SAMPLES, _SAMPLE = 64, 256 * 2**10
_ENTAILS, _DENIES = re.compile(r"e$|entail|support"), re.compile(r"c$|contradict|refute")
_YES = re.compile(r"yes|true|relevant|positive|consistent|faithful|factual|grounded|entail|support")
_NO = re.compile(r"no|false|irrelevant|negative|inconsistent|unsupported|hallucinat|contradict|refute")


@dataclass(frozen=True, slots=True)
class Labels:
    """Which of ``count`` outputs bears the text out or answers it, and which says the opposite (None: none does)."""

    count: int
    positive: int = 0
    denies: int | None = None

    def reading(self, row: Sequence[float]) -> PairReading:
        """Of one output the raw logit; of several the log-odds of the positive one. Not a number where one is none."""
        if self.count == 1:
            return PairReading(float(row[0]))
        logits = np.asarray(row, dtype=np.float64)
        if not np.isfinite(logits).all():
            return PairReading(math.nan)
        odds = logits[self.positive] - np.logaddexp.reduce(np.delete(logits, self.positive))
        denies = 0.0 if self.denies is None else np.exp(logits[self.denies] - np.logaddexp.reduce(logits))
        return PairReading(float(odds), (), float(denies))


@dataclass(frozen=True, slots=True)
class _Found:
    folder: Path
    name: str
    labels: Labels
    languages: tuple[Language, ...]


class CrossEncoderJudge:
    """A model from a folder or a hub, which reads questions with passages, or claims with passages.

    Implements the port ``PairJudge``. A hub is asked when name, languages or a reading are first wanted; the network
    is loaded at the first reading. What goes wrong with either is said again without another try, for a minute where
    it can be retried. Safe to share between threads. Raises ``SettingsError`` for what is neither a folder nor a hub
    name and for a folder whose model does not fit the job, and ``MissingExtra``.
    """

    def __init__(self, named: str, job: Job) -> None:
        self._named, self._job = named, job
        folder, hub_name = _folder(named), _HUB_NAME.fullmatch(named)
        if folder is None and hub_name is None:
            raise errors.SettingsError(
                f"{job[:-1]}_judge should be a model's folder that is there, or its hub name as owner/name or "
                f"owner/name@revision, but is '{named[:200]}'; correct it"
            )
        self._found = _look_through(folder, folder.resolve().name, job) if folder else None
        if find_spec("sentence_transformers") is None:  # importing it takes seconds
            command = 'pip install "selfright[judges]"'
            raise errors.MissingExtra("sentence-transformers, which runs custom judges,", command)
        self._lock = threading.RLock()
        self._model: Any = None
        self._failure: errors.SelfrightError | None = None
        self._failed_at = 0.0
        self._kept = KeptPairs()

    @property
    def name(self) -> str:
        """The folder's or repository's last name and twelve digits of what its files hold: what was fitted on one
        model fits no other. Raises ``SettingsError`` and ``ModelError`` like ``languages`` and ``read``."""
        return self._find().name

    @property
    def languages(self) -> tuple[Language, ...]:
        """English and Korean as far as the model's README.md declares them; both where it declares neither."""
        return self._find().languages

    def read(self, text: str, passages: Sequence[str]) -> list[PairReading]:
        """Log-odds that each passage answers the question or bears the claim out; the last 256 pairs are kept.

        Of a pair at most 512 word pieces count, or the model's window: the longer text is cut.
        """
        return self._kept.read(text, passages, lambda new: self._run(text, new))

    def _run(self, text: str, passages: Sequence[str]) -> list[PairReading]:
        labels, said = self._find().labels, sendable(text)
        pairs = [(said, sendable(passage)) for passage in passages]
        if self._job == "claims":
            pairs = [(passage, claim) for claim, passage in pairs]
        with self._lock:
            model = self._load()
            try:
                found = model.predict(pairs, batch_size=16, show_progress_bar=False, apply_softmax=False)
                return [labels.reading(row) for row in found.reshape(len(pairs), labels.count).tolist()]
            except Exception as error:  # of PyTorch and what lies below it
                raise errors.JudgeFailed(
                    f"{self.name} should have judged {len(pairs)} passages, but failed with {type(error).__name__}; "
                    "try again, free memory, or choose a smaller model"
                ) from error

    def _find(self) -> _Found:
        if self._found is not None:
            return self._found
        with self._lock:
            self._found = self._try(lambda: _download(self._named, self._job))
            return self._found

    def _load(self) -> Any:
        folder = self._find().folder
        self._model = self._model or self._try(lambda: _load(folder))
        return self._model

    def _try(self, work: Callable[[], T]) -> T:
        known = self._failure
        if known is not None and (not known.retryable or time.monotonic() - self._failed_at < _AGAIN):
            raise known.with_traceback(None)
        try:
            return work()
        except errors.SelfrightError as error:
            self._failed_at = time.monotonic()
            self._failure = type(error)(str(error))  # without frames, which would keep half a model alive
            raise


def _folder(named: str) -> Path | None:
    try:
        folder = Path(named).expanduser()
        return folder if named and folder.is_dir() else None
    except (OSError, RuntimeError):  # too long, closed to us, or the home of a user who is unknown
        return None


def _download(named: str, job: Job) -> _Found:
    """The model in the hub's cache, as the hub has it now or as it came the last time."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import RepositoryNotFoundError, RevisionNotFoundError

    repo, _, revision = named.partition("@")
    try:
        folder = Path(snapshot_download(repo, revision=revision or "main", allow_patterns=_USED))
    except (RepositoryNotFoundError, RevisionNotFoundError) as error:
        raise errors.ModelRejected(
            f"'{named}' should be a model on the hub that you may read, but the hub has none by that name for you; "
            "check the name, or accept its conditions and set HF_TOKEN, or give a local folder"
        ) from error
    except Exception as error:  # of the libraries below it; its words can hold an address with a token in it
        raise errors.ModelUnavailable(
            f"'{named}' should be downloaded from the hub, but that failed ({type(error).__name__}) and it was not "
            "downloaded before; check the network and the free space, or give a local folder"
        ) from error
    return _look_through(folder, repo.rpartition("/")[2], job)


def _look_through(folder: Path, last: str, job: Job) -> _Found:
    """What the folder holds, checked as far as that goes without loading it."""
    if not any(folder.glob("model*.safetensors")):
        raise errors.SettingsError(
            f"{folder} should hold a model as config.json and model.safetensors, but has no such weights; save it with "
            "sentence-transformers (other formats can run code when they are read)"
        )
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        labels = read_labels(config, job, str(folder))
        return _Found(folder, f"{last[:60]}-{_fingerprint(folder, job)}", labels, _languages(folder))
    except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise errors.SettingsError(
            f"cannot use {folder / 'config.json'} ({type(error).__name__}); save the model again"
        ) from error


def read_labels(config: Mapping[str, Any], job: Job, where: str) -> Labels:
    """The labels that a config.json declares. Raises ``SettingsError`` for those that do not fit the job."""
    kinds = [str(kind) for kind in config.get("architectures") or ()]
    if not any(kind.endswith("ForSequenceClassification") for kind in kinds):
        raise errors.SettingsError(
            f"{where} should be a cross-encoder or an NLI model (…ForSequenceClassification in config.json), but its "
            f"architecture is {', '.join(kinds) or 'not named'}; choose another model"
        )
    named = config.get("id2label") or {number: f"label_{number}" for number in range(config.get("num_labels", 2))}
    names = [str(named[number]).strip().lower() for number in sorted(named, key=int)]
    entails, denies = ([n for n, name in enumerate(names) if kind.match(name)] for kind in (_ENTAILS, _DENIES))
    if entails and denies and len(names) <= 3:
        if job == "passages":
            raise errors.SettingsError(
                f"{where} should judge passages beside a question, but is an NLI model ({', '.join(names)}), "
                "which judges claims: give it as claim_judge"
            )
        return Labels(len(names), entails[0], denies[0])
    if len(names) not in (1, 2):
        raise errors.SettingsError(
            f"{where} should have one label, two, or the three of an NLI model (entailment, neutral, contradiction), "
            f"but has {', '.join(names[:4])}; name them in config.json (id2label), or choose another model"
        )
    second = len(names) == 2 and not (_YES.match(names[0]) or _NO.match(names[1]))  # says yes, as is the custom
    return Labels(len(names), int(second))


def _languages(folder: Path) -> tuple[Language, ...]:
    """English and Korean as far as ``language:`` in the README's front matter names them; both where it does not."""
    readme = folder / "README.md"
    text = readme.read_bytes()[: 64 * 2**10].decode("utf-8", "replace") if readme.is_file() else ""
    front = re.match(r"\ufeff?---[ \t]*\n(.*?\n)---", text, re.DOTALL)
    declared = re.search(r"^language:(.*(?:\n[ \t]*-.*)*)", front[1], re.MULTILINE) if front else None
    words = set(re.findall(r"[a-z]+", declared[1].lower() if declared else ""))
    names: Mapping[Language, set[str]] = {"en": {"en", "eng", "english"}, "ko": {"ko", "kor", "korean"}}
    return tuple(language for language, known in names.items() if known & words) or ("en", "ko")


def _fingerprint(folder: Path, job: Job) -> str:
    """Of a file over 16 MB, 64 samples of 256 KB: reading gigabytes at every start would take longer than all else."""
    digest = hashlib.sha256(job.encode())
    for path in sorted(path for pattern in _USED[:-1] for path in folder.glob(pattern)):
        size = path.stat().st_size
        digest.update(f"\0{path.name}\0{size}\0".encode())
        with path.open("rb") as file:
            for place in range(0, size, max(size // _SAMPLES, _SAMPLE)):
                file.seek(place)
                digest.update(file.read(_SAMPLE))
    return digest.hexdigest()[:12]


def _load(folder: Path) -> Any:
    library, torch = importlib.import_module("sentence_transformers"), importlib.import_module("torch")
    importlib.import_module("transformers.utils.logging").disable_progress_bar()  # it draws on the terminal
    try:
        model = library.CrossEncoder(
            str(folder),
            activation_fn=torch.nn.Identity(),  # log-odds are wanted, not what a sigmoid makes of them
            trust_remote_code=False,
            local_files_only=True,
            model_kwargs={"use_safetensors": True},
        )
    except Exception as error:  # of four libraries
        raise errors.ModelFilesDamaged(
            f"{folder} should hold a model that sentence-transformers can load, but it cannot "
            f"({type(error).__name__}); save or download it again"
        ) from error
    model.tokenizer.model_max_length = min(_LONGEST, model.tokenizer.model_max_length)
    model.tokenizer.split_special_tokens = True  # a passage that spells out a mark must not be able to end itself
    return model
