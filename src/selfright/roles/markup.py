"""Document text as a reader should see it: one line, without Markdown marks and without anything like a citation."""

import re

_CODE = re.compile(r"(`+)(.+?)\1", re.DOTALL)
_LINE_MARKS = re.compile(r"^\s*(?:#{1,6}\s+|>\s?|[-*+•·▪◦]\s+(?:\[[ xX]\]\s+)?)+", re.MULTILINE)
_IMAGE = re.compile(r"!\[[^\]\n]*\]\([^)\n]*\)|\s?\[\^?\d{1,4}\]\([^)\n]*\)")
_LINK = re.compile(r"\[([^\[\]\n]+)\](?:\([^)\n]*\)|\[[^\]\n]*\])")
_STRONG = re.compile(r"(\*{1,3}|~~|(?<!\w)_{1,3}(?=\S))(?=\S)(.+?)(?<=\S)\1(?!\w)", re.DOTALL)
_TAG = re.compile(
    r"</?(?:a|b|br|i|u|s|em|strong|code|kbd|mark|sub|sup|small|p|span|div|font|li|ul|ol)\b[^<>]{0,200}>", re.I
)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
# A source that quotes its own notes, or imitates ours, must not look as if the answer cited something.
_NOTE = r"\[(?:\s*|\^?\d{1,4}(?:\s?[,–-]\s?\d{1,4})*|\^[\w-]{1,20}|(?:source|출처)\s*:[^\[\]\n]*)\]"
_CITATION = re.compile(rf"\s?{_NOTE}", re.IGNORECASE)
_APART_FROM_CODE = re.compile(rf"(?<!\w)\s?{_NOTE}", re.IGNORECASE)
_BLANK = re.compile(r"\s+")


def plain(text: str) -> str:
    """``text`` in one line, without marks of Markdown or HTML, and without bracketed notes such as ``[3]``."""
    pieces: list[str] = []
    last = 0
    for code in _CODE.finditer(text):
        pieces += (_prose(text[last : code.start()], at_line_start=not last), code.group(2))
        last = code.end()
    pieces.append(_prose(text[last:], at_line_start=not last))
    line = _BLANK.sub(" ", "".join(pieces)).strip()
    # What code and prose put together may look like a note too; an index (``a[1]``) is none.
    while (cleaned := _APART_FROM_CODE.sub("", line)) != line:
        line = cleaned
    return line.strip()


def _prose(text: str, at_line_start: bool) -> str:
    if at_line_start or "\n" in text:
        text = _LINE_MARKS.sub("", text) if at_line_start else _after_first_line(text)
    text = _LINK.sub(r"\1", _IMAGE.sub("", _TAG.sub(" ", _COMMENT.sub(" ", text))))
    # Taking one note out can put another together ("[[1]]").
    while (cleaned := _CITATION.sub("", text)) != text:
        text = cleaned
    for _ in range(2):
        text = _STRONG.sub(r"\2", text)
    return text


def _after_first_line(text: str) -> str:
    first, newline, rest = text.partition("\n")
    return first + newline + _LINE_MARKS.sub("", rest)
