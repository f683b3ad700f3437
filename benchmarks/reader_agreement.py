"""How much of the text of real files the readers get: words against a reference extractor, file by file.

    python -m benchmarks.reader_agreement FOLDER [--most 80] [--worst 10] [--here]

PDFs are compared with ``pdftotext`` (poppler-utils), office files with a plain walk through their XML. Agreement is the
share of the reference's words, counted as often as they occur, that the reader gives too; letters of Chinese and
Japanese, and Hangul syllables, count as words. Each file is read in a process of its own, as an upload is: one that
ends it is counted as crashed. ``--here`` reads in this process, which is quicker. ``--most`` takes so many files of
each format, spread over the folder.
"""

import argparse
import re
import subprocess
import unicodedata
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lxml import etree

from selfright.domain.errors import UnreadableFile
from selfright.ingest.files import FileLimits, SourceFile
from selfright.ingest.reading import read_each
from selfright.ingest.sandbox import Bounds, ReadDocument, read_apart

WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]|[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+")
CRASHED = "ended the reading process"
# Parts of an archive, the elements that hold text there, and those whose text is not shown or not the document's.
PARTS = {
    ".docx": (r"word/(document|footnotes|endnotes)\.xml", {"t"}, {"Fallback", "moveFrom", "del"}),
    ".pptx": (r"ppt/(slides|notesSlides)/[^/]+\.xml", {"t"}, {"Fallback", "fld"}),
    ".hwpx": (r"Contents/section\d+\.xml", {"t"}, {"header", "footer", "hiddenComment", "memo"}),
    ".odt": (r"content\.xml", {"p", "h"}, {"tracked-changes", "annotation", "table-of-content", "note-citation"}),
    ".xlsx": (r"xl/(sharedStrings|worksheets/[^/]+)\.xml", {"t"}, {"rPh"}),
}
BREAKS = {"p", "h", "br", "cr", "tab", "lineBreak", "s", "line-break", "si", "tc", "a"}


@dataclass
class Seen:
    """What one file gave: words of the reference and those found again; ``why`` parts or all of it were not read."""

    path: Path
    words: int = 0
    found: int = 0
    why: str = ""
    is_read: bool = True


def words(text: str) -> Counter[str]:
    return Counter(WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def reference(path: Path) -> str:
    if path.suffix.lower() == ".pdf":
        command = ["pdftotext", "-enc", "UTF-8", str(path), "-"]
        run = subprocess.run(command, check=False, capture_output=True, timeout=120)
        return re.sub(r"(?<=[a-z])-\n(?=[a-z])", "", run.stdout.decode("utf-8", "replace"))
    pattern, tags, hidden = PARTS[path.suffix.lower()]
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if re.fullmatch(pattern, name)]
        roots = [etree.fromstring(archive.read(name), etree.XMLParser(resolve_entities=False)) for name in names]
    return "\n".join("".join(_text(root, tags, hidden, inside=False)) for root in roots)


def _text(node: etree._Element, tags: set[str], hidden: set[str], *, inside: bool) -> Iterator[str]:
    name = str(node.tag).rpartition("}")[2]
    if name in hidden or not isinstance(node.tag, str):
        return
    within = inside or name in tags
    yield " " if name in BREAKS else ""
    yield node.text or "" if within else ""
    for child in node:
        yield from _text(child, tags, hidden, inside=within)
        yield child.tail or "" if within else ""
    yield " " if name in BREAKS else ""


def seen(path: Path, *, here: bool) -> Seen:
    texts, errors = [], []
    file = SourceFile(path, path.name, FileLimits(ocr_seconds=0))  # the reference recognises nothing either
    for item in read_each(file) if here else read_apart(file, Bounds.of(path.stat().st_size)):
        if isinstance(item, UnreadableFile):
            errors.append(item.why)
        else:
            texts.append((item.document if isinstance(item, ReadDocument) else item).text)
    try:
        expected = words(reference(path))
    except (zipfile.BadZipFile, KeyError, etree.XMLSyntaxError):  # nothing can be read of it by anybody
        expected = Counter[str]()
    got = words("\n".join(texts))
    why = "; ".join(errors) or ("" if texts else "no document and no reason")
    return Seen(path, expected.total(), (expected & got).total(), why, is_read=bool(texts))


def chosen(folder: Path, most: int) -> Iterator[Path]:
    by_format: dict[str, list[Path]] = defaultdict(list)
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() in {".pdf", *PARTS} and path.is_file():
            by_format[path.suffix.lower()].append(path)
    for paths in by_format.values():
        step = max(1, len(paths) // most)
        yield from paths[::step][:most]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--most", type=int, default=80)
    parser.add_argument("--worst", type=int, default=10)
    parser.add_argument("--here", action="store_true")
    options = parser.parse_args()
    results: list[Seen] = []
    for path in chosen(options.folder, options.most):
        results.append(seen(path, here=options.here))
        one = results[-1]
        print(f"{path.name}\t{one.found:,} of {one.words:,}\t{one.why}", flush=True)
    told(results, options.worst)


def told(results: list[Seen], worst: int) -> None:
    head = ("format", "files", "read", "crashed", "refused", "words", "found", "words of refused")
    print("\n" + "".join(f"{name:>10}" for name in head[:-1]), head[-1])
    for suffix in [*sorted({one.path.suffix.lower() for one in results}), "all"]:
        of = [one for one in results if suffix in (one.path.suffix.lower(), "all")]
        read = [one for one in of if one.is_read]
        crashed = sum(CRASHED in one.why for one in of)
        total = sum(one.words for one in read)
        share = sum(one.found for one in read) / total if total else 1.0
        counts = (len(of), len(read), crashed, len(of) - len(read) - crashed)
        lost = sum(one.words for one in of) - total
        print(f"{suffix:>10}" + "".join(f"{count:10}" for count in counts) + f"{total:10,}{share:10.2%} {lost:,}")
    print("\nreasons")
    for why, count in Counter(one.why for one in results if one.why).most_common():
        print(f"{count:5} × {why[:150]}")
    print("\nleast agreement")
    for one in sorted((one for one in results if one.words), key=lambda one: one.found - one.words)[:worst]:
        print(f"{one.found / one.words:8.2%} of {one.words:7,}  {one.path}")


if __name__ == "__main__":
    main()
