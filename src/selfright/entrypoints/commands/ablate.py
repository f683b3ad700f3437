"""``selfright ablate``."""

from pathlib import Path
from typing import Any

import click

from selfright.entrypoints.commands.eval import (
    budget_option,
    format_option,
    judge_option,
    limit_option,
    measure_answers,
    no_texts_option,
    out_option,
    own_option,
    ray_option,
    seed_option,
    workers_option,
)
from selfright.entrypoints.commands.options import index_option, json_option, set_option


@click.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--profiles", metavar="NAMES", help="Presets, with commas between [default: the six of the ablation].")
@click.option("--grid", type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="FILE.toml",
              help="Your own systems, or all combinations of some flags, instead.")  # fmt: skip
@index_option
@own_option
@format_option
@out_option
@judge_option
@limit_option
@seed_option
@workers_option
@ray_option
@budget_option
@no_texts_option
@set_option
@json_option
def ablate(profiles: str | None, grid: Path | None, **options: Any) -> int:
    """Ask the questions of FILE under each profile, from the baseline up, and compare the steps.

    With --out, every answer is saved at once: run the same command again to resume.
    """
    from selfright.domain.errors import UsageError
    from selfright.evals.systems import PROFILES, from_grid, of_presets

    if profiles and grid:
        raise UsageError("--profiles names presets and --grid a file of systems; give one of them")
    names = [name.strip() for name in (profiles or "").split(",") if name.strip()]
    systems = from_grid(grid) if grid else of_presets(names or PROFILES)
    return measure_answers("ablation", systems, **options)
