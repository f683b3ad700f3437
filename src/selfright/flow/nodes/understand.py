"""What is asked, and by whom: contextualize → extract_slots → store_memory → classify.

``classify`` is visited once more after an off-topic answer.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from selfright.domain.answers import Focus, Message, Repetition
from selfright.domain.codes import codes_in
from selfright.domain.judgements import QueryClass
from selfright.domain.passages import Language
from selfright.domain.slots import Profile, Slot
from selfright.domain.text import has_hangul, language_of
from selfright.domain.tools import Tools
from selfright.flow.state import AgentState, texts_in


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
        "original_question": focus.question,
        "meanings": await _meanings(focus.question, question, state, tools),
        "question_context": focus.context,
        "has_question": focus.has_question,
        "language": focus.language or await _language(message, messages, tools),
    }


async def _language(message: str, before: Sequence[Message], tools: Tools) -> Language:
    """The message's; where it is in none ("???", "E07") the last message's, or the one of most documents."""
    if has_hangul(message) or any(map(_is_word, message.split())):
        return language_of(message)
    return language_of(before[-1].content) if before else await asyncio.to_thread(tools.main_language)


def _is_word(token: str) -> bool:
    return any(map(str.isalpha, token)) and not any(map(str.isdigit, token)) and not codes_in(token)


async def _focus(message: str, state: AgentState, tools: Tools) -> Focus:
    if state["mode"] == "llm" or not tools.flags.query_rewrite_enabled:
        return Focus(message, message)
    return await tools.rewriter.focus(message, bool(state.get("messages")))


async def _meanings(asked: str, question: str, state: AgentState, tools: Tools) -> tuple[str, ...]:
    if state["mode"] == "llm" or not tools.flags.query_rewrite_enabled:
        return ()
    return await tools.rewriter.meanings(asked, question, state.get("messages", ()))


async def _context(state: AgentState, tools: Tools) -> dict[str, Any]:
    messages, summary, limit = state.get("messages", ()), state.get("summary", ""), tools.flags.history_limit
    older = len(messages) - limit
    if older > 0 and limit:
        language = language_of(messages[0].content)
        summary = await tools.summarizer.summarize(summary, messages[:older], language)
        return {"messages": messages[older:], "summary": summary, "summarized": older}
    return {"messages": messages if limit else (), "summary": summary, "summarized": 0}


async def extract_slots(state: AgentState, tools: Tools) -> dict[str, Any]:
    """Reads facts about the user from the whole message, not only from its question."""
    return {"slot_out": await tools.slots.extract(state["user_text"], state.get("turn", 0))}


async def store_memory(state: AgentState, tools: Tools) -> dict[str, Any]:
    """Stores facts about the user (unless ``memory_mode`` is ``none``), and finds conflicts with the question.

    A profile passed with the question overrides the stored one; facts in the message override both.
    """
    # Facts about others ("can people with a licence for 0.2 upgrade?") do not belong in the profile.
    slots = [slot for slot in state.get("slot_out", ()) if slot.subject != "other"]
    language = state["language"]
    keeps = tools.flags.memory_mode != "none" and state.get("remembers", True)
    known = await tools.profiles.remember(state["user"], slots) if keeps else Profile()
    given = (tools.pack.keyed(slot) for slot in state.get("given_profile", Profile()).slots)
    profile = known.with_slots((*given, *slots), tools.pack.kinds_by_name)
    summary, tells = tools.pack.summary(profile, language), _only_tells(state, tools)
    notes = (texts_in(language)["notes"]["fleeting"],) if keeps and slots and tools.profiles.ephemeral else ()
    return {
        "profile": profile,
        "profile_summary": summary,
        "personal": tools.pack.terms(profile),
        "concerns": () if tells else tools.pack.concerns(state["question"], profile, language),
        "notes": (*notes, texts_in(language)["notes"]["known"].format(summary=summary)) if tells and summary else notes,
    }


def _only_tells(state: AgentState, tools: Tools) -> bool:
    """Whether the message says something about the user, and asks nothing."""
    kinds, slots = tools.pack.kinds_by_name, state.get("slot_out", ())
    known = all(slot.subject != "other" and slot.name in kinds for slot in slots)
    return bool(slots) and known and (not state.get("has_question", True) or _only_denies(state["user_text"], slots))


def _only_denies(message: str, slots: Sequence[Slot]) -> bool:
    """Whether all of a message denies something of the user, which nobody searches for."""
    rest = list(message)
    for slot in slots:
        if slot.negated:
            rest[slot.start : slot.end] = " " * (slot.end - slot.start)
    return not any(one.isalnum() or one in "?？" for one in rest)


async def classify(state: AgentState, tools: Tools) -> dict[str, Any]:
    """Classifies the message. On a second visit, chit-chat and the fast path are ruled out, because they failed."""
    first = state["iteration_count"] == 0
    if first and (again := await _restate(state, tools)) is not None:
        asked = {"question": again.question, "query_for_retrieval": again.question} if again.question else {}
        return {"query_class": QueryClass.QUESTION, "fast_path": True, "restated": again, **asked}
    wordless = not any(map(str.isalnum, state["user_text"]))
    if first and state["mode"] != "llm" and (wordless or _only_tells(state, tools)):
        return {"query_class": QueryClass.CHITCHAT, "fast_path": True}
    kind = await tools.classifier.classify(state["user_text"], state.get("messages", ()))
    if not first and kind is QueryClass.CHITCHAT:
        kind = QueryClass.QUESTION
    fast = first and (kind is QueryClass.CHITCHAT or await _fast(state, tools))
    return {"query_class": kind, "fast_path": fast}


async def _restate(state: AgentState, tools: Tools) -> Repetition | None:
    """The previous answer in fewer words, if that is all the user wants."""
    history = state.get("messages", ())
    if not (history and tools.flags.fast_path_enabled):
        return None
    return await tools.classifier.restate(state["user_text"], history)


async def _fast(state: AgentState, tools: Tools) -> bool:
    """Whether to answer first and retrieve only if that fails. An extractive writer cannot do that."""
    if not tools.flags.fast_path_enabled or tools.generator.needs_documents:
        return False
    if tools.flags.fast_path == "always":
        return True
    history = state.get("messages", ())
    return bool(history) and await tools.classifier.conversational(state["user_text"], history)
