"""How an object is asked for: what a model can do, tried once and remembered; and what each attempt sends next.

The ladder goes from a JSON schema that the provider enforces to plain text with the schema in the prompt, which works
with any model.
"""

import json
import logging
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from selfright.domain.chat import ChatRequest, Job
from selfright.domain.errors import ModelRejected, ModelUnavailable, ReplyUnusable
from selfright.domain.passages import Language
from selfright.domain.text import language_of
from selfright.llm.backend import Mode
from selfright.storage.files import write_atomically

LADDER = (Mode.SCHEMA, Mode.TEXT)
MOST_MODELS = 200
VERSION = 1
_LONGEST_NAME = 300
_LARGEST_FILE = 1_000_000  # bytes

log = logging.getLogger(__name__)


class Capabilities:
    """Which mode works with which model, by ``Backend.name``; for at most 200 models, the oldest go first.

    ``path`` is a small JSON file, or None to remember only in memory. A file that is damaged or cannot be written is no
    error: what was forgotten is tried anew. Delete it to have every model tried anew. Threads may share one.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._known = self._read()

    def mode(self, name: str) -> Mode | None:
        """The mode that worked last, None for a model that was never asked for an object."""
        with self._lock:
            return self._known.get(name[:_LONGEST_NAME])

    def rungs(self, name: str) -> tuple[Mode, ...]:
        """The modes to try, the first one first: from the one that is known to work downwards."""
        known = self.mode(name)
        return LADDER[LADDER.index(known) :] if known else LADDER

    def learn(self, name: str, mode: Mode) -> None:
        """``mode`` has worked with this model."""
        name = name[:_LONGEST_NAME]
        with self._lock:
            if self._known.get(name) is mode:
                return
            known = self._read() | self._known  # another process may have learned in the meantime
            known.pop(name, None)
            self._known = dict([*known.items(), (name, mode)][-MOST_MODELS:])
            try:
                if self._path:
                    write_models(self._path, self._known)
            except OSError as error:
                log.info("what models can do is not kept: %s cannot be written (%s)", self._path, type(error).__name__)

    def _read(self) -> dict[str, Mode]:
        try:
            read = read_models(self._path) if self._path else {}
            return {str(name): Mode(mode) for name, mode in [*read.items()][-MOST_MODELS:]}
        except ValueError:
            return {}


def read_models(path: Path) -> dict[str, Any]:
    """What a file of ours says of models by name; nothing where it cannot be read, or is of another version."""
    try:
        if path.stat().st_size > _LARGEST_FILE:
            return {}
        read = json.loads(path.read_text(encoding="utf-8"))
        return dict(read["models"]) if read.get("version", VERSION) == VERSION else {}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        log.info("nothing is known of any model: %s cannot be read (%s)", path, type(error).__name__)
        return {}


def write_models(path: Path, models: Mapping[str, Any]) -> None:
    """Writes what ``read_models`` reads. Raises ``OSError``."""
    text = json.dumps({"version": VERSION, "models": models}, ensure_ascii=False, indent=1)
    write_atomically(path, text.encode("utf-8", "surrogatepass"))


_LEADS: Mapping[Language, str] = {
    "en": "Answer with one JSON object only, without any other text. Its JSON schema:",
    "ko": "다른 말은 쓰지 말고 JSON 객체 하나로만 답하세요. JSON 스키마는 다음과 같습니다.",
}

_WRONG_MODE = (400, 404, 422)


class UnfitError(ModelRejected):
    """The model's library cannot ask in this mode, so nothing was sent."""


class RefusedError(ReplyUnusable):
    """The model would not answer."""


class CutOffError(ReplyUnusable):
    """The reply ran into the token limit before it was of use."""


class AttemptPlan:
    """Where one call stands: what is sent next, and what may still be tried.

    ``rungs`` are the modes to try for an object, ``proven`` whether the first is known to work with the model. An
    attempt that brought nothing uses one of the ``attempts``; an unusable reply is asked for again once; going down the
    ladder uses none, for it ends by itself.
    """

    def __init__(self, request: ChatRequest, rungs: Sequence[Mode], proven: bool, attempts: int) -> None:
        self.request = request
        self.failures = 0
        self._rungs = list(rungs) if request.schema is not None else [Mode.TEXT]
        self._proven = proven
        self._attempts = attempts
        self._again = False

    @property
    def mode(self) -> Mode:
        """The mode of the next attempt."""
        return self._rungs[0]

    @property
    def guessed(self) -> bool:
        """Whether the mode was chosen after an unusable reply, which may have been a single one."""
        return self._again and not self._proven

    @property
    def to_send(self) -> ChatRequest:
        """The request, with its schema in the prompt where the model gets it in no other way or did not keep to it."""
        schema = self.request.schema
        if schema is None or not (self._again or self.mode is Mode.TEXT):
            return self.request
        lead = _LEADS[language_of(self.request.system)]
        said = json.dumps(dict(schema), ensure_ascii=False)
        return replace(self.request, user=f"{self.request.user}\n\n{lead}\n{said}")

    def goes_on(self, error: ModelUnavailable | ModelRejected | ReplyUnusable) -> bool:
        """Whether another attempt may help; it is then due, changed by what the error tells."""
        if isinstance(error, ModelRejected):
            return self._goes_down(error)
        self.failures += 1
        if isinstance(error, RefusedError) or self.failures >= self._attempts:
            return False
        return isinstance(error, ModelUnavailable) or self._asks_again(error)

    def _goes_down(self, error: ModelRejected) -> bool:
        fits = len(self._rungs) > 1 and (isinstance(error, UnfitError) or error.status in _WRONG_MODE)
        if fits:
            self._rungs.pop(0)
        return fits

    def _asks_again(self, error: ReplyUnusable) -> bool:
        """Once, with more room where it was cut off.

        A server that was never seen to keep to a schema may have ignored it: then words alone must do.
        """
        if self._again:
            return False
        self._again = True
        if isinstance(error, CutOffError):
            self.request = replace(self.request, max_tokens=2 * self.request.max_tokens)
        elif not self._proven:
            self._rungs = [Mode.TEXT]
        return True


FILE = "model-checks.json"
SHIPPED = Path(__file__).parent / "local" / FILE
"""What the check found for models whose weights are the same for everybody: that of ``local:smollm2``."""

# Jobs without probes of their own: they go with the one that is most like them.
_ALONGSIDE = {Job.REWRITE: (Job.WEB_QUERY, Job.STANDALONE), Job.GRADE: (Job.STRIPS,)}


class ModelChecks:
    """The checks of at most 200 models by ``Backend.name``, the oldest go first; in a small JSON file.

    For a model of ``SHIPPED`` that check is used until the user makes another. A file that is damaged, or of another
    version of the probe set, counts as missing.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def worse(self, name: str) -> frozenset[Job]:
        """The jobs that the model should not be asked for; none for one that was never checked."""
        jobs = self.find_check(name).get("jobs", {})
        if not isinstance(jobs, Mapping):
            return frozenset()
        worse = {job for job in Job if isinstance(jobs.get(job), Mapping) and jobs[job].get("may") is False}
        return frozenset(worse | {other for job in worse for other in _ALONGSIDE.get(job, ())})

    def find_check(self, name: str) -> Mapping[str, Any]:
        """What was stored for the model, or shipped; empty when nothing was."""
        found = read_models(self._path).get(name) or _shipped_models().get(name)
        return found if isinstance(found, Mapping) else {}

    def keep(self, name: str, found: Mapping[str, Any]) -> Path:
        """Stores it in place of what was known before; raises ``OSError`` where it cannot be written."""
        known = {other: one for other, one in read_models(self._path).items() if other != name}
        write_models(self._path, dict([*known.items(), (name, found)][-MOST_MODELS:]))
        return self._path


@cache
def _shipped_models() -> Mapping[str, Any]:
    return read_models(SHIPPED)
