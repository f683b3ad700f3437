"""What the operator sees: the log, a line of JSON for each request and warning, without anything that anybody said.

Of a request it has route, status, time and key id; of a turn its figures. Questions, answers, names of sessions and
documents, and the messages of unexpected errors (which may quote any of these) are left out.

And what Prometheus reads at ``/metrics``: counts and times, with labels from closed lists only.
"""

import json
import logging
import os
import sys
import time
import traceback
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from selfright.domain.answers import Answer
from selfright.server.admission import TurnLimiter

REQUESTS = logging.getLogger("selfright.service")
_MOST_FRAMES = 12
_SERVER = ("uvicorn", "uvicorn.error", "uvicorn.access", "uvicorn.asgi")


class JsonLines(logging.Formatter):
    """A record as one line of JSON; ``extra={"fields": {...}}`` adds to it."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
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


METRICS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # the name is prometheus_client's
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_REQUEST_SECONDS = (0.005, 0.02, 0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)
_METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})


class Metrics:
    """The counters of one service."""

    def __init__(self, limiter: TurnLimiter) -> None:
        self._registry, self._limiter = CollectorRegistry(), limiter
        counter = partial(Counter, registry=self._registry)
        histogram = partial(Histogram, registry=self._registry, buckets=_REQUEST_SECONDS)
        ProcessCollector(registry=self._registry)
        self._requests = counter("selfright_requests", "Requests that are over.", ("route", "method", "status"))
        self._seconds = histogram("selfright_request_seconds", "How long requests took.", ("route",))
        self._turns = counter("selfright_turns", "Turns that came to an end.", ("preset", "stop_reason"))
        self._turn_seconds = histogram("selfright_turn_seconds", "How long turns took.", ("preset",))
        self._calls = counter("selfright_llm_calls", "Calls of language models.")
        self._tokens = counter("selfright_tokens", "Tokens of language models.", ("kind",))
        self._broken = counter("selfright_turns_broken_off", "Turns without an end.", ("why",))
        self._passages = counter("selfright_passages_indexed", "Passages taken in by uploads.")
        self._running, self._waiting = (
            Gauge(f"selfright_turns_{name}", about, registry=self._registry, multiprocess_mode="livesum")
            for name, about in (("running", "Turns that run now."), ("waiting", "Turns that wait for a place."))
        )

    def request(self, route: str, method: str, status: int, seconds: float) -> None:
        """Counts a request."""
        self._look()
        self._requests.labels(route, method if method in _METHODS else "other", str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def turn(self, answer: Answer) -> None:
        """Counts a turn that came to its end."""
        self._turns.labels(answer.preset, answer.stop_reason.value).inc()
        self._turn_seconds.labels(answer.preset).observe(answer.cost.seconds)
        self._calls.inc(answer.cost.llm_calls)
        self._tokens.labels("prompt").inc(answer.cost.prompt_tokens)
        self._tokens.labels("completion").inc(answer.cost.completion_tokens)

    def broken_off(self, why: str) -> None:
        """Counts a turn that failed or whose caller went away."""
        self._broken.labels(why).inc()

    def note_indexed(self, passages: int) -> None:
        """Counts what an upload brought."""
        self._passages.inc(passages)

    def text(self) -> bytes:
        """All of them in Prometheus' text format; of all workers, where there are several."""
        self._look()
        if METRICS_FOLDER not in os.environ:
            return generate_latest(self._registry)
        together = CollectorRegistry()
        MultiProcessCollector(together)  # type: ignore[no-untyped-call]  # a library's, without types
        return generate_latest(together)

    def _look(self) -> None:
        self._running.set(self._limiter.running)
        self._waiting.set(self._limiter.waiting)
