"""Titles and snippets from strangers, made harmless: they are shown in links, lists and pages."""

import re
from html import unescape

TITLE_LENGTH = 200

# Control characters, and those that are not seen or turn the reading order: no reader knows that they are there.
INVISIBLE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    r"\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,500}>")
# What would end a link's text or begin another one, in Markdown or HTML.
_HARMLESS = str.maketrans({"<": "‹", ">": "›", "[": "(", "]": ")", "`": "'", "\\": "/", "|": "·", '"': "'"})


def clean_title(text: str) -> str:
    """One line of at most 200 characters that breaks neither Markdown nor HTML."""
    return " ".join(INVISIBLE.sub("", text[: 5 * TITLE_LENGTH].replace("\n", " ")).translate(_HARMLESS).split())[
        :TITLE_LENGTH
    ].strip()


def plain(text: str, most: int = 2_000) -> str:
    """A snippet without tags, entities and invisible characters, in one line."""
    return " ".join(visible(unescape(_TAG.sub("", text[: 2 * most]))).split())[:most].strip()


def visible(text: str) -> str:
    """The text without characters that nobody sees; lines stay."""
    return INVISIBLE.sub("", text.replace("\r\n", "\n").replace("\r", "\n").replace("\x0b", " ").replace("\x0c", "\n"))
