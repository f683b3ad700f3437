"""contextualize → extract_slots."""

from typing import Any

from selfright.domain.tools import Tools
from selfright.flow.state import AgentState


async def extract_slots(state: AgentState, tools: Tools) -> dict[str, Any]:
    """Reads facts about the user from the whole message, not only from its question."""
    turn = sum(said.role == "user" for said in state.get("messages", ()))
    return {"slot_out": await tools.slots.extract(state["user_text"], turn)}
