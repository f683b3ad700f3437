"""Document text as a reader should see it: one line, without Markdown marks and without anything like a citation."""

import re

# Control characters, and those that are not seen or turn the reading order: no reader knows that they are there.
INVISIBLE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    r"\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
# A character of private use stands for each piece of code, another one for each, since some are taken out.
_FIRST, _MOST_CODES = 0xF0000, 0xFFFD
_PLACE = re.compile(f"[{chr(_FIRST)}-{chr(_FIRST + _MOST_CODES)}]")
_LINE_MARKS = re.compile(r"^[ \t]*(?:#{1,6}\s+|>\s?|[-*+•·▪◦]\s+(?:\[[ xX]\]\s+)?)+", re.MULTILINE)
_IMAGE = re.compile(r"!\[[^\]\n]*\]\([^)\n]*\)|\s?\[\^?\d{1,4}\]\([^)\n]*\)")
_LINK = re.compile(r"\[([^\[\]\n]+)\](?:\([^)\n]*\)|\[[^\]\n]*\])")
# After two asterisks a Korean particle may follow; what is between single ones may be a product, and what follows a
# letter or digit a power or a range (2**10, 5~~10 mg).
_STRONG = re.compile(
    r"(?:(?<![0-9A-Za-z])|(?=(?:\*+|~~)[^\s\d*~]))(\*{2,3}|~~)(?=\S)(.+?)(?<=\S)\1"
    r"|(?<![\w*/])(\*|_{1,3})(?![\s*/])(.+?)(?<![\s*/])\3(?![A-Za-z0-9_*/])",
    re.DOTALL,
)
# The other half stands in another sentence. A small letter may begin a name (**kwargs).
_HALF_STRONG = re.compile(r"(?<!\S)\*{2,3}(?=[^\sa-z_*])|(?<=[^\s*/])\*{2,3}(?!\S)")
_TAG = re.compile(
    r"</?(?:a|b|br|i|u|s|em|strong|code|kbd|mark|sub|sup|small|p|span|div|font|li|ul|ol)\b[^<>]{0,200}>", re.I
)
_ATTRIBUTE = r"(?:[#.][A-Za-z][\w-]{0,60}|[\w-]{1,60}=\"[^\"\n]{0,200}\")"
_ATTRIBUTES = re.compile(rf"\s?\{{:?[ ]?{_ATTRIBUTE}(?:[ ]{_ATTRIBUTE}){{0,9}}[ ]?\}}")  # {#id .class width="70%"}
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
# A source that quotes its own notes, or imitates ours, must not look as if the answer cited something.
_NOTE = r"\[(?:\s*|\^?\d{1,4}(?:\s?[,–-]\s?\d{1,4})*|\^[\w-]{1,20}|(?:source|출처)\s*:[^\[\]\n]*)\]"
_CITATION = re.compile(rf"\s?{_NOTE}", re.IGNORECASE)
_APART_FROM_CODE = re.compile(rf"(?<!\w)\s?{_NOTE}", re.IGNORECASE)
_NESTED = 8
_BLANK = re.compile(r"\s+")
# Some mark is made of it; the last ones are marks at the beginning of a line only.
_MAY_MARK = re.compile(f"[`*\\[~_<{{{chr(_FIRST)}-{chr(_FIRST + _MOST_CODES)}#>+•·▪◦-](?:(?<![#>+•·▪◦-])|(?<!\\S.))")


def plain(text: str) -> str:
    """``text`` in one line, without marks of Markdown or HTML, and without bracketed notes such as ``[3]``."""
    if not _MAY_MARK.search(text):
        return " ".join(text.split())
    codes: list[str] = []

    def keep_code(code: re.Match[str]) -> str:
        if len(codes) > _MOST_CODES:
            return code.group(2)
        codes.append(code.group(2))
        return chr(_FIRST + len(codes) - 1)

    # Code stays as it is, but may stand within a link or in bold type.
    prose = _prose(_CODE.sub(keep_code, _PLACE.sub("", text)))
    line = _BLANK.sub(" ", _PLACE.sub(lambda place: codes[ord(place.group()) - _FIRST], prose)).strip()
    # What code and prose put together may look like a note too; an index (``a[1]``) is none.
    return _without(_APART_FROM_CODE, line).strip()


def _prose(text: str) -> str:
    text = _LINE_MARKS.sub("", text)
    text = _ATTRIBUTES.sub("", _IMAGE.sub("", _TAG.sub(" ", _COMMENT.sub(" ", text))))
    text = _LINK.sub(r"\1", text)
    text = _without(_CITATION, text)
    for _ in range(2):
        text = _STRONG.sub(r"\2\4", text)
    return _HALF_STRONG.sub("", text)


def _without(notes: re.Pattern[str], text: str) -> str:
    """Taking one note out can put another together ("[[1]]")."""
    for _ in range(_NESTED):
        if (cleaned := notes.sub("", text)) == text:
            break
        text = cleaned
    return text
