"""The draft: refine_knowledge → assemble_context → generate.

Without retrieval a pass begins at ``assemble_context``.
"""

from typing import Any

from selfright.domain.chat import OnText
from selfright.domain.events import AnswerToken
from selfright.domain.passages import Strip
from selfright.domain.tools import Tools
from selfright.flow.attempts import repeated_answer, write_draft
from selfright.flow.evidence import (
    carry_strips,
    cited_strips,
    merge_strips,
    refine_hits,
    web_is_better,
    whole,
    with_strips,
)
from selfright.flow.routes import web_replaces_index
from selfright.flow.state import AgentState

_MOST_CONCERNS = 2
_MOST_STRIPS = 2


async def refine_knowledge(state: AgentState, tools: Tools) -> dict[str, Any]:
    """Reduces the evidence to the strips that help; if none does, lowers the verdict one step.

    Web results replace those of the index only if the grader finds them more sufficient; otherwise both are used.
    """
    question, verdict, language = state["question"], state["verdict"], state["language"]
    web = state.get("web_evidence", ()) if web_replaces_index(state) else ()
    grading = state.get("web_grading")
    found, notes = await refine_hits(tools, question, web, grading, language) if web else (None, ())
    if found is not None and web_is_better(grading, state.get("grading")):
        return {"strips": found.strips, "verdict": verdict, "removed_share": found.removed_share, "notes": notes}
    refinement, trouble = await refine_hits(tools, question, state["evidence"], state.get("grading"), language)
    if refinement.fell_back and verdict is not None:
        verdict = verdict.one_step_down()
    beside = found.strips if found and not found.fell_back else ()
    warnings = await _profile_warnings(state, tools)
    strips = merge_strips(with_strips(refinement.strips, warnings), beside)
    notes = (*notes, *trouble)
    return {"strips": strips, "verdict": verdict, "removed_share": refinement.removed_share, "notes": notes}


async def _profile_warnings(state: AgentState, tools: Tools) -> list[Strip]:
    """Strips about conflicts between the profile and the question's subject, which the question may not mention."""
    found: list[Strip] = []
    for concern in state.get("concerns", ())[:_MOST_CONCERNS]:
        bearing = [h for h in state["retrieved_docs"] if concern.bears(h.passage.heading, h.passage.text)]
        if bearing:
            left = (await tools.evidence_filter.hits(concern.text, bearing)).hits
            refinement, _ = await refine_hits(tools, concern.text, left, None, state["language"])
            found += [s for s in refinement.strips if concern.bears(s.passage.heading, s.text)][:_MOST_STRIPS]
    return found


async def assemble_context(state: AgentState, tools: Tools) -> dict[str, Any]:
    """Merges the evidence that may make an answer, and builds the prompts.

    In mode ``llm`` the model gets the message unchanged.
    """
    if state["mode"] == "llm":
        return {"strips": (), "system_prompt": "", "user_prompt": state["user_text"]}
    again = repeated_answer(state)
    hits = (*state.get("retrieved_docs", ()), *state.get("web_docs", ()))
    strips = await tools.evidence_filter.strips(state["question"], _evidence(state, tools), hits)
    system, user = await tools.prompter.prompts(
        _question_with_context(state),
        state["language"],
        strips if again or state.get("used_retrieval") or state.get("web_docs") else None,
        state.get("profile_summary", ""),
        state.get("messages", ()),
        state.get("summary", ""),
        state.get("slot_out", ()),
        state.get("concerns", ()),
    )
    return {"strips": strips, "system_prompt": system, "user_prompt": user}


def _question_with_context(state: AgentState) -> str:
    """The question for the writing model, with the context that search and judges do not use."""
    if state.get("restated") is not None:  # an earlier question; the message says how to answer it again
        return f"{state['question']} {state['user_text']}".strip()
    return f"{state.get('question_context', '')} {state['question']}".strip()


def _evidence(state: AgentState, tools: Tools) -> tuple[Strip, ...]:
    if again := repeated_answer(state):
        # An extractive writer repeats the draft; a model may use all sources of the previous answer.
        return cited_strips(again.draft.citations if tools.generator.needs_documents else again.sources)
    strips = state.get("strips")
    index = whole(state.get("retrieved_docs", ())) if strips is None else strips
    fresh = merge_strips(index, state.get("web_strips", ()))
    return (*carry_strips(state.get("best"), fresh), *fresh)


async def generate(state: AgentState, tools: Tools) -> dict[str, Any]:
    """Writes a draft from the evidence; a listener gets urgent advice first."""
    on_text = _say(state["iteration_count"], tools)
    if on_text is not None and (urgent := tools.pack.urgent(state["user_text"], state["language"])):
        on_text(f"{urgent}\n\n")
    draft = await write_draft(state, tools.generator, on_text)
    return {"draft": draft, "answer": draft.text}


def _say(iteration: int, tools: Tools) -> OnText | None:
    emit = tools.emit
    return (lambda text: emit(AnswerToken(text, iteration))) if emit is not None else None
