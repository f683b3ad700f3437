"""The web, wired by the settings: the providers in their order, each behind the guard."""

import os
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from selfright.domain.errors import MissingExtra, SettingsError
from selfright.domain.ports import Tokenizer, WebSearch
from selfright.settings import Settings

if TYPE_CHECKING:
    from selfright.web.live import LiveWeb, Pages
    from selfright.web.provider import Provider

_NEEDED = ("httpcore", "anyio", "idna", "protego", "trafilatura")


def build_web(settings: Settings, tokenizer: Tokenizer) -> WebSearch | None:
    """What ``web_provider`` names, in its order of fall-back; None for ``none``.

    Raises ``SettingsError`` for a missing key, folder or base URL, and ``MissingExtra``.
    """
    webs: list[tuple[str, WebSearch]] = [
        (name, _static(settings, tokenizer) if name == "static" else _live(name, settings, tokenizer))
        for name in settings.web_providers
    ]
    if len(webs) < 2:
        return webs[0][1] if webs else None
    from selfright.web.page_index import ChainedWeb

    return ChainedWeb(webs)


def _static(settings: Settings, tokenizer: Tokenizer) -> WebSearch:
    """A folder of pages, or a file with the addresses of pages."""
    from selfright.ingest.reading import read_page
    from selfright.ingest.splitting import split
    from selfright.web.live import ListedWeb
    from selfright.web.services import StaticWeb

    assert settings.web_folder is not None  # the settings see to it
    if settings.web_folder.is_file():
        _require_extra("static")
        return ListedWeb(settings.web_folder, _pages(settings), split, tokenizer)
    return StaticWeb(settings.web_folder, read_page, split, tokenizer)


def _require_extra(name: str) -> None:
    MissingExtra.check(f"what web_provider '{name}' needs", "web", *_NEEDED)


def _pages(settings: Settings) -> "Pages":
    from selfright.ingest.sandbox import read_page_apart
    from selfright.web.addresses import Permissions
    from selfright.web.extract import read_reply
    from selfright.web.guard import Guard
    from selfright.web.live import Pages
    from selfright.web.politeness import Visitor

    return Pages(Visitor(Guard(Permissions.of(settings.web_allow))), partial(read_reply, read_pdf=read_page_apart))


def _live(name: str, settings: Settings, tokenizer: Tokenizer) -> "LiveWeb":
    _require_extra(name)
    from selfright.ingest.splitting import split
    from selfright.web.live import LiveWeb

    provider = provider_of(name, settings.web_base_urls.get(name), os.environ)
    return LiveWeb(provider, _pages(settings), split, tokenizer)


def provider_of(name: str, base_url: str | None, environment: Mapping[str, str]) -> "Provider":
    """One provider by name, at its own or at the given base URL. Raises ``SettingsError``."""
    from selfright.web.addresses import Permissions
    from selfright.web.guard import Guard
    from selfright.web.provider import key_from
    from selfright.web.services import SERVICES

    kind = SERVICES[name]
    base = base_url or kind.base_url
    if not base:
        raise SettingsError(f"web_provider '{name}' needs web_base_url: where it listens")
    key = key_from(environment, kind.key_variable, name) if kind.key_variable else ""
    return kind(base, Guard(Permissions.of_base(base)), key)
