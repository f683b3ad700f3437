"""→ retrieve: the start of every pass that retrieves."""

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

from selfright.domain.errors import FAILURES
from selfright.domain.passages import Hit, Retrieval
from selfright.domain.ports import Router
from selfright.domain.routing import RoutingDecision, RoutingReason
from selfright.domain.tools import Tools
from selfright.flow.evidence import nearest
from selfright.flow.guards import text_hashes
from selfright.flow.state import AgentState

log = logging.getLogger(__name__)


async def retrieve(state: AgentState, tools: Tools) -> dict[str, Any]:
    """Searches all collections or the chosen ones, and clears the evidence of the previous pass."""
    found, routing = await _found(state, tools)
    hits = await _best(found.hits, state, tools)
    return {
        **({"routing": routing} if routing else {}),
        "retrieved_docs": hits,
        "query_vector": found.query_vector,
        "retrieved_docs_history": (text_hashes(hit.passage.text for hit in hits),),
        "used_retrieval": True,
        "grading": None,
        "verdict": None,
        "strips": None,
        "web_docs": (),
        "web_grading": None,
        "web_strips": (),
    }


async def _best(found: Sequence[Hit], state: AgentState, tools: Tools) -> tuple[Hit, ...]:
    """The ``top_k`` hits to go on with: chosen by the reranker among twice as many, or the first."""
    k, ordered = tools.flags.top_k, nearest(found, state["language"], 2 * tools.flags.top_k)
    if tools.reranker is None:
        return ordered[:k]
    try:
        return await tools.reranker.rerank(state["question"], ordered, k)
    except FAILURES as error:
        log.warning("reranking failed (%s): the search's own order stays", type(error).__name__)
        return ordered[:k]


async def _found(state: AgentState, tools: Tools) -> tuple[Retrieval, RoutingDecision | None]:
    query, k, given = state["query_for_retrieval"], 2 * tools.flags.top_k, tools.retriever.scope.collections
    if given is not None:
        return await tools.retriever.search(query, k), RoutingDecision(given, RoutingReason.NAMED_BY_USER)
    router = tools.router if tools.flags.dynamic_rag_routing else None
    if router is None:
        return await tools.retriever.search(query, k), None
    routing = await _routed(state, router)
    found = await tools.retriever.search(query, k, routing.collections)
    if routing.collections and not await _suffices(router, query, found):
        found = await tools.retriever.search(query, k)
        routing = RoutingDecision.everywhere(RoutingReason.TOO_LITTLE, routing.names)
    return found, routing


async def _routed(state: AgentState, router: Router) -> RoutingDecision:
    """The router's choice for the first pass; later passes search all collections."""
    if "routing" in state:
        return RoutingDecision.everywhere(RoutingReason.SEARCHED_BEFORE)
    try:
        return await router.route(state["question"], state.get("query_class"), state.get("slot_out", ()))
    except FAILURES as error:
        log.warning("the router failed (%s): all collections are searched", type(error).__name__)
        return RoutingDecision.everywhere(RoutingReason.ROUTER_FAILED, type(error).__name__)


async def _suffices(router: Router, query: str, found: Retrieval) -> bool:
    try:
        return await asyncio.to_thread(router.suffices, query, found.hits)
    except FAILURES as error:
        log.warning("the router failed (%s): all collections are searched", type(error).__name__)
        return False
