"""Terms as Milvus' analyzers leave them alone: Latin letters and digits only."""

import hashlib
import re

_PLAIN = re.compile(r"[a-z0-9]+")
_ENCODED = "zx"
_LONGEST = 400


def encoded(term: str) -> str:
    """A term as one word for every analyzer: itself, or ``zx`` and the bytes in hexadecimal; a very long one hashed."""
    if _PLAIN.fullmatch(term) and not term.startswith(_ENCODED) and len(term) <= _LONGEST:
        return term
    written = term.encode("utf-8", "surrogatepass")
    if len(written) > _LONGEST // 2:
        return f"{_ENCODED}h{hashlib.blake2b(written, digest_size=20).hexdigest()}"
    return f"{_ENCODED}{written.hex()}"
