"""Selfright: a self-correcting RAG agent that judges what it found and what it said, with any LLM and with none."""

from selfright.api import Selfright
from selfright.domain.answers import Answer, Citation, Message, NodeFinished, TurnFinished
from selfright.domain.errors import SelfrightError
from selfright.domain.judgements import Evaluation, StopReason, Verdict
from selfright.flow.strategies import register_strategy
from selfright.settings import Settings

__all__ = [
    "Answer",
    "Citation",
    "Evaluation",
    "Message",
    "NodeFinished",
    "Selfright",
    "SelfrightError",
    "Settings",
    "StopReason",
    "TurnFinished",
    "Verdict",
    "register_strategy",
]
