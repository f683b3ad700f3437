"""What ``selfright models check`` found: which jobs each model may be asked for."""

import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from selfright.domain.chat import Job
from selfright.llm.structured import replace_file

FILE = "model-checks.json"
VERSION = 1
_MOST_MODELS = 200
_LARGEST_FILE = 1_000_000  # bytes
SHIPPED = Path(__file__).parent / "local" / FILE
"""What the check found for models whose weights are the same for everybody: that of ``local:smollm2``."""

# Jobs without probes of their own: they go with the one that is most like them.
_ALONGSIDE = {Job.REWRITE: (Job.WEB_QUERY, Job.STANDALONE), Job.GRADE: (Job.STRIPS,)}

log = logging.getLogger(__name__)


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
        found = _read(self._path).get(name) or _read(SHIPPED).get(name)
        return found if isinstance(found, Mapping) else {}

    def keep(self, name: str, found: Mapping[str, Any]) -> Path:
        """Stores it in place of what was known before; raises ``OSError`` where it cannot be written."""
        known = {other: one for other, one in _read(self._path).items() if other != name}
        models = dict([*known.items(), (name, found)][-_MOST_MODELS:])
        replace_file(self._path, json.dumps({"version": VERSION, "models": models}, ensure_ascii=False, indent=1))
        return self._path


def _read(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > _LARGEST_FILE:
            return {}
        read = json.loads(path.read_text(encoding="utf-8"))
        return dict(read["models"]) if read["version"] == VERSION else {}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        log.info("no check of any model is known: %s cannot be read (%s)", path, type(error).__name__)
        return {}
