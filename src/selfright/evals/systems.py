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
from typing import Any

from selfright.domain.errors import UsageError


@dataclass(frozen=True, slots=True)
class Expected:
    """The seed's ``value`` for a metric of ours under a profile of ours, and where it stands."""

    profile: str
    metric: str
    value: float
    source: str


_S0 = "S0 section 7"
_S3 = "S3 section 10"
_SECOND_PASS = ("second_pass_precision", "second_pass_recall", "second_pass_quality")

EXPECTED: Sequence[Expected] = tuple(
    Expected(profile, metric, value, source)
    for profile, source, values in (
        ("baseline", _S0, {"quality": 0.52, "grounding": 0.40, "iterations": 1.0, "llm_calls": 1.5}),
        (
            "self_refine_full_safety",
            _S0,
            {"quality": 0.78, "grounding": 0.85, "iterations": 1.9, "llm_calls": 2.6, "infinite_loop_rate": 0.0},
        ),
        ("self_refine_llm_quality", _S3, dict(zip(_SECOND_PASS, (0.45, 0.50, 0.58), strict=True))),
        ("self_refine_dynamic_query", _S3, dict(zip(_SECOND_PASS, (0.72, 0.68, 0.78), strict=True))),
    )
    for metric, value in values.items()
)

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
_KEYS = ("system", "grid")


@dataclass(frozen=True, slots=True)
class System:
    """A preset with flags on top, under a name of its own."""

    name: str
    preset: str
    flags: Mapping[str, Any] = field(default_factory=dict)


def of_presets(names: Sequence[str]) -> tuple[System, ...]:
    """Presets by name, each once."""
    return tuple(System(name, name) for name in dict.fromkeys(names))


def from_grid(path: Path) -> tuple[System, ...]:
    """The systems of a TOML file: each ``[[system]]`` (name, preset, flags), then all combinations of ``[grid]``.

    Every key of ``[grid]`` is ``preset`` or a flag, its value a list. Raises ``UsageError`` for anything else, for two
    systems of one name, and for more than 64.
    """
    table = _read(path)
    if unknown := [key for key in table if key not in _KEYS]:
        raise UsageError(
            f"{path}: a grid has [[system]] and [grid], but '{unknown[0]}' was found; see docs/evaluation.md"
        )
    named = [_system(path, entry) for entry in _list(path, "system", table.get("system", []))]
    systems = (*named, *itertools.islice(_combine(path, table.get("grid", {})), MOST_SYSTEMS + 1))
    _check(path, systems)
    return systems


def _read(path: Path) -> dict[str, Any]:
    if path.stat().st_size > _MOST_BYTES:
        raise UsageError(f"{path} has {path.stat().st_size:,} bytes; a grid has at most {_MOST_BYTES:,}")
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read as TOML: {error}") from None


def _system(path: Path, entry: Any) -> System:
    if not isinstance(entry, dict) or not isinstance(entry.get("preset"), str):
        raise UsageError(f'{path}: a [[system]] needs preset = "NAME"; flags = {{...}} and name = "..." may follow')
    if unknown := [key for key in entry if key not in ("name", "preset", "flags")]:
        raise UsageError(f"{path}: a [[system]] has name, preset and flags, but '{unknown[0]}' was found")
    flags = entry.get("flags", {})
    if not isinstance(flags, dict):
        raise UsageError(f"{path}: flags = {{ name = value }} was expected in a [[system]]")
    return System(str(entry.get("name") or _name(entry["preset"], flags)), entry["preset"], flags)


def _combine(path: Path, grid: Any) -> Iterable[System]:
    if not isinstance(grid, dict):
        raise UsageError(f"{path}: [grid] is a table of flag = [values]")
    choices = {key: _list(path, key, values) for key, values in grid.items()}
    if not choices:
        return
    choices.setdefault("preset", ["full"])
    for combination in itertools.product(*choices.values()):
        flags = dict(zip(choices, combination, strict=True))
        preset = str(flags.pop("preset"))
        yield System(_name(preset, flags), preset, flags)


def _name(preset: str, flags: Mapping[str, Any]) -> str:
    said = {key: str(value).lower() if isinstance(value, bool) else value for key, value in flags.items()}
    return " ".join([preset, *(f"{key}={value}" for key, value in said.items())])


def _list(path: Path, key: str, value: Any) -> list[Any]:
    if not isinstance(value, list) or (key != "system" and not value):
        raise UsageError(f"{path}: '{key}' must be a list with something in it")
    return value


def _check(path: Path, systems: Sequence[System]) -> None:
    names = [system.name for system in systems]
    if not systems:
        raise UsageError(f"{path}: no system in it; write [[system]] or [grid]")
    if len(systems) > MOST_SYSTEMS:
        raise UsageError(f"{path}: more than {MOST_SYSTEMS} systems; narrow the grid")
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"{path}: two systems are called '{twice}'; give each a name of its own")
