"""Questions × systems → a study: asked in this process or in several, and taken up again after a kill."""

import hashlib
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from selfright.api.selfright import Selfright
from selfright.domain.chat import Job
from selfright.domain.errors import SelfrightError
from selfright.domain.traces import Judge
from selfright.evals.aggregation import aggregate, compare, ladder, measure_row
from selfright.evals.measures import STANDARD, Metric
from selfright.evals.reading import Question, QuestionSet
from selfright.evals.results import IndexFacts, Kind, Row, RunResult, Study, adapter
from selfright.evals.systems import System
from selfright.evals.worker import TASK, ask_row, lost_row
from selfright.evals.writing import Key, RowLog, open_rows
from selfright.processes import Workers, usable_cpus
from selfright.settings import Settings

_MOST_FAILURES = 10
Progress = Callable[[int, int, str], None]

ROWS = "rows.jsonl"
_PACKAGES = ("selfright", "numpy", "tantivy", "faiss-cpu", "onnxruntime", "kiwipiepy", "langgraph", "ir-measures")
_FEW = 40
"""Turns below which other processes take longer to start than they save."""
_PATIENCE = 3.0


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be measured.

    ``values`` are settings and flags as for ``Selfright.open``; flags among them hold for every system. ``workers`` is
    None for as many as pay. The systems are compared with the first one, and each with the one before it.
    """

    kind: Kind
    data: QuestionSet
    systems: Sequence[System]
    values: Mapping[str, Any] = field(default_factory=dict)
    judge: Judge = "local"
    seed: int = 0
    workers: int | None = None
    metrics: Sequence[Metric] = STANDARD


def evaluate(plan: Plan, out: Path | None = None, progress: Progress | None = None) -> Study:
    """Asks every question of every system and sums up. With ``out``, rows are kept there and a killed run goes on.

    Raises ``IndexNotFound``, and ``UsageError`` for an unknown preset, flag or setting, and for an ``out`` that
    holds another plan's rows. A question that fails is a row with its error.
    """
    with tempfile.TemporaryDirectory(prefix="selfright-eval-") as home:
        # Profiles, sessions and traces of an evaluation are nobody's.
        values = {"home": home, "database": "", **plan.values}
        with Selfright.open(**values) as selfright:
            return _Evaluation(plan, values, selfright).run(out, progress or (lambda *_: None))


class _Evaluation:
    def __init__(self, plan: Plan, values: Mapping[str, Any], selfright: Selfright) -> None:
        self._plan, self._values, self._selfright = plan, values, selfright
        self._flags = {system.name: asdict(selfright.flags(system.preset, system.flags)) for system in plan.systems}
        self._index = index_facts(selfright)
        self._models = models(selfright.settings)
        self._judges = selfright.judges
        self._rows: dict[Key, Row] = {}

    def run(self, out: Path | None, progress: Progress) -> Study:
        if out is None:
            self._ask(None, progress)
            return self._study()
        with open_rows(out / ROWS, self._fingerprint()) as log:
            self._rows = log.rows
            self._ask(log, progress)
        return self._study()

    # Asking

    def _ask(self, log: RowLog | None, progress: Progress) -> None:
        total = len(self._plan.systems) * len(self._plan.data.questions)
        progress(len(self._rows), total, "")
        asked = ((system, question) for system in self._plan.systems for question in self._plan.data.questions)
        failed, tasks = 0, [task for task in asked if (task[0].name, task[1].id) not in self._rows]
        for (system, _), row in zip(tasks, self._answers(tasks), strict=True):
            self._rows[system.name, row.question_id] = row
            failed = failed + 1 if row.error else 0
            if failed == _MOST_FAILURES:
                raise SelfrightError(
                    f"{failed} turns in a row failed, the last one with {row.error}; mend that and run again"
                )
            if log is not None and row.error is None:
                log.append(system.name, row)
            progress(len(self._rows), total, system.name)

    def _answers(self, tasks: Sequence[tuple[System, Question]]) -> Iterator[Row]:
        wanted = self._plan.workers or (usable_cpus() if len(tasks) >= _FEW else 1)
        workers = min(wanted, len(tasks) // 2)
        if workers <= 1:
            yield from (ask_row(self._selfright, *task, self._plan.judge) for task in tasks)
            return

        plain = {name: str(value) if isinstance(value, Path) else value for name, value in self._values.items()}
        setup = {"values": plain, "judge": self._plan.judge}
        patience = _PATIENCE * max(flags["deadline_s"] for flags in self._flags.values()) + 60
        with Workers("selfright.evals.worker:serve", setup, workers, patience) as pool:
            sent = (TASK.dump_python(task, mode="json") for task in tasks)
            for task, answer in zip(tasks, pool.map(sent), strict=True):
                match answer:
                    case None:
                        yield lost_row(task[1])
                    case {"failed": _}:  # here it fails in the same way, and what it raises is heard
                        yield ask_row(self._selfright, *task, self._plan.judge)
                    case row:
                        yield adapter(Row).validate_python(row)

    # Summing up

    def _study(self) -> Study:
        plan = self._plan
        runs = tuple(self._sum_up(system) for system in plan.systems)
        pairs = ladder([system.name for system in plan.systems]) if len(runs) > 1 else []
        return Study(
            kind=plan.kind,
            created=now(),
            data=plan.data.facts(),
            index=self._index,
            judge=plan.judge,
            seed=plan.seed,
            versions={**versions(), **self._judges},
            runs=runs,
            comparisons=compare(runs, pairs, plan.seed),
        )

    def _sum_up(self, system: System) -> RunResult:
        flags = self._flags[system.name]
        kept = [(question, self._rows.get((system.name, question.id))) for question in self._plan.data.questions]
        rows = tuple(measure_row(row, question, flags, self._plan.metrics) for question, row in kept if row is not None)
        run = RunResult(
            system=system.name,
            preset=system.preset,
            flags=flags,
            models=self._models,
            rows=rows,
            summary={},
            complete=all(row is not None and row.error is None for _, row in kept),
        )
        return aggregate(run, [metric.name for metric in self._plan.metrics], self._plan.seed)

    def _fingerprint(self) -> dict[str, Any]:
        """All that a row depends on; rows of another plan must not mix with these."""
        plan, settings = self._plan, self._selfright.settings
        asked_for = "\0".join(question.id for question in plan.data.questions)
        return {
            "data": plan.data.sha256,
            "questions": hashlib.sha256(asked_for.encode()).hexdigest(),
            "systems": [[system.name, system.preset, self._flags[system.name]] for system in plan.systems],
            "index": asdict(self._index),
            "models": self._models,
            "web": list(settings.web_providers),
            "judge": plan.judge,
            "version": versions()["selfright"],
            **({"judges": self._judges} if self._judges else {}),
        }


def index_facts(selfright: Selfright) -> IndexFacts:
    """The index in figures, and a digest of all its documents. Raises ``IndexNotFound`` when there is none."""
    info = selfright.info()
    digest = hashlib.sha256()
    for document in selfright.documents():
        digest.update(f"{document.id}\0{document.collection}\0{document.content_hash}\n".encode())
    return IndexFacts(info.documents, info.passages, info.embedder, info.tokenizer, digest.hexdigest())


def models(settings: Settings) -> dict[str, str]:
    """The model of each job: ``offline``, or ``provider:model``, its address without a login."""
    return {job.value: public(settings.models.get(job.value, settings.llm)) for job in Job}


def public(model: str) -> str:
    """A model's name without user, password and query of the address in it."""
    before, scheme, rest = model.partition("://")
    place, _, query = rest.partition("?")
    if not scheme:
        return model
    return before + scheme + ("" if "@" in query else place.rpartition("@")[2])  # a password may hold a question mark


def versions() -> Mapping[str, str]:
    """Python's version, and those of the packages that a figure may depend on."""
    import platform

    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def now() -> str:
    """The time in UTC, to the second, in ISO form."""
    return datetime.now(UTC).isoformat(timespec="seconds")
