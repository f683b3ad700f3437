"""generate → evaluate."""

import math
from typing import Any

from selfright.domain.answers import Attempt
from selfright.domain.errors import JudgeFailed
from selfright.domain.tools import Tools
from selfright.flow.attempts import better, iteration
from selfright.flow.evidence import together
from selfright.flow.floor import quoted
from selfright.flow.state import AgentState


async def evaluate(state: AgentState, tools: Tools) -> dict[str, Any]:
    """Lets the strategy judge the draft, and stores it if it is the best so far."""
    update = await tools.strategy.refine(state)
    score = update["quality_score"]
    if not (isinstance(score, int | float) and math.isfinite(score)):
        raise JudgeFailed(
            f"a strategy must give a finite quality_score, but {tools.strategy.get_strategy_name()} did not"
        )
    attempt = Attempt(
        draft=state["draft"],
        evaluation=update.get("evaluation"),
        score=score,
        iteration=state["iteration_count"],
        verdict=state.get("verdict"),
        strips=state.get("strips") or (),
        hits=(*state.get("retrieved_docs", ()), *state.get("web_docs", ())),
        grading=together(state.get("grading"), state.get("web_grading")),
    )
    scores = (*state.get("quality_score_history", ()), score)
    return {
        **update,
        "best": better(state.get("best"), attempt),
        "quoted": await quoted(state, tools, attempt),
        "quality_score_history": (score,),
        "iterations": (iteration(state, scores, score if update.get("evaluation") else None),),
    }
