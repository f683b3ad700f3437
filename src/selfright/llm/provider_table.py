"""The providers whose models can be named: what is needed to reach each."""

from dataclasses import dataclass


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
