"""store_memory → classify; again after an answer that was off topic."""

from typing import Any

from selfright.domain.judgements import QueryClass
from selfright.domain.ports import Tools
from selfright.flow.state import AgentState


async def classify(state: AgentState, tools: Tools) -> dict[str, Any]:
    """Tells the kind of message. The second time around nothing passes as chit-chat or fast: that went wrong before."""
    first = state["iteration_count"] == 0
    kind = await tools.classifier.classify(state["user_text"], state.get("messages", ()))
    if not first and kind is QueryClass.CHITCHAT:
        kind = QueryClass.QUESTION
    fast = tools.flags.fast_path_enabled and not tools.generator.needs_documents
    return {"query_class": kind, "fast_path": first and (fast or kind is QueryClass.CHITCHAT)}
