"""Systems from names and from grids."""

from pathlib import Path

import pytest

from selfright.domain.errors import UsageError
from selfright.evals.systems import PROFILES, System, from_grid, of_presets
from selfright.flow.presets import PRESETS


def grid(tmp_path: Path, text: str) -> tuple[System, ...]:
    path = tmp_path / "grid.toml"
    path.write_text(text, encoding="utf-8")
    return from_grid(path)


def test_the_profiles_are_presets() -> None:
    assert set(PROFILES) <= set(PRESETS)
    assert [system.preset for system in of_presets(PROFILES)] == list(PROFILES)
    assert of_presets(["full", "full"]) == (System("full", "full"),)


def test_named_systems_come_first_and_then_all_combinations(tmp_path: Path) -> None:
    found = grid(
        tmp_path,
        '[[system]]\nname = "tight"\npreset = "full"\nflags = { quality_threshold = 0.7 }\n'
        '[[system]]\npreset = "crag"\n'
        '[grid]\npreset = ["basic", "full"]\ntop_k = [4, 8]\nclaim_repair_enabled = [true]\n',
    )
    assert [system.name for system in found] == [
        "tight", "crag",
        "basic top_k=4 claim_repair_enabled=true", "basic top_k=8 claim_repair_enabled=true",
        "full top_k=4 claim_repair_enabled=true", "full top_k=8 claim_repair_enabled=true",
    ]  # fmt: skip
    assert found[0] == System("tight", "full", {"quality_threshold": 0.7})
    assert found[5] == System(found[5].name, "full", {"top_k": 8, "claim_repair_enabled": True})


def test_a_grid_without_presets_is_of_the_full_one(tmp_path: Path) -> None:
    assert grid(tmp_path, "[grid]\ntop_k = [4]\n") == (System("full top_k=4", "full", {"top_k": 4}),)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no system in it"),
        ("[grid]\ntop_k = 4\n", "'grid.top_k': expected a list, but got 4"),
        ("[grid]\ntop_k = []\n", "'grid.top_k': expected 1 or more entries"),
        ("[[system]]\nname = 'x'\n", "'system.0.preset': it is missing"),
        ("[[system]]\npreset = 'full'\nflag = 1\n", "'system.0.flag': there is no field of this name"),
        ("[systems]\n", "'systems': there is no field of this name"),
        ("[[system]]\npreset = 'full'\n[[system]]\npreset = 'full'\n", "two systems are called 'full'"),
        ("[grid]\ntop_k = [1,2,3,4,5,6,7,8,9]\nrrf_k = [1,2,3,4,5,6,7,8]\n", "more than 64 systems"),
        ("grid = [", "cannot be read as TOML"),
    ],
)
def test_what_is_no_grid(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        grid(tmp_path, text)
