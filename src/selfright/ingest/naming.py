"""The ids of documents: what a file is called in the index, and whether it is there already as it is."""

import hashlib
import itertools
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath

from selfright.domain.passages import Document


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of the document under an id, without its text; ``fresh``: this run brought it."""

    source: str | None
    collection: str
    content_hash: str
    shown: str
    fresh: bool = False

    @classmethod
    def of(cls, document: Document, *, fresh: bool = False) -> "Known":
        """What is known of ``document``; ``shown`` stands for what readers see beside title and text."""
        told = [document.url, document.media_type, sorted(document.metadata.items())]
        shown = hashlib.sha256(json.dumps(told).encode()).hexdigest()[:32]
        return cls(document.source, document.collection, document.content_hash, shown, fresh)

    def holds_what(self, other: "Known") -> bool:
        """Whether nothing has changed: neither what is searched or shown, nor where it is from."""
        same = (self.content_hash, self.shown) == (other.content_hash, other.shown)
        return same and is_same_place(self.source, other.source)


Look = Callable[[str], Known | None]
"""Finds what is known under an id; asked again for the same ones, so it should remember."""


def name_of(document: Document, look: Look) -> str:
    """The id that the document has already, or a free one: short, then with its folders, then numbered.

    A file's name alone says nothing: two folders' README.md are two documents, whether or not the first is still there.
    """
    source = PurePath(document.source or "").as_posix()
    by_content = _is_named_by_file(document.id, source)
    names = _with_folders(document.id, source)
    possible: list[str] = []
    free = ""
    for free in itertools.chain(names, (f"{document.id}~{n}" for n in itertools.count(2))):
        if look(free) is None:
            break
        possible.append(free)
    if by_content:  # the same file has another name when it was found through another folder
        parts = PurePath(document.id).parts
        possible = [document.id, *("/".join(parts[start:]) for start in range(1, len(parts))), *names, *possible]
    found = {name: known for name in possible if (known := look(name)) is not None}
    now = Known.of(document)
    same = (name for name, known in found.items() if known.source and is_same_place(known.source, document.source))
    moved = (name for name, known in found.items() if _has_moved(known, now, by_content=by_content))
    return next(itertools.chain(same, moved), free)


def _has_moved(found: Known, now: Known, *, by_content: bool) -> bool:
    """Whether a document whose place is gone is this one: by what it holds, or by the id that a row gives itself."""
    if found.fresh or found.collection != now.collection:
        return False
    gone = found.source is None or (os.path.isabs(found.source) and not os.path.lexists(found.source))
    return gone and (found.content_hash == now.content_hash or not by_content)


def is_same_place(one: str | None, other: str | None) -> bool:
    """Whether two sources are one place, be it by way of links."""
    if one == other or one is None or other is None:
        return one == other
    return os.path.isabs(one) and os.path.isabs(other) and os.path.realpath(one) == os.path.realpath(other)


def _with_folders(name: str, source: str) -> list[str]:
    """The name, then with more and more of the folders that lead to it, nearest first."""
    rest = source.removesuffix("/" + name)
    folders = PurePath(rest if rest != source else PurePath(source).parent).parts
    above = (folder for folder in reversed(folders) if folder not in ("/", "\\"))
    return list(itertools.accumulate(above, lambda inner, folder: f"{folder}/{inner}", initial=name))


def _is_named_by_file(name: str, source: str) -> bool:
    """Whether the id is the file's own name (or that with a sheet or a row), not one that a row brought along."""
    while name and not source.endswith("/" + name):
        name = name.rpartition(":")[0]
    return name != ""
