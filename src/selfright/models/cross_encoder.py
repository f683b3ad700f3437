"""A user's own cross-encoder or NLI model, which sentence-transformers runs (extra ``judges``)."""

import hashlib
import importlib
import json
import math
import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from selfright.background import Recent
from selfright.domain import errors
from selfright.domain.judgements import PairReading
from selfright.domain.passages import Language
from selfright.models.files import sendable
from selfright.models.reader import KEPT

Job = Literal["passages", "claims"]

_USED = ("*.json", "*.safetensors", "*.txt", "*.model")
_LONGEST = 512  # word pieces of a pair
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


class CrossEncoderJudge:
    """A model from a folder, which reads questions with passages, or claims with passages.

    Implements the port ``PairJudge``. The network is loaded at the first reading, and what goes wrong with that is said
    again without another try. Safe to share between threads. Raises ``SettingsError`` for what is no folder and for one
    whose model does not fit the job, and ``MissingExtra``.
    """

    name: str
    """The folder's name and twelve digits of what its files hold: what was fitted on one model fits no other."""
    languages: tuple[Language, ...]
    """English and Korean as far as the model's README.md declares them; both where it declares neither."""

    def __init__(self, named: str, job: Job) -> None:
        folder = _folder(named)
        if folder is None:
            raise errors.SettingsError(
                f"{job[:-1]}_judge should be a model's folder that is there, but is '{named[:200]}'; correct it, or "
                "download the model first"
            )
        self._folder, self._job = folder, job
        self._look_through()
        # Importing it takes seconds.
        errors.MissingExtra.check("sentence-transformers, which runs custom judges,", "judges", "sentence_transformers")
        self._lock = threading.Lock()
        self._model: Any = None
        self._failure: errors.ModelFilesDamaged | None = None
        self._kept = Recent[tuple[str, str], PairReading](KEPT)

    def _look_through(self) -> None:
        """Learns what the folder holds, and checks it as far as that goes without loading it."""
        folder = self._folder
        if not any(folder.glob("model*.safetensors")):
            raise errors.SettingsError(
                f"{folder} should hold a model as config.json and model.safetensors, but has no such weights; save it "
                "with sentence-transformers (other formats can run code when they are read)"
            )
        try:
            config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
            self._labels = read_labels(config, self._job, str(folder))
            self.name = f"{folder.resolve().name[:60]}-{_fingerprint(folder, self._job)}"
            self.languages = _languages(folder)
        except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
            raise errors.SettingsError(
                f"cannot use {folder / 'config.json'} ({type(error).__name__}); save the model again"
            ) from error

    def read(self, text: str, passages: Sequence[str]) -> list[PairReading]:
        """Log-odds that each passage answers the question or bears the claim out; the last 256 pairs are kept.

        Of a pair at most 512 word pieces count, or the model's window: the longer text is cut.
        """
        return self._kept.complete([(text, passage) for passage in passages], self._run)

    def _run(self, new: Sequence[tuple[str, str]]) -> list[PairReading]:
        labels, pairs = self._labels, [(sendable(text), sendable(passage)) for text, passage in new]
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

    def _load(self) -> Any:
        if self._failure is not None:
            raise self._failure.with_traceback(None)
        try:
            self._model = self._model or _load(self._folder)
        except errors.ModelFilesDamaged as error:
            self._failure = errors.ModelFilesDamaged(str(error))  # without frames, which would keep half a model alive
            raise
        return self._model


def _folder(named: str) -> Path | None:
    try:
        folder = Path(named).expanduser()
        return folder if named and folder.is_dir() else None
    except (OSError, RuntimeError):  # too long, closed to us, or the home of a user who is unknown
        return None


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
    for path in sorted(path for pattern in _USED for path in folder.glob(pattern)):
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
