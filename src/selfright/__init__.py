"""Selfright: a self-correcting RAG agent that judges what it found and what it said, with any LLM and with none."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selfright.api.selfright import Selfright
    from selfright.domain.answers import Answer, Citation, Message
    from selfright.domain.errors import SelfrightError
    from selfright.domain.events import (
        AnswerCorrected,
        AnswerToken,
        DraftWithdrawn,
        NodeFinished,
        TurnFinished,
        VerdictReached,
    )
    from selfright.domain.judgements import Evaluation, StopReason, Verdict
    from selfright.flow.strategies import register_strategy
    from selfright.settings import Settings

__all__ = [
    "Answer",
    "AnswerCorrected",
    "AnswerToken",
    "Citation",
    "DraftWithdrawn",
    "Evaluation",
    "Message",
    "NodeFinished",
    "Selfright",
    "SelfrightError",
    "Settings",
    "StopReason",
    "TurnFinished",
    "Verdict",
    "VerdictReached",
    "register_strategy",
]


def __getattr__(name: str) -> object:
    """Public names are imported when they are first used, so that worker processes start quickly."""
    import importlib

    homes = {
        "api.selfright": ("Selfright",),
        "domain.answers": ("Answer", "Citation", "Message"),
        "domain.errors": ("SelfrightError",),
        "domain.events": (
            "AnswerCorrected",
            "AnswerToken",
            "DraftWithdrawn",
            "NodeFinished",
            "TurnFinished",
            "VerdictReached",
        ),
        "domain.judgements": ("Evaluation", "StopReason", "Verdict"),
        "flow.strategies": ("register_strategy",),
        "settings": ("Settings",),
    }
    for module, names in homes.items():
        if name in names:
            return getattr(importlib.import_module(f"selfright.{module}"), name)
    raise AttributeError(f"module 'selfright' has no attribute '{name}'")
