"""A trace as one self-contained HTML page: no script, nothing fetched, every word of a document escaped."""

import html
from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Any

from selfright.domain.answers import Step
from selfright.domain.traces import Pass, Trace
from selfright.evals.report.plots.canvas import Axis
from selfright.evals.report.plots.lines import Series, chart
from selfright.telemetry.drawing import Round, outcome, plain, rounds, when

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def page(trace: Trace) -> str:
    """The page as text; write it as UTF-8."""
    style = files(__package__).joinpath("trace_page.css").read_text(encoding="utf-8")
    sections = [_facts(trace), *_said(trace), _path(trace), _scores(trace), _judged(trace), _passages(trace)]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>Trace {_text(trace.id[:8])}</title>\n<style>{style}</style></head>\n<body>\n"
        f"<h1>Trace {_text(trace.id)}</h1>\n" + "\n".join(part for part in sections if part) + "\n</body></html>\n"
    )


def _text(value: object) -> str:
    """What may stand anywhere in the page: no markup, no control characters."""
    return html.escape(plain(value), quote=True)


def _pairs(pairs: Iterable[tuple[str, object]]) -> str:
    rows = "".join(f"<dt>{_text(name)}</dt><dd>{_text(value)}</dd>" for name, value in pairs if value not in ("", None))
    return f"<dl>{rows}</dl>"


def _facts(trace: Trace) -> str:
    origins, cost = trace.origins, trace.cost
    models = ", ".join(sorted(set(origins.models.values()))) or "offline"
    chosen = ", ".join(f"{name}={value}" for name, value in sorted(origins.chosen.items()))
    marks = ", ".join(name for name, on in (("abstained", trace.abstained), ("degraded", trace.degraded)) if on)
    return _pairs(
        [
            ("asked", when(trace)),
            ("preset", origins.preset),
            ("flags", chosen),
            ("models", models),
            ("version", origins.versions.get("selfright", "")),
            ("verdict", trace.verdict.value if trace.verdict else ""),
            ("stopped", outcome(trace)),
            ("marked", marks),
            ("cost", f"{cost.seconds:.2f} s, model calls {cost.llm_calls}, web pages read {cost.web_requests}"),
            ("tokens", f"{cost.prompt_tokens} in, {cost.completion_tokens} out" if cost.llm_calls else ""),
        ]
    )


def _said(trace: Trace) -> list[str]:
    if trace.answer is None:
        return ["<p>This trace holds nothing of what was said.</p>"]
    language = _text(trace.language)
    titles = (("question", "Question"), ("answer", "Answer"))
    return [
        f'<h2>{title}</h2><div class="said" lang="{language}">{_text(trace.answer.get(name, ""))}</div>'
        for name, title in titles
    ]


def _path(trace: Trace) -> str:
    longest = max((step.seconds for step in trace.steps), default=0.0) or 1.0
    parts = [_round(number, one, longest) for number, one in enumerate(rounds(trace.steps), start=1)]
    return "<h2>Path</h2>" + "".join(parts) if parts else ""


def _round(number: int, one: Round, longest: float) -> str:
    nodes = "".join(f"<li>{_text(step.node)}</li>" for step in one.steps)
    back = f'<li class="back">back to {_text(one.again)}</li>' if one.again else ""
    rows = "".join(_step(step, longest) for step in one.steps)
    head = '<tr><th>node</th><th class="n">ms</th><th class="time">time</th><th>decided</th></tr>'
    return f'<p>Pass {number}</p><ol class="path">{nodes}{back}</ol><table>{head}{rows}</table>'


def _step(step: Step, longest: float) -> str:
    width = max(0.0, min(100.0, 100 * step.seconds / longest))
    return (
        f'<tr><td>{_text(step.node)}</td><td class="n">{step.seconds * 1_000:.1f}</td>'
        f'<td><span class="bar" style="width:{width:.1f}%"></span></td><td>{_text(step.said)}</td></tr>'
    )


def _scores(trace: Trace) -> str:
    if not trace.passes:
        return ""
    rows = "".join(_pass_row(number, one) for number, one in enumerate(trace.passes, start=1))
    head = '<tr><th>pass</th><th>verdict</th><th class="n">quality</th><th class="n">gain</th>'
    head += '<th class="n">documents</th><th class="n">seen before</th></tr>'
    return f"<h2>Scores by pass</h2>{_plot(trace.passes)}<table>{head}{rows}</table>"


def _pass_row(number: int, one: Pass) -> str:
    quality = "not judged" if one.overall is None else f"{one.overall:.2f}"
    gain = "" if one.improvement is None else f"{one.improvement:+.2f}"
    same = "" if one.duplicate_share is None else f"{one.duplicate_share:.0%}"
    numbers = "".join(f'<td class="n">{value}</td>' for value in (quality, gain, one.documents, same))
    return f"<tr><td>{number}</td><td>{_text(one.verdict.value if one.verdict else '')}</td>{numbers}</tr>"


def _plot(passes: tuple[Pass, ...]) -> str:
    """Quality (0…1) over the passes; nothing where fewer than two were judged."""
    judged = [(float(number), one.overall) for number, one in enumerate(passes, start=1) if one.overall is not None]
    if len(judged) < 2:
        return ""
    label = "quality by pass: " + ", ".join(f"{score:.2f}" for _, score in judged)
    across = Axis("pass", 0.8, len(passes) + 0.2, lambda value: f"{value:g}" if value == int(value) else "")
    return chart(label, across, Axis("quality", 0, 1), [Series("quality", 0, judged)], width=600, height=200)


def _judged(trace: Trace) -> str:
    if not trace.scores:
        return ""
    numbers = [(name, f"{score:.2f}") for name, score in trace.scores.items()]
    claims = _claims(trace.answer) if trace.answer else ""
    return f"<h2>Judgement</h2>{_pairs([('judge', trace.judge), ('label', trace.quality), *numbers])}{claims}"


def _claims(answer: Mapping[str, Any]) -> str:
    evaluation = answer.get("evaluation") or {}
    rows = "".join(
        f"<tr><td>{_text(claim.get('status', ''))}</td><td>{_text(claim.get('text', ''))}</td></tr>"
        for claim in evaluation.get("claims", ())
    )
    removed = "".join(f"<tr><td>removed</td><td>{_text(text)}</td></tr>" for text in answer.get("removed_claims", ()))
    return f"<table><tr><th>judged</th><th>claim</th></tr>{rows}{removed}</table>" if rows or removed else ""


def _passages(trace: Trace) -> str:
    citations = (trace.answer or {}).get("citations", ())
    parts = [
        f"<h3>[{_text(one.get('n', ''))}] {_text(one.get('title', ''))}</h3>"
        f"<p>{_text(one.get('url') or one.get('document_id', ''))}, "
        f"{_text(one.get('start', ''))}–{_text(one.get('end', ''))}</p>"
        f'<div class="said">{_text(one.get("text", ""))}</div>'
        for one in citations
    ]
    return "<h2>Sources</h2>" + "".join(parts) if parts else ""
