"""store_memory → classify; once more after an off-topic answer."""

from typing import Any

from selfright.domain.answers import Restated
from selfright.domain.judgements import QueryClass
from selfright.domain.tools import Tools
from selfright.flow.state import AgentState


async def classify(state: AgentState, tools: Tools) -> dict[str, Any]:
    """Classifies the message. On a second visit, chit-chat and the fast path are ruled out, because they failed."""
    first = state["iteration_count"] == 0
    if first and (again := await _restated(state, tools)) is not None:
        asked = {"question": again.question, "query_for_retrieval": again.question} if again.question else {}
        return {"query_class": QueryClass.QUESTION, "fast_path": True, "restated": again, **asked}
    kind = await tools.classifier.classify(state["user_text"], state.get("messages", ()))
    if not first and kind is QueryClass.CHITCHAT:
        kind = QueryClass.QUESTION
    fast = first and (kind is QueryClass.CHITCHAT or await _fast(state, tools))
    return {"query_class": kind, "fast_path": fast}


async def _restated(state: AgentState, tools: Tools) -> Restated | None:
    """The previous answer in fewer words, if that is all the user wants."""
    history = state.get("messages", ())
    if not (history and tools.flags.fast_path_enabled):
        return None
    return await tools.classifier.restated(state["user_text"], history)


async def _fast(state: AgentState, tools: Tools) -> bool:
    """Whether to answer first and retrieve only if that fails. An extractive writer cannot do that."""
    if not tools.flags.fast_path_enabled or tools.generator.needs_documents:
        return False
    if tools.flags.fast_path == "always":
        return True
    history = state.get("messages", ())
    return bool(history) and await tools.classifier.conversational(state["user_text"], history)
