"""→ finalize: the last node of every graph."""

from typing import Any

from selfright.domain.tools import Tools
from selfright.flow.finishing import finished
from selfright.flow.floor import floored
from selfright.flow.state import AgentState


async def finalize(state: AgentState, tools: Tools) -> dict[str, Any]:
    """Gives the best answer seen, without what could not be supported, or says that there is none.

    Where what a model wrote does not hold up, the documents' own words are given if they are better.
    """
    best = await floored(state, tools)
    return finished({**state, "best": best} if best is not None else state, tools)
