"""START → contextualize."""

from typing import Any

from selfright.domain.answers import Focus
from selfright.domain.text import language_of
from selfright.domain.tools import Tools
from selfright.flow.state import AgentState


async def contextualize(state: AgentState, tools: Tools) -> dict[str, Any]:
    """Keeps the last messages, summarises older ones, and turns the message into a question that stands alone.

    The question is separated from its context, and a follow-up is completed from the conversation. Search and judges
    use the result.
    """
    message = state["user_text"].strip()
    context = await _context(state, tools)
    messages, summary = context["messages"], context["summary"]
    focus = await _focus(message, state, tools)
    question, query = focus.question, focus.query
    if (messages or summary) and state["mode"] != "llm":
        question = await tools.rewriter.standalone(focus.question, messages, summary)
        query = query if question == focus.question else question
    return {
        **context,
        "question": question,
        "query_for_retrieval": query,
        "told": focus.told,
        "language": language_of(message),
    }


async def _focus(message: str, state: AgentState, tools: Tools) -> Focus:
    if state["mode"] == "llm" or not tools.flags.query_rewrite_enabled:
        return Focus(message, message)
    return await tools.rewriter.focused(message, tools.pack, bool(state.get("messages")))


async def _context(state: AgentState, tools: Tools) -> dict[str, Any]:
    messages, summary, limit = state.get("messages", ()), state.get("summary", ""), tools.flags.history_limit
    older = len(messages) - limit
    if older > 0 and limit:
        language = language_of(messages[0].content)
        summary = await tools.summarizer.summarize(summary, messages[:older], language)
        return {"messages": messages[older:], "summary": summary, "summarized": older}
    return {"messages": messages if limit else (), "summary": summary, "summarized": 0}
