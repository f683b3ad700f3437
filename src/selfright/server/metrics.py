"""What Prometheus reads at ``/metrics``: counts and times, with labels from closed lists only."""

import os
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from selfright.domain.answers import Answer
from selfright.server.admission import TurnLimiter

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
        """Counts a request by route, method and status, and its seconds by route."""
        self._look()
        self._requests.labels(route, method if method in _METHODS else "other", str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def turn(self, answer: Answer) -> None:
        """Counts a turn that came to its end, with its seconds, model calls and tokens."""
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
