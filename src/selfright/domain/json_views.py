"""The fixed JSON views that people script against: one place for the names in them."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from selfright.domain.passages import Hit, StoreInfo, Trust
from selfright.domain.slots import Fact, Profile, Slot

_PASSAGE = ("document_id", "title", "text", "start", "end")


def search_view(hits: Iterable[Hit]) -> list[dict[str, Any]]:
    """``search --json``."""
    return [
        {
            "rank": rank,
            "passage_id": hit.passage.id,
            **{name: getattr(hit.passage, name) for name in _PASSAGE},
            "rrf_score": hit.rrf_score,
            "bm25": hit.bm25 and hit.bm25._asdict(),
            "dense": hit.dense and hit.dense._asdict(),
        }
        for rank, hit in enumerate(hits, start=1)
    ]


def searched_view(trust: Trust | None) -> dict[str, str] | None:
    """What searched, ``{"by": "words" | "meaning" | "both", "why"}``; None where that is not known."""
    return {"by": trust.by, "why": trust.why} if trust else None


def profile_view(user: str, profile: Profile, summary: str) -> dict[str, Any]:
    """``profile show --json``."""
    return {
        "user": user,
        "summary": summary,
        "slots": [_slot(slot) for slot in profile.slots],
        "disputed": [_slot(slot) for slot in profile.disputed],
    }


def history_view(user: str, facts: Iterable[Fact]) -> dict[str, Any]:
    """``profile export``: every fact with what has become of it, and when it was said (Unix seconds)."""
    return {"user": user, "facts": [{**_slot(fact.slot), "state": fact.state, "at": fact.at} for fact in facts]}


def _slot(slot: Slot) -> dict[str, Any]:
    return {**asdict(slot), "details": dict(slot.details), "by_hand": slot.start < 0}


def info_view(info: StoreInfo) -> dict[str, Any]:
    """``index info --json``."""
    return {**asdict(info), "collections": dict(info.collections), "languages": dict(info.languages)}
