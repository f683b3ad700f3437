"""Asking a judge of pairs (port ``PairJudge``) in a way that a judge out of order fails nothing."""

import logging
from collections.abc import Sequence
from functools import lru_cache

from selfright.domain.errors import ModelError
from selfright.domain.judgements import PairReading
from selfright.domain.ports import PairJudge

log = logging.getLogger(__name__)


def read_pairs(judge: PairJudge, text: str, passages: Sequence[str]) -> Sequence[PairReading] | None:
    """What the judge makes of the passages; None when it cannot be used, which is said once: the rest goes on alone."""
    try:
        return judge.read(text, passages)
    except ModelError as error:
        _say(f"judging goes on without {judge.name}: {error}")
        return None


@lru_cache(maxsize=8)
def _say(message: str) -> None:
    log.error(message)
