"""Terms as an index of PostgreSQL's can keep them."""

import hashlib

from selfright.retrieval.postgres.schema import packed

_LONGEST = 400  # characters; an entry of an index has at most some 2,700 bytes


def term_as_kept(term: str) -> str:
    """The term; a very long one by its beginning and a hash."""
    if len(term) <= _LONGEST:
        return packed(term)
    digest = hashlib.blake2b(term.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return packed(f"{term[: _LONGEST // 2]}…{digest}")
