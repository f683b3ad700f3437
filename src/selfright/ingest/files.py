"""One file to read: where it is, what its document is called, how much of it is read, and its bytes as text.

Binary content is refused.
"""

import codecs
import errno
import os
import re
import stat
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import BinaryIO

from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import Document
from selfright.domain.text import language_of

_MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_GUESSED_BYTES = 200_000
_ENCODINGS = ["cp949", "cp932", "euc_jp", "gb18030", "big5hkscs", "cp1252"]  # those that files are found in
_KOREAN = ("euckr", "ksc5601", "ksc56011987", "cp949", "ms949", "windows949")
_ZEROS, _MORE_ZEROS = 0.1, 2  # Korean text has them for its blanks, and elsewhere for a few syllables (가, 대, 저)
_UNPRINTABLE = ("Cc", "Cn", "Co", "Cs")
_HELP = "save it as UTF-8 text, or in one of the supported formats"


def decode(data: bytes, refuse: Callable[[str], Exception], declared: str | None = None) -> str:
    """The text of a file, without a byte order mark; ``declared`` is the encoding the file names itself, if any.

    Raises what ``refuse`` makes of a reason when the content is binary or in no known encoding.
    """
    for mark, name in _MARKS.items():
        if data.startswith(mark):
            text = _strictly(data[len(mark) :], name)
            if text is None:
                raise refuse(f"begins as {name.upper()} but is not; {_HELP}")
            return text
    if b"\0" in data:
        if (text := _unmarked_utf16(data)) is None:
            raise refuse(f"binary content where text was expected; {_HELP}")
        return text
    text = _declared_encoding(data, declared) or _strictly(data, "utf-8") or _guess_encoding(data)
    if text is None:
        raise refuse(f"its encoding could not be told; {_HELP}")
    return text


def decode_known(data: bytes) -> str | None:
    """Text that is valid UTF-8 or plausible Korean code page 949; else None."""
    text = _strictly(data, "utf-8")
    if text is not None or (text := _strictly(data, "cp949")) is None:
        return text
    # Western text reads as code page 949 at times, but then as syllables that nobody writes: those outside KS X 1001.
    foreign = [character for character in text[:_GUESSED_BYTES] if character > "\x7f"]
    common = len("".join(foreign).encode("euc-kr", "ignore")) / 2
    return text if common >= 0.9 * len(foreign) else None


def _strictly(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None


def _unmarked_utf16(data: bytes) -> str | None:
    """The text, where zeros at every other place say that it is UTF-16 and nothing in it is unprintable; else None."""
    zeros = data[::2].count(0), data[1::2].count(0)
    if max(zeros) < max(_ZEROS * len(data) / 2, _MORE_ZEROS * min(zeros)):
        return None
    text = _strictly(data, "utf-16-le" if zeros[1] > zeros[0] else "utf-16-be")
    is_clean = all(unicodedata.category(sign) not in _UNPRINTABLE or sign.isspace() for sign in set(text or "\0"))
    return text if is_clean else None


def _declared_encoding(data: bytes, name: str | None) -> str | None:
    if not name:
        return None
    # Pages that say EUC-KR or KS C 5601 are written in its superset, code page 949.
    korean = re.sub(r"[^a-z0-9]", "", name.lower()) in _KOREAN
    try:
        text_codec = codecs.lookup("cp949" if korean else name)
    except LookupError:
        return None
    return _strictly(data, text_codec.name) if text_codec.name != "utf-8" else None


def _guess_encoding(data: bytes) -> str | None:
    from charset_normalizer import from_bytes

    sample = data if len(data) <= _GUESSED_BYTES else data[:_GUESSED_BYTES].rpartition(b"\n")[0]
    best = from_bytes(sample, cp_isolation=_ENCODINGS).best()
    return _strictly(data, best.encoding) if best else None


_REASONS = {
    errno.ENOENT: "there is no file, or the symbolic link points to nothing",
    errno.ELOOP: "the symbolic link leads back to itself",
    errno.EACCES: "no permission to read it",
}
_MIB = 2**20
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
            data = handle.read(self.limits.file_bytes + 1)
        if len(data) > self.limits.file_bytes:
            raise self.refuse(
                f"larger than {self.limits.file_bytes:,} bytes; split it, or bring its texts as JSON Lines"
            )
        if not data.strip():
            raise self.refuse("the file is empty; there is nothing to index")
        return data

    def read_text(self) -> str:
        """All of it decoded, without a byte order mark and otherwise as it stands."""
        return decode(self.read_bytes(), self.refuse)

    def document(self, text: str, title: str, media_type: str = "text/plain", url: str | None = None) -> Document:
        """The file's one document. Raises ``UnreadableFile`` when ``text`` is blank."""
        if not text.strip():
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
