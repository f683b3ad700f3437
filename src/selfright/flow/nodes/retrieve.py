"""→ retrieve: the start of every pass that looks something up."""

from typing import Any

from selfright.domain.ports import Tools
from selfright.flow.evidence import nearest
from selfright.flow.guards import text_hashes
from selfright.flow.state import AgentState


async def retrieve(state: AgentState, tools: Tools) -> dict[str, Any]:
    """Searches the index and clears the evidence of the pass before."""
    found = await tools.retriever.search(state["query_for_retrieval"], 2 * tools.flags.top_k)
    hits = nearest(found.hits, state["language"], tools.flags.top_k)
    return {
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
