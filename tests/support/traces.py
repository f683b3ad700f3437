"""Turns with a marked word in everything that was said, to find out where content goes."""

from dataclasses import replace

from selfright.domain.answers import Answer, Citation, Cost, Iteration, Step
from selfright.domain.judgements import (
    AnswerQuality,
    Claim,
    ClaimStatus,
    Evaluation,
    EvaluationSource,
    StopReason,
    Verdict,
)
from selfright.domain.node_outcomes import NodeOutcome
from selfright.domain.traces import Trace, TurnSetup
from selfright.domain.turns import Scope
from selfright.telemetry.outline import finished_trace

SAID = "xylophone"
"""A word that stands in every piece of content, and in nothing else."""


def answer(text: str = SAID, **fields: object) -> Answer:
    """An answer whose every text holds ``text``."""
    evaluation = Evaluation(
        0.9,
        0.8,
        0.7,
        AnswerQuality.ADEQUATE,
        0.6,
        EvaluationSource.LOCAL,
        missing_info=(text,),
        improvement_suggestions=(text,),
        reason=text,
        claims=(Claim(text, ClaimStatus.SUPPORTED, (text,), 0.9),),
    )
    values: dict[str, object] = {
        "question": text,
        "answer": text,
        "abstained": False,
        "language": "en",
        "citations": (Citation(1, text, text, text, text, 0, len(text), text, text),),
        "evaluation": evaluation,
        "verdict": Verdict.AMBIGUOUS,
        "stop_reason": StopReason.ADEQUATE,
        "preset": "full",
        "degraded": False,
        "iterations": (
            Iteration(text, Verdict.INCORRECT, 0.25, (text,)),
            Iteration(text, Verdict.CORRECT, 0.82, (text, f"{text} 2"), 0.57, 0.5),
        ),
        "removed_claims": (text,),
        "notes": (text,),
        "cost": Cost(3, 200, 50, 1, 1.5),
        "trace_id": "0123456789abcdef0123456789abcdef",
        "trace": (
            Step("retrieve", 0.01, NodeOutcome(passages=8)),
            Step("grade", 0.2, NodeOutcome(verdict=Verdict.INCORRECT, sufficiency=0.1)),
            Step("quality_check", 0.0, NodeOutcome(again="rewrite")),
            Step("rewrite", 0.001),
            Step("retrieve", 0.01, NodeOutcome(passages=8)),
            Step("quality_check", 0.0, NodeOutcome(stop=StopReason.ADEQUATE)),
        ),
    }
    return Answer(**{**values, **fields})


ORIGINS = TurnSetup(
    preset="full",
    flags={"top_k": 8},
    chosen={"top_k": 5},
    models={"answer": "openai:scripted"},
    modes={"openai:scripted": "json_schema"},
    versions={"selfright": "0.1.0", "python": "3.11.7"},
    index={"embedder": "none", "tokenizer": "words"},
    web=True,
)


def trace(number: int, user: str = "u") -> Trace:
    """An outline of a turn; later ones have higher numbers, and ids that begin with them."""
    outline = finished_trace(answer(), 1_000.0 + number, Scope(user), ORIGINS, content=False)
    return replace(outline, id=f"{number:08x}" + "0" * 24)
