"""extract_slots → store_memory."""

from typing import Any

from selfright.domain.slots import Profile
from selfright.domain.tools import Tools
from selfright.flow.state import AgentState


async def store_memory(state: AgentState, tools: Tools) -> dict[str, Any]:
    """Remembers what was said (unless ``memory_mode`` is ``none``) and sums the profile up in one line."""
    slots = state.get("slot_out", ())
    known = Profile(slots) if tools.flags.memory_mode == "none" else tools.profiles.remember(state["user"], slots)
    given = state.get("given_profile", Profile())
    return {"profile_summary": tools.profiles.summary(Profile((*given.slots, *known.slots)), state["language"])}
