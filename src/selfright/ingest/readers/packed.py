"""Office files, which are XML in an archive: how much may be unpacked, and how a part is parsed."""

import io
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

from selfright.ingest.files import SourceFile

if TYPE_CHECKING:
    from lxml.etree import _Element

_PARTS = 10_000
_XML_SHARE = 4
_XML = (".xml", ".rels", ".hpf")
_OLD = b"\xd0\xcf\x11\xe0"  # the container of Office 97, and of files with a password


@dataclass(frozen=True, slots=True)
class Kind:
    """A format: what people call it, its suffix, and the one it had before it was XML."""

    name: str
    suffix: str
    older: str


def archive_of(file: SourceFile, kind: Kind) -> io.BytesIO:
    """The file's bytes, an archive that unpacks to no more than ``limits.unpacked_bytes``; else ``UnreadableFile``.

    Nothing is unpacked for that. XML may take a quarter of it, for it grows in memory.
    """
    archive = io.BytesIO(file.read_bytes())
    try:
        parts = zipfile.ZipFile(archive).infolist()
    except Exception as error:  # hostile files make the library fail in more ways than can be named
        old = f"an old {kind.older} or a protected file?" if archive.getvalue().startswith(_OLD) else str(error)
        raise unreadable(file, kind, old) from error
    size = sum(part.file_size for part in parts)
    xml = sum(part.file_size for part in parts if part.filename.lower().endswith(_XML))
    limit = file.limits.unpacked_bytes
    if len(parts) > _PARTS or size > limit or xml > limit / _XML_SHARE:
        raise file.refuse(f"unpacks to {size:,} bytes in {len(parts):,} parts, which is too much; split the document")
    return archive


def unreadable(file: SourceFile, kind: Kind, why: object) -> Exception:
    """The error for a file that is none of its kind."""
    return file.refuse(f"no {kind.name} that can be read ({why}); save it again as {kind.suffix}")


def parsed(data: bytes) -> "_Element":
    """A part of an archive; entities are not expanded and nothing is fetched. Raises ``lxml.etree.XMLSyntaxError``."""
    from lxml import etree

    return etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True))
