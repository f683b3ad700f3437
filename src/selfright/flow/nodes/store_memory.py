"""extract_slots → store_memory."""

from typing import Any

from selfright.domain.slots import Profile
from selfright.domain.tools import Tools
from selfright.flow.state import AgentState


async def store_memory(state: AgentState, tools: Tools) -> dict[str, Any]:
    """Stores facts about the user (unless ``memory_mode`` is ``none``), and finds conflicts with the question.

    A profile passed with the question overrides the stored one; facts in the message override both.
    """
    # Facts about others ("can people with gout eat fish?") do not belong in the profile.
    slots = [slot for slot in state.get("slot_out", ()) if slot.subject != "other"]
    language = state["language"]
    keeps = tools.flags.memory_mode != "none" and state.get("remembers", True)
    known = await tools.profiles.remember(state["user"], slots) if keeps else Profile()
    given = (tools.pack.keyed(slot) for slot in state.get("given_profile", Profile()).slots)
    profile = known.with_slots((*given, *slots), tools.pack.kinds_by_name)
    return {
        "profile": profile,
        "profile_summary": tools.pack.summary(profile, language),
        "personal": tools.pack.terms(profile),
        "concerns": tools.pack.concerns(state["question"], profile, language),
        "notes": (_FLEETING[language],) if keeps and slots and tools.profiles.ephemeral else (),
    }


_FLEETING = {
    "en": "profiles cannot be written here: what you say of yourself is forgotten when the program ends",
    "ko": "프로필을 저장할 수 없어, 알려 주신 내용은 프로그램이 끝나면 사라집니다",
}
