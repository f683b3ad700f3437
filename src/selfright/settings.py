"""All settings: from ``selfright.toml``, then ``SELFRIGHT_*`` variables, then options.

Later ones override earlier ones. An unknown name is an error that suggests the nearest valid one.
"""

import dataclasses
import os
import re
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, get_args

from selfright.domain.chat import Job
from selfright.domain.errors import SettingsError, UnknownName
from selfright.domain.flags import ABOVE_ZERO, OTHER_NAMES, Flags, OptionSchema, amount
from selfright.domain.packs import GENERAL, installed_packs
from selfright.domain.traces import TRACE_KINDS, TraceKind
from selfright.retrieval.locations import is_address
from selfright.storage.postgres_address import read_address

DEFAULT_INDEX = Path(".selfright/index")
FILE_NAME = "selfright.toml"
PREFIX = "SELFRIGHT_"
MAX_FILE_BYTES = 1_000_000

WEB_PROVIDERS = ("none", "static", "tavily", "brave", "searxng", "duckduckgo")
EMBEDDERS = ("e5", "none")
OFFLINE = "offline"
# Variables of the web page, and those that Kubernetes sets for a service called "selfright".
_NO_SETTINGS = re.compile(r"api_key|ui_(service|reports)|service_(host|port(_\w+)?)|port(_\d+_(tcp|udp|sctp)(_\w+)?)?")


def default_home() -> Path:
    """The default folder of sessions, profiles, traces and caches; ``SELFRIGHT_HOME`` overrides it."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif os.path.isabs(given := os.environ.get("XDG_DATA_HOME", "")):
        base = Path(given)
    else:
        base = Path.home() / ("Library/Application Support" if sys.platform == "darwin" else ".local/share")
    return base / "selfright"


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of one Selfright.

    ``index``: a folder, or the address of an index on a server: ``milvus://host:19530/name``,
    ``postgresql://user@host/database?schema=name``.
    ``llm``: ``offline``, or ``provider:model``; ``base_url``: the address of an OpenAI-compatible server.
    ``models``: other models for some jobs, ``{"evaluate": "openai:gpt-4o-mini"}``. ``llm_timeout_s``: seconds for one
    attempt of a call; ``llm_attempts``: attempts per call.
    ``embedder``: ``e5``, the encoder that ships; ``none`` searches by words only; or ``provider:model``.
    ``web_provider``: several names, separated by commas, in fallback order; ``static`` uses ``web_folder`` as the web.
    ``web_base_url``: a provider's address (``searxng=http://…`` if there are several). ``web_allow``: private hosts
    that may be fetched.
    ``pack``: the field it specialises in: ``none``, an installed pack by name, or a custom ``module:attribute``.
    ``medcat_pack``: a MedCAT 2 model pack (folder or .zip), used if the flag ``medcat2_enabled`` is on.
    ``serve_turns``: turns that the service runs at once; ``serve_queue``: how many more may wait;
    ``serve_rate``: requests per minute and key; ``serve_upload_bytes``: most bytes of an upload; ``serve_hosts``:
    allowed Host headers.
    ``database``: ``postgresql://user@host/database?schema=name`` stores sessions, profiles, traces and API keys for
    several machines; if empty, they are in files under ``home``. The password may be in PGPASSWORD.
    ``passage_judge``, ``claim_judge``: a cross-encoder for questions and passages, and an entailment model for claims
    and evidence: folders of models. None uses only the shipped judges.
    ``traces``: what is stored of turns: ``off``, ``outline`` (no content) or ``full``. ``otel``: sends spans, without
    content unless ``otel_content`` is on.
    ``explicit``: the names of flags that the user set; they override the preset's, even if they equal a default.
    """

    index: Path | str = field(default=DEFAULT_INDEX, repr=False)  # it may hold a password
    home: Path = field(default_factory=default_home)
    database: str = field(default="", repr=False)  # it may hold a password
    preset: str = "full"
    llm: str = OFFLINE
    base_url: str | None = None
    models: Mapping[str, str] = field(default_factory=dict)
    llm_timeout_s: Annotated[float, ABOVE_ZERO] = 60.0
    llm_attempts: Annotated[int, ABOVE_ZERO] = 3
    embedder: str = "e5"
    passage_judge: str | None = None
    claim_judge: str | None = None
    web_provider: str = "none"
    web_folder: Path | None = None
    web_base_url: str | None = None
    web_allow: tuple[str, ...] = ()
    pack: str = "none"
    medcat_pack: Path | None = None
    session_turns: Annotated[int, ABOVE_ZERO] = 200
    session_days: Annotated[float, ABOVE_ZERO] = 90.0
    max_sessions: Annotated[int, ABOVE_ZERO] = 10_000
    serve_turns: Annotated[int, ABOVE_ZERO] = 64
    serve_queue: Annotated[int, amount("turns")] = 64
    serve_rate: Annotated[float, ABOVE_ZERO] = 300.0
    serve_upload_bytes: Annotated[int, ABOVE_ZERO] = 100_000_000
    serve_hosts: tuple[str, ...] = ()
    traces: TraceKind = "outline"
    max_traces: Annotated[int, ABOVE_ZERO] = 1_000
    trace_bytes: Annotated[int, ABOVE_ZERO] = 100_000_000
    otel: bool = False
    otel_content: bool = False
    flags: Flags = field(default_factory=Flags)
    explicit: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for name in self.web_providers:
            if name not in WEB_PROVIDERS or name == "none":
                raise UnknownName("value of setting 'web_provider':", name, WEB_PROVIDERS)
        if self.embedder not in EMBEDDERS and ":" not in self.embedder:
            raise UnknownName("value of setting 'embedder':", self.embedder, (*EMBEDDERS, "provider:model"))
        if self.pack != GENERAL.name and ":" not in self.pack and self.pack not in (installed := installed_packs()):
            names = (GENERAL.name, *installed, "module:attribute")
            raise UnknownName("value of setting 'pack':", self.pack, names)
        if self.llm != OFFLINE and ":" not in self.llm:
            raise UnknownName("value of setting 'llm':", self.llm, (OFFLINE, "provider:model"))
        if self.traces not in TRACE_KINDS:
            raise UnknownName("value of setting 'traces':", self.traces, TRACE_KINDS)
        for job in self.models:
            if job not in set(Job):
                raise UnknownName("job in setting 'models':", job, list(Job))
        _SCHEMA.check(self)
        if self.database:
            read_address(self.database)
        if "static" in self.web_providers and self.web_folder is None:
            raise SettingsError("web_provider 'static' needs web_folder: the folder that plays the web")

    @property
    def web_providers(self) -> tuple[str, ...]:
        """The web search providers in fallback order."""
        names = tuple(dict.fromkeys(name.strip() for name in self.web_provider.split(",") if name.strip()))
        return () if names == ("none",) else names

    @property
    def web_base_urls(self) -> Mapping[str, str]:
        """The addresses of providers that are not at their default one, by name."""
        given = self.web_base_url or ""
        live = [name for name in self.web_providers if name != "static"]
        if "=" in given.partition("://")[0]:
            return {name.strip(): url for name, _, url in (pair.partition("=") for pair in given.split(","))}
        if given and len(live) > 1:
            raise SettingsError("web_base_url needs names when there are several providers: searxng=http://…")
        return dict.fromkeys(live, given) if given else {}

    @property
    def explicit_flags(self) -> dict[str, object]:
        """The flags that the user set, with their values."""
        values, defaults = {name: getattr(self.flags, name) for name in FLAG_NAMES}, Flags()
        return {n: value for n, value in values.items() if n in self.explicit or value != getattr(defaults, n)}

    def with_values(self, values: Mapping[str, object]) -> "Settings":
        """A copy with settings and flags changed by name; values may be text.

        Raises ``UnknownName`` for an unknown name, and ``UsageError`` for a flag's value of the wrong type.
        """
        settings: dict[str, Any] = {}
        flags: dict[str, object] = {}
        for name, value in values.items():
            if name in SETTING_NAMES:
                settings[name] = _setting(name, value)
            elif (flag := OTHER_NAMES.get(name, name)) in FLAG_NAMES:
                flags[flag] = value
            else:
                raise UnknownName("setting", name, (*SETTING_NAMES, *FLAG_NAMES))
        explicit = self.explicit | flags.keys()
        return dataclasses.replace(self, flags=self.flags.with_values(flags), explicit=explicit, **settings)


FLAG_NAMES = tuple(f.name for f in dataclasses.fields(Flags))
SETTING_NAMES = tuple(f.name for f in dataclasses.fields(Settings) if f.name not in ("flags", "explicit"))
_SCHEMA = OptionSchema(Settings, "setting", SettingsError)


def _setting(name: str, value: object) -> Any:
    """A setting from its value or from text; an empty text is None where that is one of its values."""
    kind = _SCHEMA.kinds[name]
    if value in (None, "") and type(None) in get_args(kind):
        return None
    if name == "models":
        return _models(value)
    if name == "index" and is_address(str(value)):
        return str(value)
    if kind in (Path, Path | str, Path | None):
        if not str(value).strip():
            raise SettingsError(f"setting '{name}' is empty; name a folder")
        return Path(str(value)).expanduser()
    if kind == tuple[str, ...]:
        parts = value if isinstance(value, list | tuple) else str(value).split(",")
        return tuple(str(part).strip() for part in parts if str(part).strip())
    return _SCHEMA.read(name, value) if kind in (int, float, bool) else str(value)


def _models(value: object) -> dict[str, str]:
    """Models by job, from a mapping or from text: ``job=model,job=model``."""
    if isinstance(value, Mapping):
        return {str(job): str(model) for job, model in value.items()}
    pairs = [pair.partition("=") for pair in str(value).split(",") if pair.strip()]
    if any(not equals or not model.strip() for _, equals, model in pairs):
        raise SettingsError(f"setting 'models' is job=provider:model, with commas between, but is '{value}'")
    return {job.strip(): model.strip() for job, _, model in pairs}


def load_settings(
    options: Mapping[str, object] | None = None,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Settings:
    """Settings from the file in ``folder`` (default: the current one), the environment, and ``options``."""
    settings = Settings()
    variables = os.environ if environment is None else environment
    given = {name[len(PREFIX) :].lower(): value for name, value in variables.items() if name.startswith(PREFIX)}
    said = {name: value for name, value in given.items() if value and not _NO_SETTINGS.fullmatch(name)}
    for values in (_from_file((folder or Path()) / FILE_NAME), said, options or {}):
        settings = settings.with_values(values)
    return settings


_TABLES = ("flags", "models")


def _from_file(path: Path) -> dict[str, object]:
    if not path.is_file():
        return {}
    if path.stat().st_size > MAX_FILE_BYTES:
        raise SettingsError(f"{path} has {path.stat().st_size:,} bytes; a settings file has at most {MAX_FILE_BYTES:,}")
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError:
        raise SettingsError(f"{path} is not UTF-8; save it as UTF-8") from None
    except (tomllib.TOMLDecodeError, OSError) as error:
        raise SettingsError(f"{path} cannot be read as TOML: {error}") from None
    flags = table.pop("flags", {})
    if not isinstance(flags, dict):
        raise SettingsError(f"{path}: [flags] must be a table of flag = value")
    for name, value in table.items():
        if isinstance(value, dict) and name not in _TABLES:
            raise UnknownName("table", name, _TABLES)
    return {**table, **flags}
