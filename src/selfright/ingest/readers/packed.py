"""Office files, which are XML in an archive: how much may be unpacked, and how a part is parsed."""

import io
import posixpath
import re
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from lxml import etree
from lxml.etree import XMLSyntaxError, _Element

from selfright.domain.errors import UnreadableFile
from selfright.ingest.files import SourceFile

_PARTS = 10_000
_XML_SHARE = 4
_XML = (".xml", ".rels", ".hpf")
_GROWS = (*_XML, ".xhtml", ".html", ".htm")
OLD = b"\xd0\xcf\x11\xe0"
"""How the container of Office 97 begins, in which files with a password are, too."""


Kind = tuple[str, str]
"""What people call a format, and its suffix."""


class Locked(Exception):
    """A file that a password protects."""


def archive_of(file: SourceFile) -> io.BytesIO:
    """The file's bytes, an archive that unpacks to no more than ``limits.unpacked_bytes``; else ``UnreadableFile``.

    Nothing is unpacked for that. XML may take a quarter of it, for it grows in memory. Raises ``ValueError`` and what
    ``zipfile`` raises for what is no archive.
    """
    data = file.read_bytes()
    if data.startswith(OLD):
        raise ValueError("of an older format, or protected?")
    archive = io.BytesIO(data)
    parts = zipfile.ZipFile(archive).infolist()
    size = sum(part.file_size for part in parts)
    xml = sum(part.file_size for part in parts if part.filename.lower().endswith(_GROWS))
    limit = file.limits.unpacked_bytes
    if len(parts) > _PARTS or size > limit or xml > limit / _XML_SHARE:
        raise file.refuse(f"unpacks to {size:,} bytes in {len(parts):,} parts, which is too much; split the document")
    return archive


@contextmanager
def naming(file: SourceFile, kind: Kind) -> Iterator[None]:
    """Makes of every error within ``UnreadableFile``, which says that the file is locked, or none of its kind."""
    try:
        yield
    except UnreadableFile:
        raise
    except Locked as error:
        raise file.refuse("it is protected by a password; save it without one") from error
    except Exception as error:  # hostile files make the libraries fail in more ways than can be named
        raise file.refuse(f"no {kind[0]} that can be read ({error}); save it again as {kind[1]}") from error


def parse_xml(data: bytes) -> _Element:
    """A part of an archive; entities are not expanded and nothing is fetched. Raises ``lxml.etree.XMLSyntaxError``."""
    return etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True))


_MANIFEST = "META-INF/manifest.xml"
_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/(\w+)")
_NOT_READ = re.compile(
    r"(docProps|customXml|customUI|_xmlsignatures)/|(meta|settings)\.xml|.*(Configurations2|drawings)/"
)
# What a file may refer to and not have, its text being whole: pictures, themes, settings of printers.
_NEEDED = frozenset(("styles", "numbering", "header", "footer", "footnotes", "endnotes", "sharedStrings", "notesSlide"))
_RELATIONS = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"


def parts_of(archive: io.BytesIO) -> dict[str, _Element]:
    """The XML parts that may hold text, by name, in the usual namespaces.

    Raises ``Locked``, ``ValueError`` with the name of a part that is no XML or missing, and what ``zipfile`` raises.
    """
    parts = {}
    with zipfile.ZipFile(archive) as packed:
        if _MANIFEST in packed.namelist() and b":encryption-data" in packed.read(_MANIFEST):
            raise Locked
        for name in packed.namelist():
            if name.lower().endswith(_XML) and not _NOT_READ.match(name):
                try:
                    parts[name] = parse_xml(
                        _STRICT.sub(rb"http://schemas.openxmlformats.org/\1/2006/\2", packed.read(name))
                    )
                except XMLSyntaxError as error:
                    raise ValueError(f"{name}: {error.msg}") from error
    for of in (name for name in parts if name.endswith(".xml")):
        missing = (part for _, kind, part in relations(parts, of) if kind in _NEEDED and part not in parts)
        if (part := next(missing, None)) is not None:
            raise ValueError(f"its part {part} is missing")
    return parts


def remove(node: _Element | None) -> None:
    """Takes a node out of its tree, with the text behind it."""
    parent = node.getparent() if node is not None else None
    if node is not None and parent is not None:
        parent.remove(node)


def repack(archive: io.BytesIO, parts: Mapping[str, _Element]) -> bytes:
    """The archive with these parts; of the others only what says of which kind it is, and small forms."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(archive) as old, zipfile.ZipFile(buffer, "w") as new:
        for name in {name: None for name in old.namelist() if name == "mimetype" or name.endswith(".vml")}:
            new.writestr(name, old.read(name))
        for name, root in parts.items():
            new.writestr(name, etree.tostring(root, encoding="utf-8"))
    return buffer.getvalue()


def relations(parts: Mapping[str, _Element], name: str) -> list[tuple[str, str, str]]:
    """What a part refers to within the archive: reference, type (without its namespace), name of the other part."""
    folder, _, own = name.rpartition("/")
    root = parts.get(f"{folder}/_rels/{own}.rels".lstrip("/"))
    found = []
    for relation in root.iter(_RELATIONS) if root is not None else ():
        target = posixpath.normpath(posixpath.join("/", folder, relation.get("Target") or "")).lstrip("/")
        if relation.get("TargetMode") != "External":
            found.append((relation.get("Id") or "", (relation.get("Type") or "").rpartition("/")[2], target))
    return found


def title_of(archive: io.BytesIO) -> str:
    """The title in the properties of an office file; empty where there is none."""
    with zipfile.ZipFile(archive) as parts:
        for name in ("docProps/core.xml", "meta.xml"):
            try:
                found = parse_xml(parts.read(name)).find(".//{http://purl.org/dc/elements/1.1/}title")
            except (KeyError, XMLSyntaxError):  # there is none, or nothing can be read of it
                continue
            return (found.text or "") if found is not None else ""
    return ""
