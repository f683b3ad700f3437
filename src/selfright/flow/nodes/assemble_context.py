"""→ assemble_context: after every retrieval, and before an answer without one."""

from typing import Any

from selfright.domain.answers import Restated
from selfright.domain.passages import Strip
from selfright.domain.tools import Tools
from selfright.flow.evidence import carried, cited, merged, whole
from selfright.flow.state import AgentState


async def assemble_context(state: AgentState, tools: Tools) -> dict[str, Any]:
    """Merges the evidence and builds the prompts; in mode ``llm`` the model gets the message unchanged."""
    if state["mode"] == "llm":
        notes = (_NO_MODEL[state["language"]],) if tools.generator.needs_documents else ()
        return {"strips": (), "system_prompt": "", "user_prompt": state["user_text"], "notes": notes}
    again = _said_again(state)
    strips = _evidence(state, tools)
    system, user = tools.prompter.prompts(
        _asked(state),
        state["language"],
        strips if again or state.get("used_retrieval") or state.get("web_docs") else None,
        state.get("profile_summary", ""),
        state.get("messages", ()),
        state.get("summary", ""),
        state.get("slot_out", ()),
        state.get("concerns", ()),
    )
    return {"strips": strips, "system_prompt": system, "user_prompt": user}


def _asked(state: AgentState) -> str:
    """The question for the writing model, with the context that search and judges do not use."""
    if state.get("restated") is not None:  # an earlier question; the message says how to answer it again
        return f"{state['question']} {state['user_text']}".strip()
    return f"{state.get('told', '')} {state['question']}".strip()


def _said_again(state: AgentState) -> Restated | None:
    """The previous answer, if this pass restates it."""
    return None if state.get("used_retrieval") else state.get("restated")


def _evidence(state: AgentState, tools: Tools) -> tuple[Strip, ...]:
    if again := _said_again(state):
        # An extractive writer repeats the draft; a model may use all sources of the previous answer.
        return cited(again.draft.citations if tools.generator.needs_documents else again.sources)
    refined = state.get("strips")
    index = whole(state.get("retrieved_docs", ())) if refined is None else refined
    fresh = merged(index, state.get("web_strips", ()))
    return (*carried(state.get("best"), fresh), *fresh)


_NO_MODEL = {
    "en": "this preset lets a language model answer by itself, and none is configured; another preset looks things up",
    "ko": "이 프리셋은 언어 모델이 스스로 답하게 하지만 설정된 모델이 없습니다. 다른 프리셋은 문서를 찾아봅니다",
}
