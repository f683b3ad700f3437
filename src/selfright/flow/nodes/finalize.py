"""→ finalize: the last node of every graph."""

from typing import Any

from selfright.domain.tools import Tools
from selfright.flow.finishing import finished
from selfright.flow.state import AgentState


async def finalize(state: AgentState, tools: Tools) -> dict[str, Any]:
    """Gives the best answer seen, without what could not be supported, or says that there is none."""
    return finished(state, tools)
