"""Words at the line ends of a PDF, put together where a line divides them."""

import functools
import importlib
import re
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

_HANGUL = "\uac00-\ud7a3"
_IDEOGRAPHS = "\u3001-\u30ff\u3400-\u9fff\uf900-\ufaff\uff01-\uff60"
# That a line break comes first lets the search skip all other characters.
_KOREAN = re.compile(rf"\n(?<=[{_HANGUL}]\n)(?=[{_HANGUL}])")
_UNSPACED = re.compile(rf"\n(?<=[{_IDEOGRAPHS}]\n)(?=[{_IDEOGRAPHS}])")
_HYPHEN = re.compile(r"([^\W\d_]+)([-\u2010\u00ad\x02\ufffe])\n([^\W\d_]+)")
_HAS_HYPHEN = re.compile(r"\n(?<=[^\W\d_][-\u2010\u00ad\x02\ufffe]\n)")
_AFTER_HYPHEN = re.compile(r"\n(?<=\w[-\u2010]\n)(?=\w)")
# An address that goes on: behind a dot in small letters, behind a stroke with another sign of addresses in the word.
_ADDRESS_END = re.compile(r"\n(?<=[./_=&?%#]\n)(?=(?<=\.\n)[a-z]|(?<=[=&?%#_]\n)\w|[\w-]{1,60}[./_=?&%#-]\w)")
_OF_ADDRESS = re.compile(r"://|\w@\w|^\W?www\.")
_COMPOUND = re.compile(r"\w+-\w+")
_ADDRESS = 200  # characters
_CONTEXT = 16  # characters of each line
_MOST_ENDS, _FEW_ENDS = 20_000, 8  # line ends of a file
_DIVIDED = 0.2  # of the line ends: in a text that is divided between words, a few are taken for divided words


def join_lines(texts: Sequence[str]) -> list[str]:
    """The texts of one document, each without its line breaks.

    A hyphen stays in an address, and where the same document has the word with it within a line. Korean words are put
    together where the extra ``ko`` is installed.
    """
    compounds = {word.lower() for text in texts for word in _COMPOUND.findall(text)}

    def without_hyphen(match: re.Match[str]) -> str:
        before, hyphen, after = match.groups()
        address = match.string[max(0, match.start() - _ADDRESS) : match.end(1)].split()[-1]
        is_whole = "://" in address or not after[0].islower() or f"{before}-{after}".lower() in compounds
        is_compound = hyphen in "-\u2010" and is_whole
        return f"{before}-{after}" if is_compound else before + after

    divided = iter(_find_divisions([pair for text in texts for pair in _pairs(text)]))
    whole = []
    for text in texts:
        korean = _KOREAN.sub(lambda _: "" if next(divided) else " ", text)
        unspaced = _UNSPACED.sub("", korean)
        unspaced = _HYPHEN.sub(without_hyphen, unspaced) if _HAS_HYPHEN.search(unspaced) else unspaced
        unbroken = _ADDRESS_END.sub(_within_address, _AFTER_HYPHEN.sub("", unspaced))
        whole.append(unbroken.replace("\n", " "))
    return whole


def _within_address(end: re.Match[str]) -> str:
    before = end.string[max(0, end.start() - _ADDRESS) : end.start()].split()[-1]
    return "" if _OF_ADDRESS.search(before) else "\n"


def _pairs(text: str) -> list[tuple[str, str]]:
    """What stands around each line end between two Korean syllables."""
    ends = ((above[-_CONTEXT:], below[:_CONTEXT]) for above, below in pairwise(text.split("\n")))
    return [(above, below) for above, below in ends if _KOREAN.search(f"{above}\n{below}")]


def _find_divisions(pairs: Sequence[tuple[str, str]]) -> list[bool]:
    """Whether a word goes on over each line end."""
    if not pairs or find_spec("kiwipiepy") is None:
        return [False] * len(pairs)
    tried = pairs[:_MOST_ENDS]
    chunks = [chunk for pair in tried for chunk in pair]
    _, spaced = _kiwi().glue(chunks, return_space_insertions=True)
    divided = [not has_blank for has_blank in spaced[::2]] + [False] * (len(pairs) - len(tried))
    return divided if len(pairs) < _FEW_ENDS or sum(divided) >= _DIVIDED * len(tried) else [False] * len(pairs)


@functools.lru_cache(maxsize=1)
def _kiwi() -> Any:
    module: Any = importlib.import_module("kiwipiepy")  # it does not declare what it exports
    return module.Kiwi(num_workers=1, load_multi_dict=False, load_typo_dict=False)
