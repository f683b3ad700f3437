"""A finished turn → its trace; and a trace drawn in plain text: the path with its loops, time bars, scores by pass.

An outline is made of what can hold no content: names of nodes and what they decided, verdicts, scores, counts.
"""

import datetime
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from selfright.domain.answers import Answer, Cost, Step
from selfright.domain.traces import Pass, Trace, TurnSetup
from selfright.domain.turns import Scope
from selfright.schemas import answer_view

_BAR = 24
_WIDTH = 100
_SHOWN = 48
_SCORES = ("grounding", "completeness", "accuracy", "overall", "confidence")


def finished_trace(answer: Answer, at: float, scope: Scope, origins: TurnSetup, *, content: bool) -> Trace:
    """The trace of a turn that came to its end; with ``content`` also everything that was said."""
    judged = answer.evaluation
    return Trace(
        id=answer.trace_id,
        at=at,
        kind="full" if content else "outline",
        user=scope.owner,
        collections=scope.collections,
        origins=origins,
        steps=answer.trace if content else _without_names(answer.trace),
        passes=tuple(
            Pass(one.verdict, one.overall, len(one.documents), one.improvement, one.duplicate_share)
            for one in answer.iterations
        ),
        verdict=answer.verdict,
        scores={name: float(getattr(judged, name)) for name in _SCORES} if judged else {},
        quality=judged.answer_quality.value if judged else "",
        judge=judged.source.value if judged else "",
        stop_reason=answer.stop_reason,
        abstained=answer.abstained,
        degraded=answer.degraded,
        language=answer.language,
        cost=answer.cost,
        web=answer.web.effect if answer.web else "",
        answer=answer_view(answer) if content else None,
    )


def broken(
    trace_id: str, at: float, scope: Scope, origins: TurnSetup, steps: Sequence[Step], seconds: float, error: Exception
) -> Trace:
    """The trace of a turn that an error ended before there was an answer: its class only, for its words may quote."""
    spent, kind = Cost(seconds=seconds), type(error).__name__
    return Trace(
        trace_id,
        at,
        "outline",
        scope.owner,
        origins,
        _without_names(steps),
        cost=spent,
        error=kind,
        collections=scope.collections,
    )


def _without_names(steps: Iterable[Step]) -> tuple[Step, ...]:
    return tuple(replace(step, outcome=step.outcome.without_names()) for step in steps)


def draw_list(traces: Sequence[Trace]) -> str:
    """One line for each trace."""
    rows = [
        f"{trace.id[:8]}  {when(trace)}  {trace.kind:<7}  {trace.origins.preset:<16}  {_quality(trace):<5}  "
        f"{outcome(trace):<20}  passes {len(trace.passes):>2}  calls {trace.cost.llm_calls:>3}  "
        f"{trace.cost.seconds:7.2f} s  {_question_line(trace)}".rstrip()
        for trace in traces
    ]
    return plain("\n".join(rows))


def draw_trace(trace: Trace) -> str:
    """The whole turn, without anything that could steer a terminal."""
    parts = [_head(trace), *_answer_lines(trace), _path(trace), _scores(trace), _end(trace)]
    return plain("\n\n".join(part for part in parts if part))


def plain(text: str) -> str:
    """Text without control characters, escape sequences included; line breaks stay."""
    return "".join(character for character in text if character == "\n" or character.isprintable())


def when(trace: Trace) -> str:
    """The beginning of the turn, in UTC."""
    try:
        moment = datetime.datetime.fromtimestamp(trace.at, datetime.UTC)
    except (OverflowError, OSError, ValueError):
        return "at an unknown time"
    return moment.strftime("%Y-%m-%d %H:%M:%SZ")


def outcome(trace: Trace) -> str:
    """Why the turn stopped; the error's class where one ended it."""
    return f"error: {trace.error}" if trace.error else trace.stop_reason.value


def _question_line(trace: Trace) -> str:
    question = " ".join((trace.answer or {}).get("question", "").split())
    return question if len(question) <= _SHOWN else f"{question[: _SHOWN - 1]}…"


def _quality(trace: Trace) -> str:
    overall = trace.scores.get("overall")
    return "-" if overall is None else f"{overall:.2f}"


def _head(trace: Trace) -> str:
    origins = trace.origins
    models = ", ".join(sorted(set(origins.models.values()))) or "offline"
    rows = [
        f"trace {trace.id}  ({trace.kind})",
        f"{when(trace)}  preset {origins.preset}  models: {models}  selfright {origins.versions.get('selfright', '?')}",
    ]
    if origins.chosen:
        chosen = ", ".join(f"{name}={value}" for name, value in sorted(origins.chosen.items()))
        rows.append(f"flags: {chosen}")
    return "\n".join(rows)


def _answer_lines(trace: Trace) -> list[str]:
    if trace.answer is None:
        return []
    answer = trace.answer
    parts = [_wrap(name, answer.get(name, "")) for name in ("question", "answer")]
    cited = [
        f"  [{one.get('n', '')}] {one.get('title', '')} ({one.get('url') or one.get('document_id', '')})"
        for one in answer.get("citations", ())
    ]
    return [*parts, "\n".join(["sources", *cited])] if cited else parts


def _wrap(title: str, text: str) -> str:
    lines = [line for paragraph in text.splitlines() for line in textwrap.wrap(paragraph, _WIDTH) or [""]]
    return "\n".join([title, *(f"  {line}" for line in lines)])


def _path(trace: Trace) -> str:
    longest = max((step.seconds for step in trace.steps), default=0.0) or 1.0
    rows = []
    for number, steps in enumerate(rounds(trace.steps), start=1):
        rows.append(f"pass {number}: " + " → ".join(step.node for step in steps))
        for step in steps:
            bar = "█" * max(round(_BAR * step.seconds / longest), 1 if step.seconds > 0 else 0)
            shown = f"  {step.seconds * 1_000:9.1f} ms {bar:<{_BAR}} {step.node:<17} {step.said}"
            rows.append(shown.rstrip())
        if again := steps[-1].outcome.again:
            rows.append(f"  ↺ back to {again}")
    return "\n".join(rows)


def rounds(steps: Sequence[Step]) -> Iterator[list[Step]]:
    """The steps pass by pass: a pass ends where the check sends the turn back."""
    start = 0
    for place, step in enumerate(steps, start=1):
        if step.outcome.again or place == len(steps):
            yield list(steps[start:place])
            start = place


def _scores(trace: Trace) -> str:
    rows = ["scores by pass"] if trace.passes else []
    for number, one in enumerate(trace.passes, start=1):
        score = one.overall or 0.0
        filled = round(_BAR * score)
        bar = "█" * filled + "░" * (_BAR - filled)
        judged = "not judged" if one.overall is None else f"{one.overall:.2f} {bar}"
        gain = f" ({one.improvement:+.2f})" if one.improvement is not None else ""
        same = f", {one.duplicate_share:.0%} seen before" if one.duplicate_share is not None else ""
        verdict = f"  {one.verdict.value}" if one.verdict else ""
        rows.append(f"  {number}  {judged}{gain}{verdict}  documents {one.documents}{same}")
    return "\n".join(rows)


def _end(trace: Trace) -> str:
    cost = trace.cost
    judged = ", ".join(f"{name} {score:.2f}" for name, score in trace.scores.items())
    marks = [name for name, on in (("abstained", trace.abstained), ("degraded", trace.degraded)) if on]
    rows = [f"stopped: {outcome(trace)}" + (f"  ({', '.join(marks)})" if marks else "")]
    if judged:
        rows.append(f"judged by {trace.judge}: {judged}, {trace.quality}")
    rows.append(
        f"cost: {cost.seconds:.2f} s, model calls {cost.llm_calls}, "
        f"tokens {cost.prompt_tokens + cost.completion_tokens}, web pages read {cost.web_requests}"
        + (f" (web: {trace.web})" if trace.web else "")
    )
    return "\n".join(rows)
