"""What a judgement says of an answer in words: why it is as it is, and what to do about it."""

from collections.abc import Sequence

from selfright.domain.passages import Language
from selfright.domain.wordings import wordings

_TEXTS = wordings(__package__, "wording")
_LONGEST = 160


def reason(language: Language, kind: str, what: Sequence[str] = ()) -> str:
    """One sentence on why the judgement is as it is; ``kind`` is a label or a finding."""
    reasons = _TEXTS[language]["reasons"]
    return reasons.get(kind, reasons["incomplete"]).format(what=_join_items(what))


def suggestion(language: Language, kind: str, what: Sequence[str]) -> str:
    """One thing to do about the answer: ``address``, ``correct``, ``support`` or ``heed``."""
    return _TEXTS[language]["suggestions"][kind].format(what=_join_items(what))


def _join_items(what: Sequence[str]) -> str:
    text = ", ".join(what)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1].rstrip() + "…"
