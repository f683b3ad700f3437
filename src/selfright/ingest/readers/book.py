"""Books (EPUB): their chapters in the order in which they are read, each as a web page is."""

import posixpath
import re
import zipfile
from collections.abc import Iterator
from urllib.parse import unquote

from lxml.etree import _Element

from selfright.domain.encodings import encoding_of_page
from selfright.domain.passages import Document
from selfright.ingest.files import SourceFile
from selfright.ingest.readers import markup, packed
from selfright.ingest.readers.html import chapter_text

_KIND, _MEDIA_TYPE = ("EPUB book", ".epub"), "application/epub+zip"
_CONTAINER, _LOCKS = "META-INF/container.xml", "META-INF/encryption.xml"
_EMPTY = re.compile(r"<([A-Za-z][\w:-]*)(\s[^<>]*)?/>")  # a page would take what follows for its content


def read(file: SourceFile) -> Iterator[Document]:
    """One document, its title first. A chapter that is missing or locked makes the book unreadable."""
    with packed.naming(file, _KIND), zipfile.ZipFile(packed.archive_of(file)) as book:
        package = _first(packed.parse_xml(book.read(_CONTAINER)), "rootfile").get("full-path") or ""
        root = packed.parse_xml(book.read(package))
        title = next((markup.one_blank("".join(map(str, of.itertext()))) for of in _named(root, "title")), "")
        texts = [_chapter(file, book, name) for name in _chapters(root, posixpath.dirname(package))]
    whole = "\n\n".join(filter(None, [markup.heading(1, title), *texts])) if any(texts) else ""
    yield file.document(whole, markup.title(title, whole), _MEDIA_TYPE)


def _named(root: _Element, name: str) -> Iterator[_Element]:
    return (node for node in root.iter() if str(node.tag).rpartition("}")[2] == name)


def _first(root: _Element, name: str) -> _Element:
    found = next(_named(root, name), None)
    if found is None:
        raise ValueError(f"there is no {name} in it")
    return found


def _chapters(package: _Element, folder: str) -> list[str]:
    places = {item.get("id"): item.get("href") or "" for item in _named(package, "item")}
    names = [places.get(chapter.get("idref"), "") for chapter in _named(package, "itemref")]
    return [posixpath.normpath(posixpath.join(folder, unquote(name.partition("#")[0]))) for name in names]


def _chapter(file: SourceFile, book: zipfile.ZipFile, name: str) -> str:
    names = book.namelist()
    if name not in names:
        raise ValueError(f"the chapter {name} is missing")
    locks = packed.parse_xml(book.read(_LOCKS)) if _LOCKS in names else None
    if locks is not None and any(unquote(of.get("URI") or "") == name for of in _named(locks, "CipherReference")):
        raise packed.Locked
    data = book.read(name)
    text = file.decode(data, encoding_of_page(data)) if data.strip() else ""
    return chapter_text(_EMPTY.sub(r"<\1\2></\1>", text)) if text.strip() else ""
