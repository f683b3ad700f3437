"""The presets: each a graph as a table (node → next node, or the route that chooses it), and its flags."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from selfright.domain.errors import UnknownName
from selfright.domain.flags import Flags
from selfright.flow import routes
from selfright.flow.strategies import Routing

END = "__end__"

Route = Callable[[Any], str | Sequence[str]]
Edges = Mapping[str, str | Route]


@dataclass(frozen=True, slots=True)
class Preset:
    """A named graph and its flags. Flags set by the user or passed to a call override them."""

    name: str
    summary: str
    start: str
    edges: Edges
    routing: Routing = "both"
    flags: Mapping[str, Any] = field(default_factory=dict)
    mode: str = "ai_agent"

    @property
    def grades(self) -> bool:
        """Whether what was retrieved is graded in this graph."""
        return "grade" in self.edges

    @property
    def judges(self) -> bool:
        """Whether the answer is judged in this graph."""
        return "evaluate" in self.edges

    def max_visits(self, flags: Flags) -> int:
        """The most node visits in a turn: every node once per pass, and passes are limited."""
        passes = 1 + flags.max_refine_iterations if "quality_check" in self.edges else 1
        return passes * len(self.edges)


_ANSWER: Edges = {"assemble_context": "generate", "generate": "finalize", "finalize": END}
_JUDGED: Edges = {
    "assemble_context": "generate",
    "generate": "evaluate",
    "evaluate": "quality_check",
    "quality_check": routes.after_quality_check,
    "rewrite": "retrieve",
    "repair_claims": "finalize",
    "finalize": END,
}
_CORRECTIVE: Edges = {
    "retrieve": "grade",
    "grade": routes.after_grade,
    "refine_knowledge": routes.after_refine_knowledge,
    "web_search": routes.after_web_search,
}
_PROFILE: Edges = {"extract_slots": "store_memory"}

LLM = Preset(
    name="llm",
    summary="the model answers the text as it is: no retrieval, no judging",
    start="contextualize",
    edges={"contextualize": "assemble_context", **_ANSWER},
    flags={"self_refine_enabled": False},
    mode="llm",
)
BASIC = Preset(
    name="basic",
    summary="retrieve, answer, stop: the baseline",
    start="contextualize",
    edges={"contextualize": "retrieve", "retrieve": "assemble_context", **_ANSWER},
    flags={"refine_strategy": "basic_rag"},
)
CRAG = Preset(
    name="crag",
    summary="grade what was retrieved, keep the strips that matter, search the web when the index cannot answer",
    start="contextualize",
    edges={"contextualize": "retrieve", **_CORRECTIVE, **_ANSWER},
    flags={"self_refine_enabled": False},
)
SELF_REFINE = Preset(
    name="self_refine",
    summary="judge the answer, rewrite the query from what was missing, two guards",
    start="contextualize",
    edges={
        "contextualize": "extract_slots",
        **_PROFILE,
        "store_memory": "retrieve",
        "retrieve": "assemble_context",
        **_JUDGED,
    },
    routing="score",
)
SELF_CORRECTING = Preset(
    name="self_correcting",
    summary="classify, answer fast when that is enough, judge, route by label",
    flags={"fast_path": "always"},
    start="contextualize",
    edges={
        "contextualize": "classify",
        "classify": routes.after_classify,
        "retrieve": "assemble_context",
        **_JUDGED,
    },
    routing="label",
)
FULL = Preset(
    name="full",
    summary="everything: profile, classes, grading, refinement, web, judging, both loops",
    start="contextualize",
    edges={
        "contextualize": "extract_slots",
        **_PROFILE,
        "store_memory": "classify",
        "classify": routes.after_classify,
        **_CORRECTIVE,
        **_JUDGED,
    },
)

_STATIC = {**SELF_REFINE.flags, "query_rewrite_enabled": False, "safety_guards_enabled": False}
_DYNAMIC = {**SELF_REFINE.flags, "query_rewrite_enabled": True, "safety_guards_enabled": False}

ABLATION_PRESETS = (
    replace(BASIC, name="baseline", summary="ablation: BasicRAG"),
    replace(
        SELF_REFINE,
        name="self_refine_heuristic",
        summary="ablation: heuristic evaluation, static query, no guards",
        flags={**_STATIC, "evaluator": "heuristic"},
    ),
    replace(
        SELF_REFINE,
        name="self_refine_llm_quality",
        summary="ablation: real evaluation (the model's, or the local judge's offline), static query, no guards",
        flags=_STATIC,
    ),
    replace(
        SELF_REFINE,
        name="self_refine_dynamic_query",
        summary="ablation: real evaluation, rewritten query, no guards",
        flags=_DYNAMIC,
    ),
    replace(SELF_REFINE, name="self_refine_full_safety", summary="ablation: real evaluation, rewritten query, guards"),
    replace(FULL, name="full_context_engineering", summary="ablation: everything"),
)

PRESETS: Mapping[str, Preset] = MappingProxyType(
    {preset.name: preset for preset in (LLM, BASIC, CRAG, SELF_REFINE, SELF_CORRECTING, FULL, *ABLATION_PRESETS)}
)


def find_preset(name: str) -> Preset:
    """The preset of that name; raises ``UnknownName``, which suggests the nearest one."""
    if name not in PRESETS:
        raise UnknownName("preset", name, PRESETS)
    return PRESETS[name]
