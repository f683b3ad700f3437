"""Every node by name."""

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any

from selfright.domain.tools import Tools
from selfright.flow.nodes.assemble_context import assemble_context
from selfright.flow.nodes.classify import classify
from selfright.flow.nodes.contextualize import contextualize
from selfright.flow.nodes.evaluate import evaluate
from selfright.flow.nodes.extract_slots import extract_slots
from selfright.flow.nodes.finalize import finalize
from selfright.flow.nodes.generate import generate
from selfright.flow.nodes.grade import grade
from selfright.flow.nodes.quality_check import quality_check
from selfright.flow.nodes.refine_knowledge import refine_knowledge
from selfright.flow.nodes.repair_claims import repair_claims
from selfright.flow.nodes.retrieve import retrieve
from selfright.flow.nodes.rewrite import rewrite
from selfright.flow.nodes.store_memory import store_memory
from selfright.flow.nodes.web_search import web_search
from selfright.flow.state import AgentState

Node = Callable[[AgentState, Tools], Awaitable[dict[str, Any]]]

NODES: Mapping[str, Node] = MappingProxyType(
    {
        node.__name__: node
        for node in (
            contextualize,
            extract_slots,
            store_memory,
            classify,
            retrieve,
            grade,
            refine_knowledge,
            web_search,
            assemble_context,
            generate,
            evaluate,
            quality_check,
            rewrite,
            repair_claims,
            finalize,
        )
    }
)
