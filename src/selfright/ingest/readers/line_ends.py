"""Lines as a page has them, put together: what was divided at a line's end is one word again, Korean too."""

import functools
import importlib
import re
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

_HANGUL = "\uac00-\ud7a3"
_IDEOGRAPHS = "\u3001-\u30ff\u3400-\u9fff\uf900-\ufaff\uff01-\uff60"
_KOREAN = re.compile(rf"(?<=[{_HANGUL}])\n(?=[{_HANGUL}])")
_UNSPACED = re.compile(rf"(?<=[{_IDEOGRAPHS}])\n(?=[{_IDEOGRAPHS}])")
_HYPHEN = re.compile(r"([^\W\d_]+)([-\u2010\u00ad\x02\ufffe])\n([^\W\d_]+)")
_AFTER_HYPHEN = re.compile(r"(?<=\w[-\u2010])\n(?=\w)")
_COMPOUND = re.compile(r"\w+-\w+")
_CONTEXT = 16  # characters of each line
_MOST = 20_000  # line ends of a file
_FEW = 8
_DIVIDED = 0.2  # of the line ends: in a text that is divided between words, a few are taken for divided words


def is_hangul(character: str) -> bool:
    """Whether it is a Korean syllable."""
    return "\uac00" <= character <= "\ud7a3"


def join_lines(texts: Sequence[str]) -> list[str]:
    """The texts of one document, each without its line breaks.

    A hyphen stays where the same document has the word with it within a line. Korean words are put together where
    the extra ``ko`` is installed.
    """
    compounds = {word.lower() for text in texts for word in _COMPOUND.findall(text)}

    def without_hyphen(match: re.Match[str]) -> str:
        before, hyphen, after = match.groups()
        is_compound = hyphen in "-\u2010" and (not after[0].islower() or f"{before}-{after}".lower() in compounds)
        return f"{before}-{after}" if is_compound else before + after

    divided = iter(_find_divisions([pair for text in texts for pair in _pairs(text)]))
    whole = []
    for text in texts:
        korean = _KOREAN.sub(lambda _: "" if next(divided) else " ", text)
        unspaced = _HYPHEN.sub(without_hyphen, _UNSPACED.sub("", korean))
        whole.append(_AFTER_HYPHEN.sub("", unspaced).replace("\n", " "))
    return whole


def _pairs(text: str) -> list[tuple[str, str]]:
    """What stands around each line end between two Korean syllables."""
    return [
        (text[max(match.start() - _CONTEXT, text.rfind("\n", 0, match.start()) + 1) : match.start()],
         text[match.end() : match.end() + _CONTEXT].partition("\n")[0])
        for match in _KOREAN.finditer(text)
    ]  # fmt: skip


def _find_divisions(pairs: Sequence[tuple[str, str]]) -> list[bool]:
    """Whether a word goes on over each line end."""
    if not pairs or find_spec("kiwipiepy") is None:
        return [False] * len(pairs)
    tried = pairs[:_MOST]
    chunks = [chunk for pair in tried for chunk in pair]
    _, spaced = _kiwi().glue(chunks, return_space_insertions=True)
    divided = [not has_blank for has_blank in spaced[::2]] + [False] * (len(pairs) - len(tried))
    return divided if len(pairs) < _FEW or sum(divided) >= _DIVIDED * len(tried) else [False] * len(pairs)


@functools.lru_cache(maxsize=1)
def _kiwi() -> Any:
    module: Any = importlib.import_module("kiwipiepy")  # it does not declare what it exports
    return module.Kiwi(num_workers=1, load_multi_dict=False, load_typo_dict=False)
