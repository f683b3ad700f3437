"""→ finalize: the last node of every graph."""

from typing import Any

from selfright.domain.tools import Tools
from selfright.flow.finishing import finished
from selfright.flow.floor import floored, instead_of_refusal
from selfright.flow.state import AgentState


async def finalize(state: AgentState, tools: Tools) -> dict[str, Any]:
    """Returns the best answer without unsupported sentences, or a refusal.

    If a model answer fails its checks, an extractive answer replaces it if it is better, or if the turn would refuse
    otherwise.
    """
    best = await floored(state, tools)
    judged: AgentState = {**state, "best": best} if best is not None else state
    update = finished(judged, tools)
    if update["abstained"] and (quoting := await instead_of_refusal(judged, tools)) is not None:
        other = finished({**judged, "best": quoting}, tools)
        return update if other["abstained"] else other
    return update
