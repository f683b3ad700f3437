"""The service's log: a line of JSON for each request and each warning, without anything that anybody said.

Of a request it has route, status, time and key id; of a turn its figures. Questions, answers, names of sessions and
documents, and the messages of unexpected errors (which may quote any of these) are left out.
"""

import json
import logging
import sys
import time
import traceback

REQUESTS = logging.getLogger("selfright.service")
_MOST_FRAMES = 12
_SERVER = ("uvicorn", "uvicorn.error", "uvicorn.access", "uvicorn.asgi")


class JsonLines(logging.Formatter):
    """A record as one line of JSON; ``extra={"fields": {...}}`` adds to it."""

    def format(self, record: logging.LogRecord) -> str:
        """Time in UTC, level, logger and message as JSON, with the record's fields and the class of an error."""
        told = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info and record.exc_info[0] is not None:
            told["error"] = record.exc_info[0].__name__
            frames = traceback.extract_tb(record.exc_info[2])[-_MOST_FRAMES:]
            told["at"] = [f"{at.filename.rpartition('site-packages')[2]}:{at.lineno} {at.name}" for at in frames]
        return json.dumps(told, ensure_ascii=False, default=str)


def begin(level: int = logging.INFO) -> None:
    """Lets the service's log, and warnings of all packages, go to stderr as JSON."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(max(level, logging.WARNING))
    REQUESTS.setLevel(level)
    for name in _SERVER:
        logging.getLogger(name).setLevel(logging.WARNING)


def note(what: str, **fields: object) -> None:
    """Logs what happened: a request or a turn that is over, a worker that accepts connections."""
    REQUESTS.info(what, extra={"fields": fields})


def broke(error: BaseException, request_id: str) -> None:
    """Logs what nobody expected: its kind and where it happened, not what it says."""
    fields = {"request_id": request_id}
    REQUESTS.error("unexpected error", exc_info=(type(error), error, error.__traceback__), extra={"fields": fields})


def log_refusal(error: BaseException, request_id: str) -> None:
    """Logs an error of ours that the operator has to do with: its kind and its message, which names no content."""
    REQUESTS.warning("%s: %s", type(error).__name__, error, extra={"fields": {"request_id": request_id}})
