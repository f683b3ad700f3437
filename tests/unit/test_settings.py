"""Settings: file, then environment, then options; unknown names are refused."""

from pathlib import Path

import pytest

from selfright.domain.errors import SettingsError, UnknownName, UsageError
from selfright.settings import load_settings


def test_the_last_source_wins(tmp_path: Path) -> None:
    (tmp_path / "selfright.toml").write_text('preset = "crag"\n[flags]\ntop_k = 3\nrrf_k = 30\n', encoding="utf-8")
    environment = {"SELFRIGHT_TOP_K": "4", "SELFRIGHT_INDEX": "from-env", "OTHER": "x"}
    settings = load_settings({"index": "from-option"}, environment, tmp_path)
    assert settings.preset == "crag"
    assert settings.flags.rrf_k == 30
    assert settings.flags.top_k == 4
    assert settings.index == Path("from-option")


@pytest.mark.parametrize(
    ("values", "hint"),
    [
        ({"top_kk": 1}, "did you mean 'top_k'"),
        ({"llm": "ofline"}, "did you mean 'offline'"),
        ({"embedder": "minilmm"}, "did you mean 'minilm'"),
    ],
)
def test_unknown_names_and_values_name_the_nearest(values: dict[str, object], hint: str) -> None:
    with pytest.raises(UnknownName, match=hint):
        load_settings(values, {}, Path("/nonexistent"))


def test_a_misspelt_variable_is_refused_too() -> None:
    with pytest.raises(UnknownName, match="top_k"):
        load_settings({}, {"SELFRIGHT_TOPK": "3"}, Path("/nonexistent"))


def test_a_value_of_the_wrong_kind_is_refused() -> None:
    with pytest.raises(UsageError, match="whole number"):
        load_settings({"top_k": "many"}, {}, Path("/nonexistent"))


def test_broken_toml_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "selfright.toml").write_text("preset = ", encoding="utf-8")
    with pytest.raises(SettingsError, match="cannot be read as TOML"):
        load_settings({}, {}, tmp_path)


def test_a_static_web_needs_its_folder() -> None:
    with pytest.raises(SettingsError, match="web_folder"):
        load_settings({"web_provider": "static"}, {}, Path("/nonexistent"))
