"""Settings: file, then environment, then options; unknown names are refused."""

import re
import sys
from pathlib import Path

import pytest

from selfright.domain.errors import SelfrightError, SettingsError, UnknownName, UsageError
from selfright.evals.systems import from_grid
from selfright.settings import SETTING_NAMES, Settings, default_home, load_settings

REPOSITORY = Path(__file__).parents[2]
READ_BY_PEOPLE = ("docs", "deploy", "src", "README.md", "README.ko.md")


@pytest.mark.parametrize(
    ("system", "variables", "folder"),
    [
        ("linux", {}, "/u/ana/.local/share/selfright"),
        ("linux", {"XDG_DATA_HOME": "/data"}, "/data/selfright"),
        ("linux", {"XDG_DATA_HOME": "data"}, "/u/ana/.local/share/selfright"),
        ("darwin", {}, "/u/ana/Library/Application Support/selfright"),
        ("darwin", {"XDG_DATA_HOME": "/data"}, "/data/selfright"),
        ("win32", {}, "/u/ana/AppData/Local/selfright"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/selfright"),
    ],
)
def test_the_home_folder_is_where_the_system_keeps_data(
    system: str, variables: dict[str, str], folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": "/u/ana", **variables}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", system)
    assert default_home() == Path(folder)


def test_the_last_source_wins(tmp_path: Path) -> None:
    (tmp_path / "selfright.toml").write_text('preset = "crag"\n[flags]\ntop_k = 3\nrrf_k = 30\n', encoding="utf-8")
    environment = {"SELFRIGHT_TOP_K": "4", "SELFRIGHT_INDEX": "from-env", "OTHER": "x"}
    settings = load_settings({"index": "from-option"}, environment, tmp_path)
    assert settings.preset == "crag"
    assert settings.flags.rrf_k == 30
    assert settings.flags.top_k == 4
    assert settings.index == Path("from-option")


@pytest.mark.parametrize(
    ("values", "environment", "error", "hint"),
    [
        ({"top_kk": 1}, {}, UnknownName, "did you mean 'top_k'"),
        ({"llm": "ofline"}, {}, UnknownName, "did you mean 'offline'"),
        ({"embedder": "nnone"}, {}, UnknownName, "did you mean 'none'"),
        ({}, {"SELFRIGHT_TOPK": "3"}, UnknownName, "top_k"),
        ({"top_k": "many"}, {}, UsageError, "whole number"),
        ({"web_provider": "static"}, {}, SettingsError, "web_folder"),
    ],
)
def test_what_is_no_setting_is_refused_with_what_would_be(
    values: dict[str, object], environment: dict[str, str], error: type[SelfrightError], hint: str
) -> None:
    with pytest.raises(error, match=hint):
        load_settings(values, environment, Path("/nonexistent"))


@pytest.mark.parametrize(
    ("content", "error", "hint"),
    [
        (b"preset = ", SettingsError, "cannot be read as TOML"),
        ('preset = "crag"'.encode("utf-16"), SettingsError, "save it as UTF-8"),
        (b"[flag]\ntop_k = 5\n", UnknownName, "unknown table 'flag': did you mean 'flags'"),
    ],
)
def test_a_file_that_cannot_be_used_is_one_clear_error(
    tmp_path: Path, content: bytes, error: type[SelfrightError], hint: str
) -> None:
    (tmp_path / "selfright.toml").write_bytes(content)
    with pytest.raises(error, match=hint):
        load_settings({}, {}, tmp_path)


def named_variables() -> set[str]:
    """Every variable of ours that the documentation, the files to deploy with, or the code name."""
    files = [path for name in READ_BY_PEOPLE for path in [REPOSITORY / name, *(REPOSITORY / name).rglob("*.*")]]
    texts = [path.read_text("utf-8", "ignore") for path in files if path.is_file() and path.suffix != ".pyc"]
    return {name for text in texts for name in re.findall(r"SELFRIGHT_[A-Z][A-Z_]*[A-Z]", text)}


def test_every_variable_that_is_named_anywhere_is_accepted() -> None:
    named = named_variables()
    assert {"SELFRIGHT_INDEX", "SELFRIGHT_API_KEY", "SELFRIGHT_UI_SERVICE"} <= named
    plain = Settings()
    for name in sorted(named):
        setting = name.removeprefix("SELFRIGHT_").lower()
        value = getattr(plain, setting, "x") if setting in SETTING_NAMES else getattr(plain.flags, setting, "x")
        load_settings({}, {name: str(value or "")}, Path("/nonexistent"))


def test_what_kubernetes_puts_beside_a_service_of_our_name_is_no_setting() -> None:
    linked = {
        "SELFRIGHT_SERVICE_HOST": "10.0.0.1",
        "SELFRIGHT_SERVICE_PORT": "8000",
        "SELFRIGHT_SERVICE_PORT_HTTP": "8000",
        "SELFRIGHT_PORT": "tcp://10.0.0.1:8000",
        "SELFRIGHT_PORT_8000_TCP": "tcp://10.0.0.1:8000",
        "SELFRIGHT_PORT_8000_TCP_ADDR": "10.0.0.1",
    }
    assert load_settings({}, linked, Path("/nonexistent")) == load_settings({}, {}, Path("/nonexistent"))


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    """Some editors write one before UTF-8."""
    files = {
        "selfright.toml": 'preset = "crag"\n',
        "grid.toml": '[grid]\npreset = ["crag"]\n',
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8-sig")
    assert load_settings({}, {}, tmp_path).preset == "crag"
    assert [system.preset for system in from_grid(tmp_path / "grid.toml")] == ["crag"]
