"""One file to read: where it is, what its document is called, how much of it is read, and its bytes as text."""

import errno
import os
import stat
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import BinaryIO

from selfright.domain.encodings import decode
from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import Document
from selfright.domain.text import language_of

_REASONS = {
    errno.ENOENT: "there is no file, or the symbolic link points to nothing",
    errno.ELOOP: "the symbolic link leads back to itself",
    errno.EACCES: "no permission to read it",
}
_MIB = 2**20
_FIRST = 2**16  # bytes that are read at once: room is made for as many, and most files are small
_TITLE_LENGTH = 300


@dataclass(frozen=True, slots=True)
class FileLimits:
    """What one file may cost, in bytes: the file, one row of JSON Lines, what a packed file unpacks to.

    ``reported_rows``: that many bad rows of a file are named one by one, the rest are counted. ``ocr_pages``,
    ``ocr_seconds``: how many scanned pages have their text recognised, where that is installed, and for how long; 0
    seconds for none.
    """

    file_bytes: int = 100 * _MIB
    row_bytes: int = 64 * _MIB
    unpacked_bytes: int = 256 * _MIB
    reported_rows: int = 20
    ocr_pages: int = 200
    ocr_seconds: float = 900.0


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file at ``path`` whose document gets the id ``name``, unless the file names its documents itself."""

    path: Path
    name: str
    limits: FileLimits = FileLimits()

    @property
    def stem(self) -> str:
        """The file's name without its suffix: the title of last resort."""
        return readable_name(PurePath(self.name).stem)

    @property
    def size(self) -> int:
        """In bytes; 0 where nobody can tell."""
        try:
            return self.path.stat().st_size
        except OSError:
            return 0

    @property
    def source(self) -> str:
        """The absolute path as text."""
        return readable_name(os.path.abspath(self.path))

    def refuse(self, why: str) -> UnreadableFile:
        """The error that says in one line why this file is not read."""
        return UnreadableFile(readable_name(str(self.path)), " ".join(why.split()))

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """The file's bytes. Raises ``UnreadableFile`` for what is no regular file or cannot be opened or read."""
        try:
            # A pipe or a device would block for ever, and opening one is enough for that: look first.
            if not stat.S_ISREG(os.stat(self.path).st_mode):
                raise self.refuse("expected a regular file, but it is a folder, pipe or device; give a file")
            with self.path.open("rb") as handle:
                yield handle
        except OSError as error:
            why = _REASONS.get(error.errno or 0, f"the system could not read it ({error.strerror or error})")
            raise self.refuse(f"{why}; check the file and its permissions, or leave it out") from error

    def read_bytes(self) -> bytes:
        """All of it. Raises ``UnreadableFile`` when there is nothing, or more than ``limits.file_bytes``."""
        with self.open() as handle:
            data = handle.read(_FIRST)
            if len(data) == _FIRST:
                data += handle.read(self.limits.file_bytes + 1 - _FIRST)
        if len(data) > self.limits.file_bytes:
            raise self.refuse(
                f"larger than {self.limits.file_bytes:,} bytes; split it, or bring its texts as JSON Lines"
            )
        if not data or data.isspace():
            raise self.refuse("the file is empty; there is nothing to index")
        return data

    def read_text(self) -> str:
        """All of it decoded, without a byte order mark and otherwise as it stands."""
        return self.decode(self.read_bytes())

    def decode(self, data: bytes, declared: str | None = None) -> str:
        """Its bytes as text. Raises ``UnreadableFile`` when they are binary or in no known encoding."""
        try:
            return decode(data, declared)
        except ValueError as error:
            why = f"{error}; save it as UTF-8 text, or in one of the supported formats"
            raise self.refuse(why) from error

    def document(self, text: str, title: str, media_type: str = "text/plain", url: str | None = None) -> Document:
        """The file's one document. Raises ``UnreadableFile`` when ``text`` is blank."""
        if not text or text.isspace():
            raise self.refuse("there is no text in it; nothing to index")
        return Document(
            id=self.name,
            title=one_line(title) or self.stem,
            text=text,
            language=language_of(text),
            source=self.source,
            url=url,
            media_type=media_type,
        )


def one_line(title: str) -> str:
    """A title without line breaks and repeated blanks, of bounded length."""
    return " ".join(title[: 4 * _TITLE_LENGTH].split())[:_TITLE_LENGTH]


def readable_name(name: str) -> str:
    """A file name as text that can be stored: bytes that are no text replaced, Hangul composed (NFC)."""
    return unicodedata.normalize("NFC", os.fsencode(name).decode("utf-8", "replace"))
