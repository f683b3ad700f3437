"""The citations that a language model writes into its text, in whatever form, as numbers and places."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from selfright.domain.blocks import blocks

INLINE_CODE = re.compile(r"(?<!`)(`++)[^\n]*?(?<!`)\1(?!`)")
"""Code within a line: between two runs of as many backticks."""

_NAME = r"(?:passages?|documents?|docs?|sources?|references?|refs?|citations?|문단|문서|출처|자료|근거|참고|인용)"
_WORD = rf"{_NAME}[\s:：#.]{{0,3}}"
_SEPARATOR = r"\s{0,2}(?:,|;|·|&|、|，|[-–~∼]|\band\b|및|와|과)\s{0,2}"
_ENTRY = rf"(?:{_WORD}){{0,2}}\d{{1,4}}번?"
_ENTRIES = rf"{_ENTRY}(?:{_SEPARATOR}{_ENTRY}){{0,19}}"
_BRACKETED = rf"[\[【［]\s?\^?{_ENTRIES}(?:†[^\[\]【】\n]{{0,60}})?\s?[\]】］](?:\([^()\s]{{1,300}}\))?"
_IN_PARENTHESES = rf"[(（]\s?{_WORD}{_ENTRIES}\s?[)）]"
_MARK = rf"(?:{_BRACKETED}|{_IN_PARENTHESES})"
# "According to [1], …", "[1]에 따르면 …": without the number the words around it say nothing.
_BEFORE = (
    r"(?:\b(?P<lead>according to|as (?:stated|described|shown|mentioned) in|based on|see(?: also)?)\s{1,2})?"
    rf"(?P<named>(?:\bthe\s)?{_NAME}\s?)?(?:{_NAME}\s?[:：]\s?)?"
)
_AFTER = r"(?P<tail>에 (?:따르면|의하면|나온 대로|나와 있듯이))?"
_CITED = re.compile(
    rf"[^\S\n]*{_BEFORE}(?P<first>{_MARK})(?P<more>(?:[^\S\n]{{0,2}},?[^\S\n]{{0,2}}{_MARK}){{0,19}}){_AFTER}",
    re.IGNORECASE,
)
_RANGE = re.compile(r"(\d{1,4})\D{0,12}?\s{0,2}[-–~∼]\s{0,2}\D{0,12}?(\d{1,4})")
_LINK = re.compile(r"\([^()\s]*\)\Z|†[^\[\]【】\n]*")
_NUMBER = re.compile(r"\d{1,4}")
_LINE_START = re.compile(r"[^\S\n]*(?:(?:[-*+•·▪◦]|\(?\d{1,3}[.)])[^\S\n]+)?\Z")
_BREATH = re.compile(r"[^\S\n]*[,，:]?[^\S\n]*")
_BLANKS = " \t\u00a0\u3000"
_STOPS = ".!?…。！？"
_WIDEST_RANGE = 20


@dataclass(frozen=True, slots=True)
class Mark:
    """One citation: ``at`` is where it stood in the text without citations, ``numbers`` are the passages it names.

    ``leads``: it opens a line or ("According to [1], …") a sentence, and so speaks for what follows.
    """

    at: int
    numbers: tuple[int, ...]
    leads: bool


def without_marks(text: str) -> tuple[str, list[Mark]]:
    """``text`` without its citations, and those; code is left alone, for ``a[1]`` there is none."""
    kept = ""
    marks: list[Mark] = []
    last = 0
    for match in _outside_code(text):
        # "the passages [1]" is part of what is said, "according to the passages [1]" only says where it is from.
        phrased = match["lead"] or match["tail"] or not match["named"]
        kept += text[last : match.start() if phrased else match.end("named")].rstrip(_BLANKS)
        leads = _leads(text, match)
        marks.append(Mark(len(kept), _numbers(match), leads))
        last = match.end()
        if leads:
            last = _BREATH.match(text, last).end()  # type: ignore[union-attr]  # matches the empty string too
        if kept and kept[-1] in _STOPS and text[last : last + 1].isalnum():
            kept += " "  # two sentences would run together
        if match["lead"] and leads:
            kept += text[last : last + 1].upper()
            last += 1
    return kept + text[last:], marks


def _outside_code(text: str) -> Iterator[re.Match[str]]:
    code = [(block.start, block.end) for block in blocks(text) if block.kind == "code"]
    code += [match.span() for match in INLINE_CODE.finditer(text)]
    return (match for match in _CITED.finditer(text) if not _inside(match.start("first"), code))


def _inside(at: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start <= at < end for start, end in spans)


def _numbers(match: re.Match[str]) -> tuple[int, ...]:
    found: list[int] = []
    for mark in re.findall(_MARK, match["first"] + match["more"], re.IGNORECASE):
        named = _LINK.sub("", mark)
        for first, last in _RANGE.findall(named):
            if 0 < int(last) - int(first) <= _WIDEST_RANGE:
                found += range(int(first), int(last) + 1)
        found += map(int, _NUMBER.findall(named))
    return tuple(dict.fromkeys(found))


def _leads(text: str, match: re.Match[str]) -> bool:
    line_start = text.rfind("\n", 0, match.start()) + 1
    line_end = text.find("\n", match.end())
    rest = text[match.end() : line_end if line_end >= 0 else len(text)]
    if not any(character.isalnum() for character in rest):
        return False
    phrased = (match["lead"] or match["tail"]) and text[: match.start()].rstrip()[-1:] in _STOPS
    return bool(phrased) or _LINE_START.match(text, line_start, match.start()) is not None
