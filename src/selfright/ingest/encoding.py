"""Bytes to text: Unicode by its marks, UTF-8, the East Asian encodings by the letters people write, then a guess.

Binary content is refused.
"""

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
# What a fifth to half of a text consists of, by language; in a wrong encoding hardly a letter of it is among them.
_HANGUL = frozenset(
    "이다는에을의가고를하한은지로도사기어서리인자그수대나시라있과일해만니들정보상전으아스제장것부해여면주안원게동경습비공용세학우선신했국소문성"
)
_KANA = frozenset(map(chr, (*range(0x3041, 0x3094), *range(0x30A1, 0x30FB), 0x30FC)))
_HANZI = frozenset(
    "的一是不了在人有我他这这個上们們来來到时時大地为為子中你说說生国國年着就那和要她出也得里裡后後自以会會家可下而过過天去能对對小多然于於心"
    "学學么麼之都好看起发發当當没沒成只如事把还還用第样樣道想作种種开開美总總从從无無情己面最女但现現前些所同日手又行意动動方期它头頭经經"
    "长長儿兒回位分爱愛老因很给給名法间間斯知世什两兩次使身者被高已亲親其进進此话話常与與活正感工理压壓力"
)
_ENCODINGS = (
    ("cp949", _HANGUL, 0.5),
    ("cp932", _KANA, 0.4),
    ("euc_jp", _KANA, 0.4),
    ("gb18030", _HANZI, 0.3),
    ("big5hkscs", _HANZI, 0.3),
)
"""An encoding, the commonest letters of those who use it, and their usual share of a text."""

_WESTERN = frozenset("àâäáãåæçéèêëíîïìñóôöòõøœßúùûüÿÀÂÄÁÅÆÇÉÈÊËÍÎÑÓÔÖØŒÚÙÛÜ’‘“”„–—…€£§°«»¿¡·•©®™½²³µ\xa0")
_JIS_SHIFT = b"\x1b$B"  # how ISO-2022-JP begins its letters
_PLAUSIBLE = 0.4  # of the usual share
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
    plain = None if _JIS_SHIFT in data else _strictly(data, "utf-8")
    text = _declared(data, declared) or plain or _told_by_letters(data) or _guessed(data)
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


def _told_by_letters(data: bytes) -> str | None:
    if _JIS_SHIFT in data:
        return _strictly(data, "iso2022_jp") or _strictly(data, "utf-8")
    return _asian(data) or _korean(data) or _western(data)


def _western(data: bytes) -> str | None:
    """Windows code page 1252, where a few letters among plain ones are those of Western Europe."""
    sample = _sample(data, "cp1252") or ""
    foreign = [character for character in sample if character > "\x7f"]
    letters = sum(character.isalpha() for character in sample)
    plausible = sum(character in _WESTERN for character in foreign) >= 0.95 * len(foreign)
    return _strictly(data, "cp1252") if foreign and plausible and len(foreign) <= 0.3 * letters else None


def _asian(data: bytes) -> str | None:
    """The text in that encoding in which it consists of the commonest letters; None when it does in none."""
    best, score = "", _PLAUSIBLE
    for encoding, common, usual in _ENCODINGS:
        sample = _sample(data, encoding)
        foreign = [character for character in sample or "" if character > "\x7f"]
        share = sum(character in common for character in foreign) / len(foreign) if foreign else 0.0
        if share / usual > score:
            best, score = encoding, share / usual
    return _strictly(data, best) if best else None


def _sample(data: bytes, encoding: str) -> str | None:
    """The beginning of the text, which may be cut within a letter."""
    part = data[:_GUESSED_BYTES]
    for cut in range(4 if len(data) > len(part) else 1):
        text = _strictly(part[: len(part) - cut], encoding)
        if text is not None:
            return text
    return None


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
