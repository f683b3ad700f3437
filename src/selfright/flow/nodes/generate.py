"""assemble_context → generate."""

from dataclasses import replace
from typing import Any

from selfright.domain.chat import Say
from selfright.domain.events import AnswerToken
from selfright.domain.tools import Tools
from selfright.flow.attempts import generation_request
from selfright.flow.state import AgentState


async def generate(state: AgentState, tools: Tools) -> dict[str, Any]:
    """Writes a draft from the evidence; a listener gets urgent advice first."""
    say = _say(state["iteration_count"], tools)
    if say is not None and (urgent := tools.pack.urgent(state["user_text"], state["language"])):
        say(f"{urgent}\n\n")
    again = state.get("restated") if tools.generator.needs_documents else None
    if again is not None and not state.get("used_retrieval"):
        if say is not None:
            say(again.draft.text)
        return {"draft": again.draft, "answer": again.draft.text}
    best, request = state.get("best"), generation_request(state)
    if tools.weak_writer and tools.floor and best is not None and best.draft.stands_in:
        draft = replace(await tools.floor[0].generate(request, say), stands_in=True)  # the model's draft has failed
    else:
        draft = await tools.generator.generate(request, say)
    return {"draft": draft, "answer": draft.text}


def _say(iteration: int, tools: Tools) -> Say | None:
    emit = tools.emit
    return (lambda text: emit(AnswerToken(text, iteration))) if emit is not None else None
