"""The metrics that every study of answers has, in the order of its tables."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from selfright.evals.measures.cost import (
    CutShort,
    InfiniteLoop,
    Iterations,
    LLMCalls,
    RetrievalAvoided,
    Seconds,
    Tokens,
)
from selfright.evals.measures.judgements import Answered, Grounding, OwnQuality, Quality, SecondPassQuality
from selfright.evals.measures.retrieval import (
    CitationPrecision,
    RetrievalPrecision,
    RetrievalRecall,
    TargetedRetrievalRate,
)
from selfright.evals.measures.words import F1, Containment, ExactMatch, Right
from selfright.evals.metrics import Metric

STANDARD: Sequence[Metric] = (
    Right(),
    Answered(),
    Containment(),
    F1(),
    ExactMatch(),
    Quality(),
    Grounding(),
    OwnQuality(),
    SecondPassQuality(),
    RetrievalPrecision(),
    RetrievalRecall(),
    RetrievalPrecision("second_pass_precision", 1),
    RetrievalRecall("second_pass_recall", 1),
    TargetedRetrievalRate(),
    TargetedRetrievalRate("targeted_retrieval_new", only_new=True),
    CitationPrecision(),
    Iterations(),
    LLMCalls(),
    Tokens(),
    Seconds(),
    InfiniteLoop(),
    CutShort(),
    RetrievalAvoided(),
)

BETTER: Mapping[str, bool] = MappingProxyType(
    {
        metric.name: metric.name
        not in ("iterations", "llm_calls", "tokens", "seconds", "infinite_loop_rate", "cut_short")
        for metric in STANDARD
    }
)
"""Whether more of a metric is better."""
