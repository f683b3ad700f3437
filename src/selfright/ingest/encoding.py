"""Bytes to text: Unicode by its marks, UTF-8, Korean code page 949, then a guess; binary content is refused."""

import codecs
import re
from collections.abc import Callable

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x9f]")
_GUESSED_BYTES = 200_000
_HELP = "save it as UTF-8 text, or in one of the supported formats"


def decode(data: bytes, refuse: Callable[[str], Exception], declared: str | None = None) -> str:
    """The text of a file, without a byte order mark; ``declared`` is the encoding the file names itself, if any.

    Raises what ``refuse`` makes of a reason when the content is binary or in no known encoding.
    """
    for mark, name in _MARKS:
        if data.startswith(mark):
            text = _strictly(data[len(mark) :], name)
            if text is None:
                raise refuse(f"begins as {name.upper()} but is not; {_HELP}")
            return text
    if b"\0" in data:
        raise refuse(f"binary content where text was expected; {_HELP}")
    text = _declared(data, declared) or decode_known(data) or _guessed(data)
    if text is None:
        raise refuse(f"its encoding could not be told; {_HELP}")
    return text


def decode_known(data: bytes) -> str | None:
    """Text that is valid UTF-8 or plausible Korean code page 949; else None."""
    text = _strictly(data, "utf-8")
    return text if text is not None else _korean(data)


def _strictly(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None


def _declared(data: bytes, name: str | None) -> str | None:
    if not name:
        return None
    # Pages that say EUC-KR or KS C 5601 are written in its superset, code page 949.
    korean = re.sub(r"[^a-z0-9]", "", name.lower()) in {
        "euckr",
        "ksc5601",
        "ksc56011987",
        "cp949",
        "ms949",
        "windows949",
    }
    try:
        text_codec = codecs.lookup("cp949" if korean else name)
    except LookupError:
        return None
    return _strictly(data, text_codec.name) if text_codec.name != "utf-8" else None


def _korean(data: bytes) -> str | None:
    text = _strictly(data, "cp949")
    if text is None:
        return None
    # Western text reads as code page 949 at times, but then as syllables that nobody writes: those outside KS X 1001.
    foreign = [character for character in text[:_GUESSED_BYTES] if character > "\x7f"]
    common = len("".join(foreign).encode("euc-kr", "ignore")) / 2
    return text if common >= 0.9 * len(foreign) else None


def _guessed(data: bytes) -> str | None:
    from charset_normalizer import from_bytes

    best = from_bytes(data[:_GUESSED_BYTES]).best()
    text = _strictly(data, best.encoding) if best else None
    if text is None or len(_CONTROL.findall(text)) > 0.01 * len(text):
        return None
    return text
