"""What is measured against one another: presets, the six ablation profiles, or a grid of flags from a TOML file.

And what the seeds expected of the profiles, to stand beside what is measured. These are expectations, not goals and not
results: from "BasicRAG against CorrectiveRAG" (seed 000, section 7) and "static against rewritten query" (seed 003,
section 10). The corrective column of the first is its full loop with rewriting and both guards; the second compares
second passes.
"""

import itertools
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from selfright.domain.errors import UsageError
from selfright.domain.tables import read_table
from selfright.schemas import fault_of

EXPECTED: Mapping[str, tuple[str, Mapping[str, float]]] = {
    profile: (row["source"], row["values"]) for profile, row in read_table(__package__, "systems").items()
}
"""The seeds' values for our metrics by profile, each with where they stand."""

TARGETED_GAIN = 2.0
"""S3 expects the targeted retrieval rate to rise by this share (+200 %) from the static to the rewritten query."""


PROFILES = (
    "baseline",
    "self_refine_heuristic",
    "self_refine_llm_quality",
    "self_refine_dynamic_query",
    "self_refine_full_safety",
    "full_context_engineering",
)
"""S0's ablation, each a preset; from one to the next more is switched on."""

MOST_SYSTEMS = 64
_MOST_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class System:
    """A preset with flags on top, under a name of its own."""

    name: str
    preset: str
    flags: Mapping[str, Any] = field(default_factory=dict)


def of_presets(names: Sequence[str]) -> tuple[System, ...]:
    """Presets by name, each once."""
    return tuple(System(name, name) for name in dict.fromkeys(names))


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")

    preset: str
    flags: dict[str, Any] = {}
    name: str = ""


class _Grid(BaseModel):
    model_config = ConfigDict(extra="forbid")

    system: list[_Entry] = []
    grid: dict[str, Annotated[list[Any], Field(min_length=1)]] = {}


def from_grid(path: Path) -> tuple[System, ...]:
    """The systems of a TOML file: each ``[[system]]`` (name, preset, flags), then all combinations of ``[grid]``.

    Every key of ``[grid]`` is ``preset`` or a flag, its value a list. Raises ``UsageError`` for anything else, for two
    systems of one name, and for more than 64.
    """
    if path.stat().st_size > _MOST_BYTES:
        raise UsageError(f"{path} has {path.stat().st_size:,} bytes; a grid has at most {_MOST_BYTES:,}")
    try:
        table = _Grid.model_validate(tomllib.loads(path.read_text(encoding="utf-8-sig")))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise UsageError(f"{path}: '{place}': {fault_of(first)}; see docs/evaluation.md") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read as TOML: {error}") from None
    named = [System(one.name or _name(one.preset, one.flags), one.preset, one.flags) for one in table.system]
    systems = (*named, *itertools.islice(_combine(table.grid), MOST_SYSTEMS + 1))
    _check(path, systems)
    return systems


def _combine(choices: dict[str, list[Any]]) -> Iterable[System]:
    if not choices:
        return
    choices = {"preset": ["full"], **choices}
    for combination in itertools.product(*choices.values()):
        flags = dict(zip(choices, combination, strict=True))
        preset = str(flags.pop("preset"))
        yield System(_name(preset, flags), preset, flags)


def _name(preset: str, flags: Mapping[str, Any]) -> str:
    said = {key: str(value).lower() if isinstance(value, bool) else value for key, value in flags.items()}
    return " ".join([preset, *(f"{key}={value}" for key, value in said.items())])


def _check(path: Path, systems: Sequence[System]) -> None:
    names = [system.name for system in systems]
    if not systems:
        raise UsageError(f"{path}: no system in it; write [[system]] or [grid]")
    if len(systems) > MOST_SYSTEMS:
        raise UsageError(f"{path}: more than {MOST_SYSTEMS} systems; narrow the grid")
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"{path}: two systems are called '{twice}'; give each a name of its own")
