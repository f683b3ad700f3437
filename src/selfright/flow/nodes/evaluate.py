"""generate → evaluate."""

import math
from typing import Any

from selfright.domain.answers import Attempt
from selfright.domain.errors import JudgeFailed
from selfright.domain.judgements import Grading
from selfright.domain.tools import Tools
from selfright.flow.attempts import better, iteration
from selfright.flow.evidence import together
from selfright.flow.floor import instead_of_weak, quoted
from selfright.flow.state import AgentState


async def evaluate(state: AgentState, tools: Tools) -> dict[str, Any]:
    """Lets the strategy judge the draft, and stores it if it is the best so far.

    A weak model's draft that fails gives way to the offline writer's, which is judged in its place.
    """
    update, attempt = await _judged(state, tools)
    if (draft := await instead_of_weak(state, tools, attempt)) is not None:
        state = {**state, "draft": draft, "answer": draft.text}
        update, attempt = await _judged(state, tools)
        update |= {"draft": draft, "answer": draft.text}
    score = attempt.score
    scores = (*state.get("quality_score_history", ()), score)
    return {
        **update,
        "best": better(state.get("best"), attempt),
        "quoted": await quoted(state, tools, attempt),
        "quality_score_history": (score,),
        "iterations": (iteration(state, scores, score if update.get("evaluation") else None),),
    }


async def _judged(state: AgentState, tools: Tools) -> tuple[dict[str, Any], Attempt]:
    update = dict(await tools.strategy.refine(state))
    score = update["quality_score"]
    if not (isinstance(score, int | float) and math.isfinite(score)):
        raise JudgeFailed(
            f"a strategy must give a finite quality_score, but {tools.strategy.get_strategy_name()} did not"
        )
    return update, Attempt(
        draft=state["draft"],
        evaluation=update.get("evaluation"),
        score=score,
        iteration=state["iteration_count"],
        verdict=state.get("verdict"),
        strips=state.get("strips") or (),
        hits=(*state.get("retrieved_docs", ()), *state.get("web_docs", ())),
        grading=_graded(state),
    )


def _graded(state: AgentState) -> Grading | None:
    """The grading of what the draft was written from: of this pass, and of an earlier one whose evidence was kept."""
    own = together(state.get("grading"), state.get("web_grading"))
    best = state.get("best")
    if best is None or best.grading is None:
        return own
    graded = {grade.passage_id for grade in own.grades} if own else set()
    kept = {strip.passage.id for strip in state.get("strips") or ()} - graded
    return together(own, best.grading) if any(best.grading.probability(name) is not None for name in kept) else own
