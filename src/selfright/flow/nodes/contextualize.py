"""START → contextualize."""

from typing import Any

from selfright.domain.text import language_of
from selfright.domain.tools import Tools
from selfright.flow.state import AgentState


async def contextualize(state: AgentState, tools: Tools) -> dict[str, Any]:
    """Keeps the last messages, takes older ones into the summary, and makes a follow-up stand alone.

    The stand-alone question can be searched for and judged without its conversation.
    """
    question, language = state["user_text"].strip(), language_of(state["user_text"])
    context = await _context(state, tools)
    messages, summary = context["messages"], context["summary"]
    if (messages or summary) and state["mode"] != "llm":
        question = await tools.rewriter.standalone(question, messages, summary)
    return {**context, "question": question, "query_for_retrieval": question, "language": language}


async def _context(state: AgentState, tools: Tools) -> dict[str, Any]:
    messages, summary, limit = state.get("messages", ()), state.get("summary", ""), tools.flags.history_limit
    older = len(messages) - limit
    if older > 0 and limit:
        language = language_of(messages[0].content)
        summary = await tools.summarizer.summarize(summary, messages[:older], language)
        return {"messages": messages[older:], "summary": summary, "summarized": older}
    return {"messages": messages if limit else (), "summary": summary, "summarized": 0}
