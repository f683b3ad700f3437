"""Every knob, typed, frozen, grouped by room: from ``selfright.toml``, then ``SELFRIGHT_*`` variables, then options.

The last one wins. An unknown name is refused with the nearest valid one; nothing is silently ignored.
"""

import dataclasses
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import platformdirs

from selfright.domain.errors import SettingsError, UnknownName
from selfright.domain.flags import Flags

DEFAULT_INDEX = Path(".selfright/index")
FILE_NAME = "selfright.toml"
PREFIX = "SELFRIGHT_"
MAX_FILE_BYTES = 1_000_000

WEB_PROVIDERS = ("none", "static")
EMBEDDERS = ("auto", "minilm", "none")
MODELS = ("offline",)


def default_home() -> Path:
    """Where sessions, profiles, traces and caches live unless ``SELFRIGHT_HOME`` says otherwise."""
    return Path(platformdirs.user_data_dir("selfright", appauthor=False))


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of one Selfright.

    ``embedder``: ``auto`` uses the embedded English encoder when its weights are installed. ``web_provider`` with
    ``web_folder``: ``static`` reads a local folder as the web. ``lexicon``: a file of names in Korean and English.
    ``embedding_cache``: bytes of vectors kept for other indexes, 0 for none.
    """

    index: Path = DEFAULT_INDEX
    home: Path = field(default_factory=default_home)
    preset: str = "full"
    llm: str = "offline"
    embedder: str = "auto"
    web_provider: str = "none"
    web_folder: Path | None = None
    lexicon: Path | None = None
    embedding_cache: int = 1_000_000_000
    flags: Flags = field(default_factory=Flags)

    def __post_init__(self) -> None:
        for name, valid in (("llm", MODELS), ("embedder", EMBEDDERS), ("web_provider", WEB_PROVIDERS)):
            if getattr(self, name) not in valid:
                raise UnknownName(f"value of setting '{name}':", getattr(self, name), valid)
        if self.embedding_cache < 0:
            raise SettingsError(f"embedding_cache is a number of bytes, 0 for none, but is {self.embedding_cache}")
        if self.web_provider == "static" and self.web_folder is None:
            raise SettingsError("web_provider 'static' needs web_folder: the folder that plays the web")

    def with_values(self, values: Mapping[str, object]) -> "Settings":
        """A copy with settings and flags changed by name; values may be text.

        Raises ``UnknownName`` for a name that is neither, and ``UsageError`` for a flag's value of the wrong kind.
        """
        settings: dict[str, Any] = {}
        flags: dict[str, object] = {}
        for name, value in values.items():
            if name in SETTING_NAMES:
                settings[name] = _setting(name, value)
            elif name in FLAG_NAMES:
                flags[name] = value
            else:
                raise UnknownName("setting", name, (*SETTING_NAMES, *FLAG_NAMES))
        return dataclasses.replace(self, flags=self.flags.with_values(flags), **settings)


FLAG_NAMES = tuple(f.name for f in dataclasses.fields(Flags))
SETTING_NAMES = tuple(f.name for f in dataclasses.fields(Settings) if f.name != "flags")
_PATHS = ("index", "home", "web_folder", "lexicon")
_NUMBERS = ("embedding_cache",)


def _setting(name: str, value: object) -> Path | int | str:
    if name in _PATHS:
        return Path(str(value)).expanduser()
    if name not in _NUMBERS:
        return str(value)
    try:
        return int(str(value))
    except ValueError:
        raise SettingsError(f"setting '{name}' is a whole number, but is '{value}'") from None


def load_settings(
    options: Mapping[str, object] | None = None,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Settings:
    """Settings from the file in ``folder`` (default: here), then the environment, then ``options``."""
    settings = Settings()
    for values in (_from_file((folder or Path()) / FILE_NAME), _from_environment(environment), options or {}):
        settings = settings.with_values(values)
    return settings


def _from_file(path: Path) -> dict[str, object]:
    if not path.is_file():
        return {}
    if path.stat().st_size > MAX_FILE_BYTES:
        raise SettingsError(f"{path} has {path.stat().st_size:,} bytes; a settings file has at most {MAX_FILE_BYTES:,}")
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise SettingsError(f"{path} cannot be read as TOML: {error}") from None
    flags = table.pop("flags", {})
    if not isinstance(flags, dict):
        raise SettingsError(f"{path}: [flags] must be a table of flag = value")
    return {**table, **flags}


def _from_environment(environment: Mapping[str, str] | None) -> dict[str, object]:
    variables = os.environ if environment is None else environment
    given = {name[len(PREFIX) :].lower(): value for name, value in variables.items() if name.startswith(PREFIX)}
    return {name: value for name, value in given.items() if value}
