"""Small talk by its form: a message that consists of a few acts of talk, and of nothing else.

The acts (a greeting, thanks, yes and no, a call for help, "what did I ask before?") are closed sets of short phrases,
in ``talk.toml``. One word more makes a message a question, for a question lost is worse than small talk looked up.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache

from selfright.domain.passages import Language
from selfright.domain.tables import read_table
from selfright.roles.restating import again

# The most telling one first: "Hi, what can you do?" asks for more than a greeting.
ACTS = ("recall", "about", "thanks", "bye", "mood", "greeting", "ack")
_LONGEST = 80
_MOST_WORDS = 14  # of one phrase
_APOSTROPHE = re.compile(r"['’]")
_WORD = re.compile(r"\w+")
_FIRST = re.compile(r"first|beginning|start|original|initial|처음|첫", re.IGNORECASE)


def act_of(text: str) -> str | None:
    """The act of talk that ``text`` is, one of ``ACTS``; None where anything else is in it."""
    found = set(_acts(text)) if len(text) <= _LONGEST else set()
    return None if "" in found else next((act for act in ACTS if act in found), None)


def reply(text: str, language: Language, before: Sequence[str] = ()) -> str:
    """The fixed reply to small talk, and to a request for more of what was not said yet; "all right" where it is on no
    list. ``before`` is what the user said so far."""
    act, words = _kind(text, bool(before)), read_table(__package__, "talk")["replies"][language]
    asked = [said for said in before if act_of(said) is None] if act == "recall" else []
    if act == "recall":
        act = ("first" if _FIRST.search(text) else "last") if asked else "none"
    said = {"first": asked[0], "last": asked[-1]}.get(act, "") if asked else ""
    return str(words[act].format(can=words["can"], asked=said))


def is_listed(text: str, has_before: bool) -> bool:
    """Whether ``reply`` has a reply of its own to it, so that no model need be asked."""
    return _kind(text, has_before) != "other"


def _kind(text: str, has_before: bool) -> str:
    unlisted = "more" if again(text) and not has_before else "other" if any(map(str.isalnum, text)) else "nothing"
    return act_of(text) or unlisted


def _acts(text: str) -> Iterator[str]:
    """The act of each phrase of ``text``; empty for one that is none, with which it ends."""
    plain = _APOSTROPHE.sub("", unicodedata.normalize("NFC", text).casefold())
    words = _WORD.findall(plain)
    while words:
        lengths = range(min(len(words), _MOST_WORDS), 0, -1)
        found = ((act, n) for n in lengths for act, phrases in _sets() if phrases.fullmatch("".join(words[:n])))
        act, n = next(found, ("", len(words)))
        yield act
        words = words[n:]


@cache
def _sets() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """The phrases of each act, of both languages: they are mixed."""
    table = read_table(__package__, "talk")
    lines = {name: [*table[name]["en"], *table[name]["ko"]] for name in (*ACTS, "beside")}
    return tuple((name, re.compile("|".join(found))) for name, found in lines.items())
