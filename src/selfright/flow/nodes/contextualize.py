"""START → contextualize."""

from typing import Any

from selfright.domain.ports import Tools
from selfright.domain.text import language_of
from selfright.flow.state import AgentState


async def contextualize(state: AgentState, tools: Tools) -> dict[str, Any]:
    """Makes a follow-up stand alone, so that it can be searched for and judged without its conversation."""
    messages = state.get("messages", ())[-tools.flags.history_limit :] if tools.flags.history_limit else ()
    question = state["user_text"].strip()
    if messages and state["mode"] != "llm":
        question = await tools.rewriter.standalone(question, messages, state.get("summary", ""))
    return {
        "messages": messages,
        "question": question,
        "query_for_retrieval": question,
        "language": language_of(state["user_text"]),
    }
