"""``selfright config``, ``graph`` and ``models``: what is set, and what can be used."""

import asyncio
import dataclasses
import json
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from selfright.cli.commands.options import json_option, set_option, tell, values_of

if TYPE_CHECKING:
    from selfright.evals.models.checking import Limits, Probes
    from selfright.evals.models.report import CheckReport
    from selfright.settings import Settings


@click.command()
@set_option
@json_option
def config(assignments: tuple[str, ...], as_json: bool) -> None:
    """Show the settings and flags in force: file, then environment, then options.

    Flags that are not set (the preset's or the defaults) follow a #.
    """
    from selfright.domain.flags import Flags
    from selfright.flow.presets import find_preset
    from selfright.retrieval.locations import format_location
    from selfright.settings import SETTING_NAMES, load_settings
    from selfright.storage.postgres_address import format_address

    settings = load_settings(values_of(assignments))
    values = {name: getattr(settings, name) for name in SETTING_NAMES}
    values["database"] = format_address(settings.database)  # without passwords
    values["index"] = format_location(settings.index)
    said = settings.explicit_flags
    preset = find_preset(settings.preset)
    flags = dataclasses.asdict(Flags().with_values({**preset.flags, **said}))
    plain = {name: str(value) if isinstance(value, Path) else value for name, value in values.items()}
    lines = [f"{name} = {_toml(value)}" for name, value in plain.items()]
    lines += ["\n[flags]", *(f"{'' if name in said else '# '}{name} = {_toml(value)}" for name, value in flags.items())]
    tell({**plain, "flags": flags}, lines, as_json=as_json)


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key} = {_toml(one)}' for key, one in value.items())}}}"
    return json.dumps("" if value is None else value, ensure_ascii=False)  # in which both are alike


@click.command()
@click.option("--preset", metavar="NAME", help="Which graph to draw; without it, the presets are listed.")
@json_option
def graph(preset: str | None, as_json: bool) -> None:
    """Draw a preset as Mermaid text, from the compiled graph; or list the presets."""
    from selfright.api.selfright import mermaid
    from selfright.flow.presets import PRESETS

    if preset is not None:
        drawing = mermaid(preset)
        tell({"preset": preset, "mermaid": drawing}, [drawing], as_json=as_json)
        return
    width = max(map(len, PRESETS))
    rows = [{"preset": row.name, "summary": row.summary} for row in PRESETS.values()]
    tell(rows, (f"{row['preset']:<{width}}  {row['summary']}" for row in rows), as_json=as_json)


# Tokens of a call as measured over the probe set: prompts in English and Korean, replies of usual length.
_SENT, _RECEIVED = 700, 120


@click.group()
def models() -> None:
    """Check language models."""


@models.command()
@click.argument("name", metavar="NAME")
@click.option("--yes", is_flag=True, help="Start without asking, even if calls cost money.")
@click.option("--items", type=click.IntRange(min=4), help="At most this many questions per job: faster, less certain.")
@click.option("--minutes", type=click.FloatRange(min=0.1), default=20, show_default=True, help="At most this long.")
@set_option
@json_option
def check(name: str, yes: bool, items: int | None, minutes: float, assignments: tuple[str, ...], as_json: bool) -> None:
    """Measure a model job by job, compared with the offline roles.

    NAME is as in the setting llm: openai:gpt-4o-mini, local:smollm2, local:model.gguf. A job ends as soon as its
    answer is clear. The result is stored for that model. With llm_judging=auto, the default, it is then asked only for
    jobs that it passed.
    """
    from selfright.domain.errors import UsageError
    from selfright.evals.models.checking import Limits, plan_calls, probes
    from selfright.llm.structured import FILE, ModelChecks
    from selfright.settings import OFFLINE, load_settings
    from selfright.wiring.models import Models

    found = probes()
    settings = load_settings({**values_of(assignments), "llm": name})
    if settings.llm == OFFLINE:
        raise UsageError("a check needs a model: selfright models check openai:gpt-4o-mini, or local:smollm2")
    Models(settings).close()  # a model that is not there costs nothing
    calls = plan_calls(found, items)
    sent, received = calls * _SENT, calls * _RECEIVED
    click.echo(f"{calls} calls of {name} at most: about {sent:,} tokens to it and {received:,} from it", err=True)
    if not (yes or as_json or name.startswith("local:")):
        _confirm()
    report, seconds = _run_check(settings, found, Limits(items, 60 * minutes))
    stored = _view(report)
    path = ModelChecks(settings.home / FILE).keep(report.model, stored)
    form = {"model": report.model, **stored, "seconds": round(seconds, 1), "stored": str(path)}
    tell(form, [*_lines(report), f"stored in {path}"], as_json=as_json)


def _confirm() -> None:
    """Asks whether to begin. Raises ``UsageError`` where nobody can answer."""
    from selfright.domain.errors import UsageError

    try:
        begins = click.confirm("begin?", default=True, err=True)
    except click.Abort:
        if sys.stdin.isatty():
            raise
        click.echo(err=True)
        raise UsageError("nobody can be asked here whether to begin; add --yes to begin without asking") from None
    if not begins:
        raise click.Abort


def _run_check(settings: "Settings", found: "Probes", limits: "Limits") -> "tuple[CheckReport, float]":
    import time

    from selfright.cli.progress import bar
    from selfright.evals.models.checking import NoWriter, check_model
    from selfright.wiring.examination import open_bench

    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="selfright-check-") as folder:
        documents = Path(folder) / "documents.jsonl"
        rows = [{key: row[key] for key in ("id", "title", "text")} for row in found.documents]
        documents.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), encoding="utf-8")
        apart = settings.with_values({"index": Path(folder) / "index", "llm_judging": "always"})
        with open_bench(apart, documents, NoWriter()) as bench, bar("Asking") as progress:
            report = asyncio.run(check_model(bench, found, progress, limits))
    return report, time.perf_counter() - began


def _view(report: "CheckReport") -> dict[str, Any]:
    from importlib.metadata import version

    jobs = {
        one.job.value: {
            "may": one.may, "why": one.why, "verdict": one.verdict, "score": round(one.score, 4),
            "ours": round(one.own, 4), "usable": round(one.usable, 4), "items": len(one.theirs), "calls": one.calls,
            "seconds": round(one.seconds, 1),
        }
        for one in report.jobs
    }  # fmt: skip
    tokens = {"prompt_tokens": report.prompt_tokens, "completion_tokens": report.completion_tokens}
    made = datetime.now(UTC).strftime("%Y-%m-%d")
    return {"jobs": jobs, **tokens, "made": made, "version": version("selfright")}


def _lines(report: "CheckReport") -> Iterator[str]:
    from selfright.evals.models.report import NOUNS

    width = max(len(noun) for noun in NOUNS.values())
    yield click.style(
        f"{'':{width}} {'items':>6} {'model':>6} {'ours':>6} {'usable':>7} {'s/call':>7}  asked", bold=True
    )
    for one in report.jobs:
        each = one.seconds / one.calls if one.calls else 0.0
        figures = f"{len(one.theirs):6} {one.score:6.2f} {one.own:6.2f} {one.usable:7.0%} {each:7.2f}"
        yield f"{NOUNS[one.job]:{width}} {figures}  {'yes' if one.may else 'no':5} {one.why}"
    yield "'asked': what llm_judging=auto asks it for"
