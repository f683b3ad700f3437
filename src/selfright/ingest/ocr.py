"""The text of scanned PDF pages, recognised by Tesseract (extra ``ocr``) in a process apart.

A page is rendered at 300 dots an inch, in memory only. Language data is looked for where ``TESSDATA_PREFIX``
says, where systems install it, and beside this Python, where the extra puts English.
"""

import importlib
import io
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from selfright.ingest.files import SourceFile
from selfright.ingest.sandbox import Bounds, answer, file_of, map_apart, task_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_ENTRY = f"{__name__}:serve"
# Korean first: with English first, Tesseract sets a blank behind every syllable.
_LANGUAGES = ("kor", "eng")
_SYSTEM = (
    "/usr/share/tesseract-ocr/5/tessdata", "/usr/share/tesseract-ocr/4.00/tessdata", "/usr/share/tessdata",
    "/usr/local/share/tessdata", "/opt/homebrew/share/tessdata", r"C:\Program Files\Tesseract-OCR\tessdata",
)  # fmt: skip
_DPI = 300  # what Tesseract's documentation recommends
_PIXELS = 12_000_000  # of a page; a larger one (A4 has 8.7 million) is rendered smaller
_PAGE_S = 60
_SURE = 60.0  # of 100; English data reads Korean pages with 30, each language its own with 85 to 96
_WORD_SURE = 20.0  # specks and rules that are read as letters
_DARK = 128
_MISSED_INK = 0.1
_GAIN = 1.2
_NOT_INSTALLED = (
    'recognise the text (OCR): pip install "selfright[ocr]", or once and for all: ocrmypdf -l kor+eng IN.pdf OUT.pdf'
)
_AT_ONCE = 2**30  # characters: as if a page was so long that it must be sent


@dataclass(frozen=True, slots=True)
class Recognised:
    """The paragraphs of pages, by number (from 1), and why the others have none."""

    pages: dict[int, list[str]] = field(default_factory=dict)
    why: str = ""


def is_installed() -> bool:
    """Whether the extra is there."""
    return find_spec("tesserocr") is not None


def bounds_of(file: SourceFile) -> Bounds:
    """What reading a file may take, with the time in which text is recognised."""
    waits = file.path.suffix.lower() == ".pdf" and is_installed()
    return Bounds.of(file.size, file.limits.ocr_seconds if waits else 0.0)


def recognise(file: SourceFile, numbers: Sequence[int]) -> Recognised:
    """The text of a PDF's pages. At most ``limits.ocr_pages`` of them are tried, for ``limits.ocr_seconds``."""
    limits = file.limits
    if not is_installed():
        return Recognised(why=_NOT_INSTALLED)
    if not limits.ocr_seconds:
        why = "no text is recognised (OCR) while somebody waits for an answer; add the file to the index"
        return Recognised(why=why)
    folder, languages = language_data()
    if not languages:
        return Recognised(why=f"OCR needs Tesseract's language data; {_install(_LANGUAGES)}, or set TESSDATA_PREFIX")
    task = {**task_of(file), "numbers": numbers[: limits.ocr_pages]}
    task |= {"folder": folder, "languages": "+".join(languages)}
    found: dict[int, list[str]] = {}
    pieces = map_apart(_ENTRY, task, Bounds(seconds=limits.ocr_seconds), lambda item: (int(item[0]), list(item[1])))
    while True:
        try:
            number, paragraphs = next(pieces)
        except StopIteration as stopped:
            why = _why(stopped.value, file, languages, numbers)
            return Recognised({n: text for n, text in found.items() if text}, why)
        found[number] = paragraphs


def _why(ending: str, file: SourceFile, languages: Sequence[str], numbers: Sequence[int]) -> str:
    if ending == "late":
        return f"OCR stopped after {file.limits.ocr_seconds:,.0f} s; split the file"
    if ending != "done":
        return "OCR ended before they were read (damaged, or too large); render them smaller"
    if len(numbers) > file.limits.ocr_pages:
        return f"OCR reads at most {file.limits.ocr_pages:,} pages of a file, and only legible ones; split the file"
    missing = [language for language in _LANGUAGES if language not in languages]
    return "OCR could not read them" + (f"; it lacks language data: {_install(missing)}" if missing else "")


def _install(languages: Sequence[str]) -> str:
    return "on Debian or Ubuntu: apt install " + " ".join(f"tesseract-ocr-{name}" for name in languages)


def language_data() -> tuple[str, list[str]]:
    """The folder with most of the wanted languages, the first of equals, and which of them it has."""
    prefix = os.environ.get("TESSDATA_PREFIX")
    folders = [*([prefix] if prefix else []), *_SYSTEM, str(Path(sys.prefix, "share", "tessdata"))]
    found = [(of, [name for name in _LANGUAGES if Path(of, f"{name}.traineddata").is_file()]) for of in folders]
    return max(found, key=lambda data: len(data[1]))


def serve(answers: IO[bytes]) -> None:
    """The side that recognises."""
    os.environ["OMP_THREAD_LIMIT"] = "1"  # its threads cost more than they bring, and the time allowed is of one core
    answer(answers, _pages)


def _pages(task: dict[str, Any]) -> Iterator[tuple[tuple[int, list[str]], int]]:
    """Page by page, each handed over at once: what is done is kept when the time is over."""
    import numpy as np
    from PIL import Image

    tesserocr: Any = importlib.import_module("tesserocr")
    engine = tesserocr.PyTessBaseAPI(path=task["folder"], lang=task["languages"], oem=tesserocr.OEM.LSTM_ONLY)
    engine.SetVariable("preserve_interword_spaces", "1")  # or Korean has a blank before each syllable
    data = file_of(task).read_bytes()
    data = data[data.find(b"%PDF") :]
    end = time.monotonic() + 0.9 * task["seconds"]
    for number in task["numbers"]:
        if time.monotonic() > end:
            return
        (page,) = _parse(data, number).pages
        dpi = min(_DPI, 72 * (_PIXELS / max(page.width * page.height, 1)) ** 0.5)
        (picture,) = _parse(data, number, dpi=dpi, extract_screenshots=True).screenshots
        grey = np.asarray(Image.open(io.BytesIO(picture.image_bytes)).convert("L"))
        yield (number, _read(tesserocr, engine, grey)), _AT_ONCE


def _parse(data: bytes, number: int, **options: Any) -> Any:
    liteparse: Any = importlib.import_module("liteparse")
    return liteparse.LiteParse(ocr_enabled=False, quiet=True, target_pages=str(number), **options).parse(data)


class _Reading(NamedTuple):
    """What one pass made of a page; ``ink`` is the part of the dark pixels that its lines cover."""

    paragraphs: list[str]
    confidence: float
    ink: float


def _read(tesserocr: Any, engine: Any, grey: "NDArray[np.uint8]") -> list[str]:
    """The paragraphs of a page; none when they are not legible.

    Tesseract's layout analysis finds columns, and sometimes leaves out half a Korean page. So where much of the ink is
    in no line, the page is read again as one column, and that is taken if it gives clearly more.
    """
    reading = _pass(tesserocr, engine, grey, tesserocr.PSM.AUTO)
    if reading.ink < 1 - _MISSED_INK:
        again = _pass(tesserocr, engine, grey, tesserocr.PSM.SINGLE_COLUMN)
        if sum(map(len, again.paragraphs)) > _GAIN * sum(map(len, reading.paragraphs)) and again.confidence >= _SURE:
            reading = again
    return reading.paragraphs if reading.confidence >= _SURE else []


def _pass(tesserocr: Any, engine: Any, grey: "NDArray[np.uint8]", mode: int) -> _Reading:
    height, width = grey.shape
    dark = grey < _DARK
    ink = int(dark.sum())
    engine.SetPageSegMode(mode)
    engine.SetImageBytes(grey.tobytes(), width, height, 1, width)
    engine.SetSourceResolution(_DPI)
    if not engine.Recognize(_PAGE_S * 1_000):
        return _Reading([], 0.0, 1.0)
    paragraphs: list[str] = []
    sum_sure = letters = 0.0
    level = tesserocr.RIL.WORD
    iterator = engine.GetIterator()  # None on a page without anything
    for word in tesserocr.iterate_level(iterator, level) if iterator else ():
        with suppress(RuntimeError):  # a word without a letter
            text, sure = word.GetUTF8Text(level).strip(), word.Confidence(level)
            if not text or sure < _WORD_SURE:
                continue
            left, top, right, bottom = word.BoundingBox(level)
            dark[top:bottom, left:right] = False
            sum_sure, letters = sum_sure + sure * len(text), letters + len(text)
            _append(paragraphs, text, word, tesserocr.RIL)
    missed = int(dark.sum()) / ink if ink else 0.0
    return _Reading(paragraphs, sum_sure / letters if letters else 0.0, 1 - missed)


def _append(paragraphs: list[str], text: str, word: Any, levels: Any) -> None:
    before = paragraphs[-1] if paragraphs else ""
    if not before or word.IsAtBeginningOf(levels.PARA):
        paragraphs.append(text)
    elif not word.IsAtBeginningOf(levels.TEXTLINE):
        # Each syllable of Korean is a word to Tesseract, with as many blanks before it as there are.
        paragraphs[-1] = f"{before} {text}" if word.BlanksBeforeWord() else before + text
    elif before.endswith("-") and before[-2:-1].isalpha() and text[:1].islower():
        paragraphs[-1] = before[:-1] + text  # divided at the line's end
    else:
        paragraphs[-1] = f"{before} {text}"
