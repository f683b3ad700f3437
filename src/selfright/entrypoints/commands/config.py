"""``selfright config``, ``graph`` and ``models``: what is set, and what can be used."""

import asyncio
import dataclasses
import json
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from selfright.entrypoints.commands.options import json_option, print_json, set_option, values_of

if TYPE_CHECKING:
    from selfright.evals.models.checking import Probes
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
    from selfright.settings import SETTING_NAMES, load_settings

    settings = load_settings(values_of(assignments))
    values = {name: getattr(settings, name) for name in SETTING_NAMES}
    values["database"] = settings.shown_database
    values["index"] = settings.shown_index
    said = settings.flags_said
    preset = find_preset(settings.preset)
    flags = dataclasses.asdict(Flags().with_values({**preset.flags, **said}))
    plain = {name: str(value) if isinstance(value, Path) else value for name, value in values.items()}
    if as_json:
        print_json({**plain, "flags": flags})
        return
    for name, value in plain.items():
        click.echo(f"{name} = {_toml(value)}")
    click.echo("\n[flags]")
    for name, value in flags.items():
        click.echo(f"{'' if name in said else '# '}{name} = {_toml(value)}")


def _toml(value: object) -> str:
    if value is None:
        return '""'
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key} = {_toml(one)}' for key, one in value.items())}}}"
    return str(value).lower() if isinstance(value, bool) else f'"{value}"' if isinstance(value, str) else str(value)


@click.command()
@click.option("--preset", metavar="NAME", help="Which graph to draw; without it, the presets are listed.")
@json_option
def graph(preset: str | None, as_json: bool) -> None:
    """Draw a preset as Mermaid text, from the compiled graph; or list the presets."""
    from selfright.api import mermaid
    from selfright.flow.presets import PRESETS

    if preset is not None:
        drawing = mermaid(preset)
        if as_json:
            print_json({"preset": preset, "mermaid": drawing})
        else:
            click.echo(drawing)
    elif as_json:
        print_json([{"preset": row.name, "summary": row.summary} for row in PRESETS.values()])
    else:
        width = max(map(len, PRESETS))
        for row in PRESETS.values():
            click.echo(f"{row.name:<{width}}  {row.summary}")


# Tokens of a call as measured over the probe set: prompts in English and Korean, replies of usual length.
_SENT, _RECEIVED = 700, 120


@click.group()
def models() -> None:
    """Check language models."""


@models.command()
@click.argument("name", metavar="NAME")
@click.option("--yes", is_flag=True, help="Start without asking, even if calls cost money.")
@click.option("--items", type=click.IntRange(min=4), help="At most this many questions per job: faster, less certain.")
@set_option
@json_option
def check(name: str, yes: bool, items: int | None, assignments: tuple[str, ...], as_json: bool) -> None:
    """Measure a model job by job, compared with the offline roles.

    NAME is as in the setting llm: openai:gpt-4o-mini, local:smollm2, local:model.gguf. The result is stored for that
    model. With llm_judging=auto, the default, it is then asked only for jobs that it passed.
    """
    from selfright.assembly.models import Models
    from selfright.domain.errors import UsageError
    from selfright.evals.models.checking import planned_calls, probes
    from selfright.settings import OFFLINE, load_settings

    found = probes()
    settings = load_settings({**values_of(assignments), "llm": name})
    if settings.llm == OFFLINE:
        raise UsageError("a check needs a model: selfright models check openai:gpt-4o-mini, or local:smollm2")
    Models(settings).close()  # a model that is not there costs nothing
    _say_what_it_costs(name, planned_calls(found, items), ask=not (yes or as_json or name.startswith("local:")))
    report, seconds = _checked(settings, found, items)
    stored = _stored(report)
    path = _kept(settings, report.model, stored)
    if as_json:
        print_json({"model": report.model, **stored, "seconds": round(seconds, 1), "stored": str(path)})
        return
    _print(report)
    click.echo(f"stored in {path}")


def _say_what_it_costs(name: str, calls: int, *, ask: bool) -> None:
    told = f"{calls} calls of {name}: about {calls * _SENT:,} tokens to it and {calls * _RECEIVED:,} from it"
    click.echo(told, err=True)
    if ask:
        click.confirm("begin?", default=True, abort=True, err=True)


def _checked(settings: "Settings", found: "Probes", items: int | None) -> "tuple[CheckReport, float]":
    import time

    from selfright.assembly.examining import open_bench
    from selfright.entrypoints.progress import bar
    from selfright.evals.models.checking import NoWriter, check_model

    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="selfright-check-") as folder:
        documents = Path(folder) / "documents.jsonl"
        rows = [{key: row[key] for key in ("id", "title", "text")} for row in found.documents]
        documents.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), encoding="utf-8")
        apart = settings.with_values({"index": Path(folder) / "index", "llm_judging": "always"})
        with open_bench(apart, documents, NoWriter()) as bench, bar("Asking") as progress:
            report = asyncio.run(
                check_model(bench, found, lambda done, *, total, before: progress(before + done, total, ""), items)
            )
    return report, time.perf_counter() - began


def _stored(report: "CheckReport") -> dict[str, Any]:
    from importlib.metadata import version

    jobs = {
        one.job.value: {
            "may": one.may,
            "verdict": one.verdict,
            "score": round(one.score, 4),
            "ours": round(one.own, 4),
            "usable": round(one.usable, 4),
            "items": len(one.theirs),
            "calls": one.calls,
            "seconds": round(one.seconds, 1),
        }
        for one in report.jobs
    }
    tokens = {"prompt_tokens": report.prompt_tokens, "completion_tokens": report.completion_tokens}
    made = datetime.now(UTC).strftime("%Y-%m-%d")
    return {"jobs": jobs, "words": list(report.words()), **tokens, "made": made, "version": version("selfright")}


def _kept(settings: "Settings", model: str, stored: Mapping[str, Any]) -> Path:
    from selfright.llm.checks import FILE, ModelChecks

    return ModelChecks(settings.home / FILE).keep(model, stored)


def _print(report: "CheckReport") -> None:
    from selfright.evals.models.report import NOUNS

    width = max(len(noun) for noun in NOUNS.values())
    click.secho(f"{'':{width}} {'items':>6} {'model':>6} {'ours':>6} {'usable':>7} {'s/call':>7}", bold=True)
    for one in report.jobs:
        each = one.seconds / one.calls if one.calls else 0.0
        figures = f"{len(one.theirs):6} {one.score:6.2f} {one.own:6.2f} {one.usable:7.0%} {each:7.2f}"
        click.echo(f"{NOUNS[one.job]:{width}} {figures}")
    for sentence in report.words():
        click.echo(sentence)
