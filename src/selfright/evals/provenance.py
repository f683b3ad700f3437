"""What produced a result: the index that was searched, the models asked, the versions in use."""

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib import metadata
from typing import Any

from selfright.api.selfright import Selfright
from selfright.domain.chat import Job
from selfright.evals.results import IndexFacts
from selfright.settings import Settings

_PACKAGES = ("selfright", "numpy", "tantivy", "faiss-cpu", "onnxruntime", "kiwipiepy", "langgraph", "ir-measures")


def index_facts(selfright: Selfright) -> IndexFacts:
    """The index in figures, and a digest of all its documents. Raises ``IndexNotFound`` when there is none."""
    info = selfright.info()
    digest = hashlib.sha256()
    for document in selfright.documents():
        digest.update(f"{document.id}\0{document.collection}\0{document.content_hash}\n".encode())
    return IndexFacts(info.documents, info.passages, info.embedder, info.tokenizer, digest.hexdigest())


def models(settings: Settings) -> dict[str, str]:
    """The model of each job: ``offline``, or ``provider:model``, its address without a login."""
    return {job.value: public(settings.models.get(job.value, settings.llm)) for job in Job}


def public(value: Any) -> Any:
    """A setting without user, password and query of the addresses in it."""
    if isinstance(value, Mapping):
        return {name: public(one) for name, one in value.items()}
    if not isinstance(value, str):
        return value
    several = "=" in value.partition("://")[0]  # as in web_base_url: name=address,name=address
    return ",".join(map(_without_login, value.split(","))) if several else _without_login(value)


def _without_login(address: str) -> str:
    before, scheme, rest = address.partition("://")
    place, _, query = rest.partition("?")
    if not scheme:
        return address
    return before + scheme + ("" if "@" in query else place.rpartition("@")[2])  # a password may hold a question mark


def versions() -> Mapping[str, str]:
    """Python's version, and those of the packages that a figure may depend on."""
    import platform

    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def now() -> str:
    """The time in UTC, to the second, in ISO form."""
    return datetime.now(UTC).isoformat(timespec="seconds")
