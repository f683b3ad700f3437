"""What a user says wins over a preset, and a preset over a default, also where two of them are equal in value."""

import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from selfright import Selfright
from selfright.domain.errors import UsageError
from selfright.domain.flags import Flags
from selfright.flow.presets import PRESETS
from selfright.settings import Settings, load_settings
from tests.functional.conftest import Cli

DEFAULTS = {field.name: field.default for field in fields(Flags)}
NEED_MORE = ("medcat2_enabled", "llm_slots_enabled")  # a model, without which saying yes is refused


def another(name: str) -> Any:
    """A value that is not the default, and is allowed beside all defaults."""
    default, kind = DEFAULTS[name], get_type_hints(Flags)[name]
    if name == "refine_strategy":
        return "basic_rag"
    if get_args(kind):
        return next(choice for choice in get_args(kind) if choice != default)
    if isinstance(default, bool):
        return not default
    return default + 1 if isinstance(default, int) else 0.9 if default <= 1 else default + 1


def flags_of(tmp_path: Path, preset: str, **said: Any) -> Flags:
    with Selfright.open(tmp_path / "index", home=tmp_path / "home", preset=preset, **said) as selfright:
        return selfright.flags()


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("name", DEFAULTS)
def test_a_flag_that_is_said_holds_in_every_preset(name: str, preset: str, tmp_path: Path) -> None:
    assert getattr(flags_of(tmp_path, preset, **{name: DEFAULTS[name]}), name) == DEFAULTS[name]
    if name in NEED_MORE:
        with pytest.raises(UsageError, match=name):
            flags_of(tmp_path, preset, **{name: True})
    else:
        assert getattr(flags_of(tmp_path, preset, **{name: another(name)}), name) == another(name)
    with Selfright.open(tmp_path / "index", home=tmp_path / "home") as selfright:
        assert getattr(selfright.flags(preset, {name: DEFAULTS[name]}), name) == DEFAULTS[name]


@pytest.mark.parametrize(
    ("said", "lacking", "there"),
    [
        ({"medcat2_enabled": True}, ["pack=medical", "medcat_pack="], ["llm"]),
        ({"medcat2_enabled": True, "pack": "medical"}, ["medcat_pack="], ["pack=medical"]),
        ({"llm_slots_enabled": True, "pack": "medical"}, ["set llm"], ["pack=medical", "medcat"]),
    ],
)
def test_a_flag_that_needs_more_says_what_is_not_there(
    tmp_path: Path, said: dict[str, Any], lacking: list[str], there: list[str]
) -> None:
    with pytest.raises(UsageError) as error:
        flags_of(tmp_path, "full", **said)
    assert all(what in str(error.value) for what in lacking)
    assert not any(what in str(error.value) for what in there)


@pytest.mark.parametrize("preset", PRESETS)
def test_what_nobody_says_is_the_presets_or_the_default(preset: str, tmp_path: Path) -> None:
    assert flags_of(tmp_path, preset) == Flags().with_values(PRESETS[preset].flags)


def test_a_variable_and_a_file_are_said_too(tmp_path: Path) -> None:
    (tmp_path / "selfright.toml").write_text("[flags]\nmax_retries = 2\n", encoding="utf-8")
    assert load_settings(environment={}, folder=tmp_path).explicit_flags == {"max_refine_iterations": 2}
    said = load_settings({"top_k": "8"}, {"SELFRIGHT_MIN_IMPROVEMENT": "0.05"}, tmp_path).explicit_flags
    assert said == {"max_refine_iterations": 2, "top_k": 8, "min_improvement": 0.05}
    assert Settings(flags=Flags(top_k=3)).explicit_flags == {"top_k": 3}
    assert Settings().explicit_flags == {}


@pytest.mark.parametrize("preset", ["full", "self_correcting", "self_refine"])
@pytest.mark.parametrize("limit", ["max_refine_iterations", "max_retries"])
def test_the_limit_that_is_said_is_the_limit(preset: str, limit: str, tmp_path: Path) -> None:
    """Passes and retries count the same: the flag has two names."""
    for most in (0, 1, 2, 5, 20):
        assert flags_of(tmp_path, preset, **{limit: most}).max_refine_iterations == most
    other = {"max_refine_iterations": "max_retries", "max_retries": "max_refine_iterations"}[limit]
    with Selfright.open(tmp_path / "index", home=tmp_path / "home", **{other: 7}) as selfright:
        assert selfright.flags(preset, {limit: 3}).max_refine_iterations == 3  # the call is nearer than the settings


def test_config_gives_out_only_what_was_said_as_said(cli: Cli) -> None:
    printed = cli("config", "--set", "preset=self_refine", "--set", "max_retries=2").out
    assert tomllib.loads(printed)["flags"] == {"max_refine_iterations": 2}
    assert "# top_k = 8" in printed
