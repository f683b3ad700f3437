"""What the name of a file says of the document in it."""

import re
from functools import lru_cache

_FILE = re.compile(r"([^/\\]+)\.[A-Za-z]{2,5}(?::.*)?$")
_HANGUL = re.compile(r"[가-힣]")
_NAMELESS = ("index", "readme")  # what files are called that are about their folder


@lru_cache(maxsize=4_096)
def full_title(document_id: str, title: str) -> str:
    """The title with the words of its language that the name of the document's file adds: "User guide (ddns)"."""
    file = _FILE.search(document_id)
    words = re.split(r"[\W_]+", file[1]) if file and title and "://" not in document_id else []
    said, korean = re.sub(r"[\W_]+", "", title).casefold(), bool(_HANGUL.search(title))
    added = [word for word in words if len(word) > 1 and word.isalpha() and word.casefold() not in _NAMELESS]
    added = [word for word in added if word.casefold() not in said and bool(_HANGUL.search(word)) == korean]
    return f"{title} ({' '.join(added)})" if added else title
