"""The providers whose models can be named: what is needed to reach each, through LangChain's init_chat_model too.

Anthropic, Azure, Bedrock, Mistral. Keys come from each one's usual variables; their own retries are off, for ours know
the turn's budget.
"""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from selfright.domain.errors import SettingsError

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


@dataclass(frozen=True, slots=True)
class Provider:
    """What is needed to reach a provider.

    ``keys``: variables that may hold its key, the usual one first; none when it needs no key. ``addresses``: variables
    that its users set its address with. ``home``: its own address, where a key is a must; empty when it has none.
    ``needs_key``: a key is a must at any address.
    """

    package: str
    extra: str
    keys: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    home: str = ""
    needs_key: bool = False


PROVIDERS = {
    "openai": Provider(
        package="langchain_openai",
        extra="openai",
        keys=("OPENAI_API_KEY",),
        addresses=("OPENAI_BASE_URL", "OPENAI_API_BASE"),
        home="https://api.openai.com/v1",
    ),
    "google_genai": Provider(
        package="langchain_google_genai",
        extra="google",
        keys=("GOOGLE_API_KEY", "GEMINI_API_KEY"),
        home="https://generativelanguage.googleapis.com",
    ),
    "ollama": Provider(package="langchain_ollama", extra="ollama"),
    "local": Provider(package="xllamacpp", extra="local"),
    "anthropic": Provider(
        package="langchain_anthropic",
        extra="anthropic",
        keys=("ANTHROPIC_API_KEY",),
        addresses=("ANTHROPIC_BASE_URL", "ANTHROPIC_API_URL"),
        home="https://api.anthropic.com",
    ),
    "azure": Provider(
        package="langchain_openai",
        extra="azure",
        keys=("AZURE_OPENAI_API_KEY",),
        addresses=("AZURE_OPENAI_ENDPOINT",),
        needs_key=True,
    ),
    "bedrock": Provider(package="langchain_aws", extra="bedrock"),
    "mistral": Provider(
        package="langchain_mistralai", extra="mistral", keys=("MISTRAL_API_KEY",), home="https://api.mistral.ai/v1"
    ),
}


ALIASES = {"gemini": "google_genai", "azure_openai": "azure", "mistralai": "mistral", "bedrock_converse": "bedrock"}
"""Other names of providers, as LangChain and their users have them."""

_LANGCHAIN = {
    "anthropic": "anthropic",
    "azure": "azure_openai",
    "bedrock": "bedrock_converse",
    "mistral": "mistralai",
}
_VERSION_VARIABLE, _VERSION = "OPENAI_API_VERSION", "2024-10-21"  # Azure's latest that is no preview


@dataclass(frozen=True, slots=True)
class Reach:
    """Where a model is, and what opens it."""

    provider: str
    model: str
    timeout_s: float
    address: str | None = field(default=None, repr=False)
    key: str | None = field(default=None, repr=False)


def check_address(provider: str, model: str, address: str | None) -> None:
    """Raises ``SettingsError`` where a provider has no address of its own and none was given."""
    if provider == "azure" and not address:
        raise SettingsError(
            f"azure:{model} needs the address of your resource: set AZURE_OPENAI_ENDPOINT, or write "
            f"azure:{model}@https://NAME.openai.azure.com"
        )


def made(reach: Reach, environment: Mapping[str, str]) -> "BaseChatModel":
    """The LangChain model; ``environment`` holds what a provider takes from variables beside key and address."""
    from langchain.chat_models import init_chat_model

    told = _TOLD[reach.provider](reach, environment)
    model: BaseChatModel = init_chat_model(reach.model, model_provider=_LANGCHAIN[reach.provider], **told)
    return model


def _anthropic(reach: Reach, _environment: Mapping[str, str]) -> dict[str, Any]:
    return {"api_key": reach.key, "base_url": reach.address, "timeout": reach.timeout_s, "max_retries": 0}


def _azure(reach: Reach, environment: Mapping[str, str]) -> dict[str, Any]:
    return {
        "azure_deployment": reach.model,
        "azure_endpoint": reach.address,
        "api_key": reach.key,
        "api_version": environment.get(_VERSION_VARIABLE, "").strip() or _VERSION,
        "timeout": reach.timeout_s,
        "max_retries": 0,
    }


def _bedrock(reach: Reach, environment: Mapping[str, str]) -> dict[str, Any]:
    """Keys, profiles and roles are found by Amazon's own library, which knows where else they may be."""
    settings: Any = importlib.import_module("botocore.config")
    region = environment.get("AWS_REGION", "").strip() or environment.get("AWS_DEFAULT_REGION", "").strip()
    patience = settings.Config(read_timeout=reach.timeout_s, retries={"total_max_attempts": 1})
    told: dict[str, Any] = {"config": patience, "base_url": reach.address}
    return {**told, "region_name": region} if region else told


def _mistral(reach: Reach, _environment: Mapping[str, str]) -> dict[str, Any]:
    # One attempt: in its library's count, none would be no limit.
    return {"api_key": reach.key, "base_url": reach.address, "timeout": int(reach.timeout_s), "max_retries": 1}


_TOLD = {"anthropic": _anthropic, "azure": _azure, "bedrock": _bedrock, "mistral": _mistral}
