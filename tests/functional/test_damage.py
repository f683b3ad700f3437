"""Whatever happens to a file of an index, no wrong answer comes out in silence: all files, one sort of harm each.

``benchmarks/damage.py`` tries every harm on every file; here each file gets some, so that all kinds come up.
"""

import itertools
import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("a process kills itself by a signal here", allow_module_level=True)

from tests.support.crashing import copied, isolated
from tests.support.damaging import GOOD, MAKERS, Damage, Told, ask, damages, judge, make_killed
from tests.support.repairing import judge_repair

_STRIDE = 9  # of the harms that the benchmark does, one in so many is tried here


@pytest.mark.parametrize(("name", "make"), MAKERS)
def test_a_damaged_file_is_made_anew_or_named(name: str, make, tmp_path: Path) -> None:
    make(tmp_path / name)
    expected, died = isolated(ask, copied(tmp_path / name, tmp_path / "sound"))
    assert isinstance(expected, Told), died
    tried = 0
    for damage in itertools.islice(damages(tmp_path / name, flips=2), 0, None, _STRIDE):
        verdict = judge(copied(tmp_path / name, tmp_path / "harmed"), damage, expected)
        tried += verdict is not None
        assert verdict is None or verdict.outcome in GOOD, f"{damage}: {verdict}"
        if damage.file.startswith(("lexical", "dense")):  # the catalogue and the vectors have unused space
            assert verdict is None or not verdict.unnoticed, f"{damage}: verify says nothing of it"
    assert tried >= 10


@pytest.mark.parametrize("quietly", [False, True])
def test_a_flipped_bit_in_each_file_of_the_truth_is_no_other_truth(tmp_path: Path, quietly: bool) -> None:
    make = dict(MAKERS)["killed"]
    make(tmp_path / "index")
    expected, _ = isolated(ask, copied(tmp_path / "index", tmp_path / "sound"))
    truth = [path for path in (tmp_path / "index").rglob("*") if path.name.startswith(("catalogue", "rows"))]
    assert len(truth) >= 3
    for seed, path in enumerate(sorted(truth)):
        damage = Damage(str(path.relative_to(tmp_path / "index")), "a flipped bit", seed, quietly)
        verdict = judge(copied(tmp_path / "index", tmp_path / "harmed"), damage, expected)
        assert verdict is None or verdict.outcome in GOOD, f"{damage}: {verdict}"


@pytest.mark.parametrize(
    "file", ["catalogue.sqlite", "catalogue.sqlite-wal", "vectors/rows-", "lexical/state.json", "dense/tail-"]
)
@pytest.mark.parametrize("scar", ["emptied", "zeroed within"])
def test_a_repair_loses_nothing_without_a_word(tmp_path: Path, file: str, scar: str) -> None:
    make_killed(tmp_path / "index")
    expected, _ = isolated(ask, copied(tmp_path / "index", tmp_path / "sound"))
    (path,) = (tmp_path / "index").glob(f"{file}*" if file.endswith("-") else file)
    damage = Damage(str(path.relative_to(tmp_path / "index")), scar)
    assert judge_repair(tmp_path / "index", damage, expected) is None
