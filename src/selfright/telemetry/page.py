"""A trace as one self-contained HTML page: no script, nothing fetched, every word of a document escaped."""

import html
from collections.abc import Iterable, Mapping
from typing import Any

from selfright.domain.answers import Step
from selfright.domain.traces import Pass, Trace
from selfright.telemetry.drawing import Round, outcome, plain, rounds, when

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_STYLE = """
:root { color-scheme: light dark; --ink: #1d2433; --dim: #5d6780; --line: #d5dae5; --paper: #fff; --mark: #2f6fde;
  --good: #1a7f4b; --bad: #b3402a; --soft: #eef2fb; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9f2; --dim: #9aa5bf; --line: #39425a; --paper: #12151d;
  --mark: #7fa8f5; --good: #55c08a; --bad: #ee8a72; --soft: #1d2433; } }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 60rem;
  margin: 0 auto; padding: 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.3rem; } h2 { font-size: 1.05rem; margin: 1.8rem 0 .4rem; } h3 { font-size: 1rem; margin: 1rem 0 0; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: 0; }
dt { color: var(--dim); } dd { margin: 0; }
.said { white-space: pre-wrap; border-left: 3px solid var(--line); padding-left: .8rem; margin: .3rem 0; }
.path { display: flex; flex-wrap: wrap; gap: .3rem; align-items: center; margin: .4rem 0; padding: 0;
  list-style: none; }
.path li { border: 1px solid var(--line); border-radius: .4rem; padding: 0 .5rem; background: var(--soft); }
.path li + li::before { content: "→"; margin-left: -.85rem; padding-right: .6rem; color: var(--dim); }
.path li + li { margin-left: .7rem; }
.path .back { border-style: dashed; color: var(--bad); }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
th, td { text-align: left; padding: .15rem .5rem .15rem 0; vertical-align: top;
  border-bottom: 1px solid var(--line); }
td { overflow-wrap: break-word; } td:last-child { overflow-wrap: anywhere; }
th, td:first-child, .n { white-space: nowrap; }
th { color: var(--dim); font-weight: normal; } .n { text-align: right; font-variant-numeric: tabular-nums; }
.bar { display: block; height: .55rem; margin-top: .45rem; background: var(--mark); border-radius: .2rem;
  min-width: 1px; }
.time { width: 30%; }
@media (max-width: 40rem) { table { font-size: .75rem; } .time { width: 15%; } }
svg { max-width: 100%; height: auto; }
@media print { body { max-width: none; } h2 { break-after: avoid; } tr { break-inside: avoid; } }
"""


def page(trace: Trace) -> str:
    """The page as text; write it as UTF-8."""
    sections = [_facts(trace), *_said(trace), _path(trace), _scores(trace), _judged(trace), _passages(trace)]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>Trace {_text(trace.id[:8])}</title>\n<style>{_STYLE}</style></head>\n<body>\n"
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
            ("cost", f"{cost.seconds:.2f} s, {cost.llm_calls} model calls, {cost.web_requests} web pages read"),
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
    judged = [(number, one.overall) for number, one in enumerate(passes) if one.overall is not None]
    if len(judged) < 2:
        return ""
    step = 520 / max(1, len(passes) - 1)
    points = [(40 + step * number, 110 - 100 * score, score) for number, score in judged]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in points)
    dots = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="var(--mark)"/>'
        f'<text x="{x:.1f}" y="{y - 8:.1f}" font-size="11" text-anchor="middle" fill="var(--ink)">{score:.2f}</text>'
        for x, y, score in points
    )
    axes = '<path d="M40 10V110H570" fill="none" stroke="var(--line)"/>'
    axes += '<text x="28" y="114" font-size="11" fill="var(--dim)">0</text>'
    axes += '<text x="28" y="14" font-size="11" fill="var(--dim)">1</text>'
    label = "quality by pass: " + ", ".join(f"{score:.2f}" for _, score in judged)
    return (
        f'<svg viewBox="0 -12 600 130" width="600" role="img" aria-label="{label}">{axes}'
        f'<polyline points="{line}" fill="none" stroke="var(--mark)" stroke-width="2"/>{dots}</svg>'
    )


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
