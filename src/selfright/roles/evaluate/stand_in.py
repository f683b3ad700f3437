"""Who judges when the judge failed: the local judge, and the heuristic only when that fails too."""

import logging
from dataclasses import dataclass

from selfright.domain.answers import EvaluationRequest
from selfright.domain.errors import FAILURES
from selfright.domain.judgements import Evaluation
from selfright.domain.ports import Evaluator

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class StandInJudge:
    """Stands in for a model that failed as judge (port ``Evaluator``); ``source`` of its judgement says who judged."""

    local: Evaluator
    heuristic: Evaluator

    async def evaluate(self, request: EvaluationRequest) -> Evaluation:
        """The local judgement, else the heuristic's."""
        try:
            return await self.local.evaluate(request)
        except FAILURES as error:
            log.warning("the local judge failed, too (%s); the heuristic stands in", type(error).__name__)
            return await self.heuristic.evaluate(request)
