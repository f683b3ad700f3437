"""One question asked of one system: the work of this process, or of a worker process that got its setup as JSON."""

import json
import logging
import uuid
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import Any

from selfright.api import Selfright
from selfright.domain.answers import Message
from selfright.domain.errors import StoreError, UsageError
from selfright.evals.questions import Question
from selfright.evals.records import record
from selfright.evals.results import Row, row_line, row_of
from selfright.evals.systems import System

log = logging.getLogger(__name__)


def start(setup: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], Any]:
    """The worker's side: opens the index once, then answers tasks."""
    selfright = Selfright.open(**setup["values"])
    judge = setup["judge"]
    return lambda task: json.loads(row_line(asked(selfright, *read_task(task), judge)))


def task_of(system: System, question: Question) -> dict[str, Any]:
    """What a worker is sent."""
    return {"system": asdict(system), "question": {**asdict(question), "passages": ()}}


def read_task(task: Mapping[str, Any]) -> tuple[System, Question]:
    """What a worker makes of it."""
    given = dict(task["question"])
    given["history"] = tuple(Message(**message) for message in given["history"])
    for name in ("answers", "relevant", "passages", "patterns"):
        given[name] = tuple(given[name])
    return System(**task["system"]), Question(**given)


def read_result(result: Any) -> Row:
    """A row that a worker sent."""
    return row_of(json.dumps(result))


def lost(task: Mapping[str, Any]) -> Row:
    """The row of a question over which processes kept ending."""
    _, question = read_task(task)
    return replace(_row(question), error="the processes that were to answer this question ended again and again")


def asked(selfright: Selfright, system: System, question: Question, judge: Any) -> Row:
    """The row of one turn. An error of that turn is written into it; one of the index or of the flags is raised."""
    row = _row(question)
    try:
        examined = selfright.examine(
            question.question,
            judge,
            preset=system.preset,
            flags=system.flags,
            history=question.history,
            profile=question.profile or None,
            user=f"evaluation-{uuid.uuid4().hex}",  # nothing that one turn remembers may shape another
        )
    except (UsageError, StoreError):
        raise
    except Exception as error:  # whatever it is: the other questions go on, and this one says why it has no answer
        log.info("question %s failed under %s", question.id, system.name, exc_info=True)
        return replace(row, error=f"{type(error).__name__}: {error}")
    return replace(row, turn=record(examined, question))


def _row(question: Question) -> Row:
    gold = (*question.answers, *question.patterns)
    return Row(question.id, question.question, gold, question.answerable, question.relevant)
