"""What models put around a rewritten query, taken off; shared by every rewriter."""

import re

LONGEST_QUERY = 400

_PREFIX = re.compile(
    r"^\s*(?:[-*>#]+\s*)?(?:\*\*)?(?:"
    r"(?:재작성(?:된|한)?|수정된|개선된|새로운|최종)\s*(?:질의|질문|검색어|쿼리)(?:문)?|(?:검색\s*)?(?:질의|질문|검색어|쿼리)"
    r"|(?:the\s+)?(?:re-?written|revised|improved|refined|new|final|search|standalone|stand-alone)\s+(?:search\s+)?(?:query|question)"
    r"|query|question|output|answer|출력|답변)(?:\s*(?:은|는|is))?(?:\*\*)?\s*[:：](?:\*\*)?\s*",
    re.IGNORECASE,
)
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "「": "」", "`": "`"}
_BLANK = re.compile(r"\s+")


def strip_prefix(text: str) -> str:
    """``text`` as a bare query in one line, without "재작성된 질의:", "Rewritten query:" and the like, and unquoted."""
    line = _BLANK.sub(" ", text).strip()
    while (match := _PREFIX.match(line)) and match.end() < len(line):
        line = line[match.end() :].strip()
    while len(line) > 1 and _QUOTES.get(line[0]) == line[-1] and line[0] not in line[1:-1]:
        line = line[1:-1].strip()
    return line


def bounded(text: str, longest: int = LONGEST_QUERY) -> str:
    """``text`` cut at a word's end to at most ``longest`` characters."""
    if len(text) <= longest:
        return text
    head, blank, _ = text[: longest + 1].rpartition(" ")
    return (head if blank and len(head) > longest // 2 else text[:longest]).rstrip(" ,;(")
