"""What a document is called when its name already belongs to another one."""

import itertools
import os
from collections.abc import Iterator
from pathlib import PurePath

from selfright.domain.passages import Document


def names(document: Document) -> Iterator[str]:
    """The document's id, then with more and more of the folders it lies in, then numbered; without end."""
    yield document.id
    name = document.id
    for folder in _folders_above(document):
        name = f"{folder}/{name}"
        yield name
    yield from (f"{document.id}~{n}" for n in itertools.count(2))


def is_named_by_file(document: Document) -> bool:
    """Whether the id is the file's own name (or that with a row's number), not one that a row brought along."""
    source = _source(document)
    return any(name and source.endswith("/" + name) for name in (document.id, document.id.rpartition(":")[0]))


def is_another_file(stored: Document, document: Document) -> bool:
    """Whether ``stored`` is from a file that is still there beside the one ``document`` is from.

    When that file is gone, the document has only moved, and takes its old place.
    """
    return stored.source not in (None, document.source) and os.path.exists(stored.source or "")


def _source(document: Document) -> str:
    return PurePath(document.source or "").as_posix()


def _folders_above(document: Document) -> list[str]:
    """The folders that lead to the document's name, nearest first."""
    source = _source(document)
    rest = source.removesuffix("/" + document.id)
    folders = PurePath(rest if rest != source else PurePath(source).parent).parts
    return [folder for folder in reversed(folders) if folder not in ("/", "\\")]
