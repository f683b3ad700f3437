"""Bytes as text, in whatever encoding they are: by their mark, by what they say themselves, else by their letters."""

import codecs
import re
import unicodedata
from collections.abc import Callable
from functools import partial

_MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
# What may be declared, plain tables of characters only: some codecs of Python read other forms, or hide ASCII.
_DECLARED = re.compile(
    r"utf-?16(?:le|be)?|euc-?kr|cp949|ms949|ks_?c_?5601.*|windows-(?:949|125[0-8]|874)|cp125[0-8]|iso-?8859-?\d{1,2}"
    r"|us-ascii|ascii|latin-?1|shift_?jis|euc-?jp|iso-2022-jp|gb2312|gbk|gb18030|big5|koi8-[ru]",
    re.IGNORECASE,
)
_META = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([A-Za-z0-9_.:-]{1,40})""", re.IGNORECASE)
_KOREAN = re.compile(r"euc-?kr|ks_?c_?5601.*|ms949|windows-949", re.IGNORECASE)  # written in their superset
_ZEROS, _MORE_ZEROS = 0.1, 2  # Korean text has them for its blanks, and elsewhere for a few syllables (가, 대, 저)
_UNPRINTABLE = ("Cc", "Cn", "Co", "Cs")
_SEEN = 200_000  # bytes by which letters are told
_WITHIN_WORDS = re.compile(rb"(?<=[A-Za-z])[\x80-\xff]{2}(?=[A-Za-z])")
_WESTERN = frozenset("‘’“”„–—…•€£§°«»¿¡©®™·ºª²³½¼¾±×ŒœŠšŽžŸ\xa0").union(map(chr, range(0xC0, 0x100)))


def decode(data: bytes, *declared: str | None) -> str:
    """The text, without a byte order mark; ``declared`` are the encodings that it names itself.

    Raises ``ValueError``, with the reason, when the content is binary or in no known encoding.
    """
    for mark, name in _MARKS.items():
        if data.startswith(mark):
            text = _strictly(data[len(mark) :], name)
            if text is None:
                raise ValueError(f"begins as {name.upper()} but is not")
            return text
    if b"\0" in data:
        if (text := _unmarked_utf16(data)) is None:
            raise ValueError("binary content where text was expected")
        return text
    said = ("cp949" if _KOREAN.fullmatch(name) else name for name in declared if name and _DECLARED.fullmatch(name))
    text = next((text for name in (*said, "utf-8") if (text := _strictly(data, name)) is not None), None)
    if text is None and (guessed := _guess(data)):
        text = _strictly(data, guessed)
    if text is None:
        raise ValueError("its encoding could not be told")
    return text


def encoding_of_page(data: bytes) -> str | None:
    """The encoding that a page names in its head; None where it names none."""
    found = _META.search(data[:4_096])
    return found[1].decode("ascii") if found else None


def is_korean(data: bytes) -> bool:
    """Whether bytes can be read as Korean in code page 949.

    Other text can be at times, but then as syllables that nobody writes (those outside KS X 1001), or as few beside
    Chinese characters.
    """
    text = _strictly(data, "cp949") or ""
    letters = [sign for sign in text if sign > "\x7f" and unicodedata.category(sign)[0] == "L"]
    syllables = [sign for sign in letters if "가" <= sign <= "힣"]
    written = len("".join(syllables).encode("euc-kr", "ignore")) / 2
    return 0.9 * len(letters) <= len(syllables) and len(letters) <= 8 * written and bool(letters)


def _guess(data: bytes) -> str | None:
    """The encoding that the letters fit in."""
    sample = data if len(data) <= _SEEN else data[:_SEEN].rpartition(b"\n")[0]
    if _is_western(sample):
        return "cp1252"
    if japanese := next((name for name in ("cp932", "euc_jp") if _share(sample, name, _is_kana) > 0.2), None):
        return japanese
    if is_korean(sample):
        return "cp949"
    common = {
        "gb18030": partial(_is_common, "gb2312", 0xB0, 0xD7),
        "big5hkscs": partial(_is_common, "big5", 0xA4, 0xC6),
    }
    return next((name for name, is_one in common.items() if _share(sample, name, is_one) > 0.8), None)


def _is_kana(sign: str) -> bool:
    return "\u3041" <= sign <= "\u30fe"


def _is_common(table: str, first: int, last: int, sign: str) -> bool:
    """Whether it is of the characters that are often written, which have a part of a table to themselves."""
    return first <= sign.encode(table, "replace")[0] <= last


def _is_western(data: bytes) -> bool:
    """Whether all that is not ASCII are Latin letters and signs, most of them with ASCII around."""
    foreign = re.findall(rb"[\x80-\xff]+", data)
    text = _strictly(b"".join(foreign), "cp1252")
    within = len(_WITHIN_WORDS.findall(data))  # ação
    return text is not None and _WESTERN.issuperset(text) and len(text) - within <= 1.7 * len(foreign)


def _share(data: bytes, encoding: str, is_one: Callable[[str], bool]) -> float:
    """The share of what is beyond ASCII, but for signs, that ``is_one`` is true of; 0 where it is not so encoded."""
    text = _strictly(data, encoding) or ""
    letters = [sign for sign in text if sign > "\x7f" and unicodedata.category(sign)[0] in "LC"]
    return sum(map(is_one, letters)) / len(letters) if letters else 0.0


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
