"""The files behind the paths a user names, and which reader reads which."""

import importlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from selfright.domain.errors import InputError, UnreadableFile
from selfright.domain.passages import Document
from selfright.ingest.files import SourceFile, readable_name

_READERS = {
    **dict.fromkeys((".txt", ".md", ".markdown", ".mdx"), "markdown"),
    **{".html": "html", ".htm": "html", ".pdf": "pdf", ".epub": "book", ".hwp": "hangul", ".hwpx": "hangul"},
    **{".csv": "csv", ".tsv": "csv", ".json": "json", ".jsonl": "json", ".ndjson": "json"},
    **dict.fromkeys((".docx", ".docm", ".doc", ".rtf", ".odt"), "office"),
    **dict.fromkeys((".pptx", ".pptm", ".ppsx", ".ppt", ".odp"), "office"),
    **dict.fromkeys((".xlsx", ".xlsm", ".xls", ".ods"), "office"),
}
SUFFIXES = frozenset(_READERS)
_SUPPORTED = ", ".join(sorted(SUFFIXES))
OLDER = {".xlsb": ".xlsx", ".sxw": ".odt", ".sxc": ".ods", ".sxi": ".odp"}
"""Formats that are not read, and the one to save them as."""


_PACKED = frozenset(suffix for suffix, reader in _READERS.items() if reader in ("pdf", "book", "hangul", "office"))


def is_packed(file: SourceFile) -> bool:
    """Whether the file is no text, so that a library unpacks it."""
    return file.path.suffix.lower() in _PACKED


def read(file: SourceFile) -> Iterator[Document | UnreadableFile]:
    """The documents of a file, and an error for each row that is none.

    Raises ``UnreadableFile`` when the file as a whole cannot be read.
    """
    # By name, so that a reader's library is loaded when its first file comes.
    reader = importlib.import_module(f"selfright.ingest.readers.{_READERS[file.path.suffix.lower()]}")
    yield from reader.read(file)


def read_each(file: SourceFile) -> Iterator[Document | UnreadableFile]:
    """The same; a file that cannot be read as a whole comes as an error, too."""
    try:
        yield from read(file)
    except UnreadableFile as error:
        yield error


def read_page(path: Path) -> Document:
    """The first document of one file, called by the file's name. Raises ``UnreadableFile``."""
    for document in read(SourceFile(path, path.name)):
        if isinstance(document, Document):
            return document
        raise document
    raise UnreadableFile(str(path), "there is no document in it")


_NAMED = 20


@dataclass(slots=True)
class Discovery:
    """What was found: files to read, sorted within each folder; what cannot be read; what was skipped.

    ``skipped`` counts hidden and unsupported files and links that lead out of their folder, ``skipped_why`` by reason;
    ``skipped_names`` has the first 20 of them with theirs.
    """

    files: list[SourceFile] = field(default_factory=list)
    failed: list[UnreadableFile] = field(default_factory=list)
    skipped: int = 0
    skipped_names: list[tuple[str, str]] = field(default_factory=list)
    skipped_why: dict[str, int] = field(default_factory=dict)

    def skip(self, path: Path, why: str) -> None:
        """Counts a file that is skipped."""
        self.skipped += 1
        if len(self.skipped_names) < _NAMED:
            self.skipped_names.append((readable_name(str(path)), why))
        self.skipped_why[why] = self.skipped_why.get(why, 0) + 1


def discover(paths: Sequence[Path], *, maybe_none: bool = False) -> Discovery:
    """The files that ``paths`` (files or folders) name, each once.

    A file in a named folder is called by its path within that folder, a file named itself by its name. Raises
    ``InputError`` for a path that does not exist, and unless ``maybe_none`` when there is nothing to read in all of
    them.
    """
    found = Discovery()
    seen: set[str] = set()
    for path in paths:
        if not os.path.lexists(path):
            raise InputError(f"no such file or folder: {path}; check the path")
        for file, real in _files(path, found):
            if real not in seen:
                seen.add(real)
                found.files.append(file)
    if not found.files and not found.failed and not maybe_none:
        where = ", ".join(str(path) for path in paths) or "no paths were given"
        raise InputError(f"nothing to read in {where}; supported are {_SUPPORTED}")
    return found


def _files(path: Path, found: Discovery) -> Iterator[tuple[SourceFile, str]]:
    """The files with their real paths."""
    if path.is_dir():
        yield from sorted(_walk(path, found), key=lambda found: found[0].name)
        return
    file = SourceFile(path, readable_name(path.name))
    # A link that cannot be followed is left to the reader, which says what is wrong with it.
    if path.suffix.lower() in SUFFIXES or not path.exists():
        yield file, os.path.realpath(path)
    else:
        instead = OLDER.get(path.suffix.lower())
        why = f"save it as {instead}" if instead else f"supported are {_SUPPORTED}"
        found.failed.append(file.refuse(f"files of this kind are not read; {why}"))


def _walk(root: Path, found: Discovery) -> Iterator[tuple[SourceFile, str]]:
    inside = os.path.join(os.path.realpath(root), "")
    folders = [(root, "")]
    while folders:
        folder, above = folders.pop()
        try:
            with os.scandir(folder) as scanned:
                entries = list(scanned)
        except OSError as error:
            why = f"the folder cannot be opened ({error.strerror}); change its permissions, or leave it out"
            found.failed.append(SourceFile(folder, folder.name).refuse(why))
            continue
        for entry in entries:
            path, name = Path(entry.path), above + entry.name
            if entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
                folders.append((path, f"{name}/"))
                continue
            real = os.path.realpath(path) if entry.is_symlink() else inside + name.replace("/", os.sep)
            if why := _why_not(entry, real.startswith(inside)):
                found.skip(path, why)
            else:
                yield SourceFile(path, readable_name(name)), real


def _why_not(entry: os.DirEntry[str], is_inside: bool) -> str:
    """Why an entry is skipped; empty for a file to read."""
    suffix = os.path.splitext(entry.name)[1].lower()
    if entry.name.startswith("."):
        return "hidden"
    if suffix in OLDER:
        return f"{suffix}: save it as {OLDER[suffix]}"
    if suffix not in SUFFIXES:
        return f"{readable_name(suffix[:12]) or 'files without an ending'}: not a kind that is read"
    # Links may not lead out of the folder that was named: it may have come from somebody else.
    return "" if is_inside else "the link leads out of its folder"
