"""contextualize → extract_slots."""

from typing import Any

from selfright.domain.tools import Tools
from selfright.flow.state import AgentState


async def extract_slots(state: AgentState, tools: Tools) -> dict[str, Any]:
    """Reads facts about the user from the message, and tells what of it is asked from what is told."""
    message = state["user_text"]
    turn = sum(said.role == "user" for said in state.get("messages", ()))
    slots = await tools.slots.extract(message, turn)
    question = state["question"]
    if not tools.flags.query_rewrite_enabled:
        return {"slot_out": slots}
    # A question that was completed from the conversation has other words, and the places of slots are not in it.
    told = slots if question == message else ()
    focus = await tools.rewriter.focused(question, told, tools.pack)
    return {"slot_out": slots, "question": focus.question, "query_for_retrieval": focus.query}
