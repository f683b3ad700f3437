"""``RefineStrategy`` [S0]: corrective or basic refinement, and the factory that chooses by flag.

Routing is part of a strategy: by score (``overall < quality_threshold``) [S0], by label [S2], or by both.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from selfright.domain.answers import EvaluationRequest
from selfright.domain.errors import RECOVERABLE_ERRORS, UnknownName
from selfright.domain.flags import Flags
from selfright.domain.judgements import AnswerQuality, Evaluation, QueryClass
from selfright.domain.ports import Evaluator, RefineStrategy
from selfright.flow.state import texts_in

log = logging.getLogger(__name__)

Routing = Literal["score", "label", "both"]
Target = Literal["rewrite", "retrieve", "classify"]


def by_score(evaluation: Evaluation, flags: Flags) -> Target | None:
    """The rule of [S0]: an answer below the quality threshold gets another pass with a rewritten query."""
    return "rewrite" if evaluation.overall < flags.quality_threshold else None


def by_label(evaluation: Evaluation, flags: Flags, *, used_retrieval: bool) -> Target | None:
    """The table of [S2]; also, an unsure judge of an answer without documents asks for retrieval."""
    match evaluation.answer_quality:
        case AnswerQuality.OFF_TOPIC:
            return "classify"
        case AnswerQuality.NEEDS_DOCS | AnswerQuality.HALLUCINATION:
            return "rewrite" if used_retrieval else "retrieve"
        case AnswerQuality.ADEQUATE:
            unsure = evaluation.confidence < flags.evaluation_threshold and not used_retrieval
            return "retrieve" if unsure else None


@dataclass(frozen=True, slots=True)
class CorrectiveRAGStrategy:
    """Judges the answer, and asks for another pass if it is not good enough.

    ``fallbacks`` replace a judge that fails, in their order.
    """

    flags: Flags
    evaluator: Evaluator
    fallbacks: Sequence[Evaluator]
    routing: Routing

    async def refine(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """The evaluation, the quality score, and whether another retrieval is needed."""
        first = self.flags.fast_path == "always" and state.get("fast_path", False) and not state.get("used_retrieval")
        evaluation, notes = await self._evaluate(replace(evaluation_request(state), unsearched=bool(first)))
        update: dict[str, Any] = {"evaluation": evaluation, "quality_score": evaluation.overall, "notes": notes}
        target = self._target({**state, **update})
        return update | {"needs_retrieval": target is not None, "next_node": target or "finalize"}

    def should_retrieve(self, state: Mapping[str, Any]) -> bool:
        """Whether score, label or both ask for another pass, as ``routing`` says."""
        return self._target(state) is not None

    def get_strategy_name(self) -> str:
        """The name [S0] gives it in reports."""
        return "Corrective RAG"

    def get_metrics(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """Quality by pass, passes and routing of the turn so far."""
        return {
            "strategy": self.get_strategy_name(),
            "quality_score": state.get("quality_score", 0.0),
            "quality_score_history": tuple(state.get("quality_score_history", ())),
            "iterations": state.get("iteration_count", 0) + 1,
            "routing": self.routing,
        }

    async def _evaluate(self, request: EvaluationRequest) -> tuple[Evaluation, tuple[str, ...]]:
        notes: tuple[str, ...] = ()
        *judges, last = self.evaluator, *self.fallbacks
        for judge in judges:
            try:
                return await judge.evaluate(request), notes
            except RECOVERABLE_ERRORS as error:
                log.warning("the evaluator failed (%s); another judge stands in", type(error).__name__)
                notes = (texts_in(request.language)["notes"]["stood_in"],)
        judged = await last.evaluate(request)
        return judged, notes if judged.verified else (texts_in(request.language)["notes"]["not_verified"],)

    def _target(self, state: Mapping[str, Any]) -> Target | None:
        evaluation = state.get("evaluation")
        if evaluation is None:
            return None
        label = by_label(evaluation, self.flags, used_retrieval=bool(state.get("used_retrieval")))
        score = None if state.get("query_class") is QueryClass.CHITCHAT else by_score(evaluation, self.flags)
        match self.routing:
            case "score":
                return score
            case "label":
                return label
            case "both":
                return label or score


@dataclass(frozen=True, slots=True)
class BasicRAGStrategy:
    """The baseline: no judging, one pass."""

    async def refine(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """Score 1 without an evaluation, as [S0] defines the baseline."""
        del state
        return {"evaluation": None, "quality_score": 1.0, "needs_retrieval": False}

    def should_retrieve(self, state: Mapping[str, Any]) -> bool:
        """Never: nothing is judged."""
        del state
        return False

    def get_strategy_name(self) -> str:
        """The name [S0] gives it in reports."""
        return "Basic RAG (Baseline)"

    def get_metrics(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """The name, score 1, and one pass."""
        del state
        return {"strategy": self.get_strategy_name(), "quality_score": 1.0, "iterations": 1}


StrategyFactory = Callable[[Flags, Evaluator, Sequence[Evaluator], Routing], RefineStrategy]

_FACTORIES: dict[str, StrategyFactory] = {
    "corrective_rag": CorrectiveRAGStrategy,
    "basic_rag": lambda _flags, _evaluator, _fallbacks, _routing: BasicRAGStrategy(),
}


def register_strategy(name: str, factory: StrategyFactory) -> None:
    """Makes a custom strategy selectable with the flag ``refine_strategy``."""
    _FACTORIES[name] = factory


def check_strategy(name: str) -> None:
    """Raises ``UnknownName`` for a strategy that is not registered."""
    if name not in _FACTORIES:
        raise UnknownName("refine_strategy", name, _FACTORIES)


def create_strategy(
    flags: Flags, evaluator: Evaluator, fallbacks: Sequence[Evaluator], routing: Routing
) -> RefineStrategy:
    """The strategy named by the flags; raises ``UnknownName`` if it is not registered."""
    check_strategy(flags.refine_strategy)
    name = flags.refine_strategy if flags.self_refine_enabled else "basic_rag"
    return _FACTORIES[name](flags, evaluator, fallbacks, routing)


def evaluation_request(state: Mapping[str, Any]) -> EvaluationRequest:
    """What the judge gets to see of the state."""
    return EvaluationRequest(
        question=state["question"],
        draft=state["draft"],
        language=state["language"],
        query_class=state.get("query_class", QueryClass.QUESTION),
        hits=(*state.get("retrieved_docs", ()), *state.get("web_docs", ())),
        strips=state.get("strips") or (),
        profile_summary=state.get("profile_summary", ""),
        previous=state.get("evaluation"),
        history=tuple(state.get("messages", ())),
        concerns=state.get("concerns", ()),
        personal=state.get("personal", ()),
    )
