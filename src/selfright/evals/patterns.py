"""Regular expressions of a question set, searched by a process of their own: one may go on for years, and is ended."""

import atexit
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from selfright.domain.errors import InputError
from selfright.processes import Workers

_ENTRY = f"{__name__}:start"
_PATIENCE_S = 5.0


def is_any_in(patterns: Sequence[str], line: str) -> bool:
    """Whether one of the patterns is found in the line, ignoring case.

    Raises ``InputError`` if that takes more than 5 s twice, or cannot be done apart: here it could not be ended.
    """
    (found,) = _workers().map([{"patterns": list(patterns), "line": line}], _not_searched)
    return found


def start(setup: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], bool]:
    """The worker's side."""
    del setup
    return _search


@cache
def _workers() -> Workers:
    workers = Workers(_ENTRY, {}, 1, _PATIENCE_S)
    atexit.register(workers.close)
    return workers


def _search(task: Mapping[str, Any]) -> bool:
    return any(re.search(pattern, task["line"], re.IGNORECASE) for pattern in task["patterns"])


def _not_searched(task: Mapping[str, Any]) -> bool:
    raise InputError(
        f"a text of {len(task['line']):,} characters could not be searched for these 'patterns' of a question in two "
        f"tries of {_PATIENCE_S:.0f} s, by a process of its own; write them without a repeated part in a repeated "
        f"part: {task['patterns']}"
    )
