"""Filters strips with a language model; what a strip is, and how strips are put together, stays the offline role's."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from selfright.domain.chat import Job
from selfright.domain.errors import ReplyUnusable
from selfright.domain.judgements import Grading
from selfright.domain.passages import Hit, Refinement, Strip
from selfright.domain.ports import ChatModel
from selfright.domain.text import language_of
from selfright.roles.asking import OUT_OF_REACH, JudgingMode, told
from selfright.roles.prompting import strips_prompt
from selfright.roles.schemas import STRIPS_SCHEMA
from selfright.roles.strips import OfflineRefiner, Scored, refinement

MOST_ASKED = 40


@dataclass(frozen=True, slots=True)
class ModelRefiner:
    """Implements the port ``Refiner``: one call for all strips, and only when the model is asked ``always``.

    At most 40 strips are shown, those with the best scores; the offline filter decides on the rest, and on all of
    them when the model is out of reach or names a strip that it was not shown.
    """

    chat: ChatModel
    offline: OfflineRefiner
    judging: JudgingMode = "cascade"

    async def refine(self, question: str, hits: Sequence[Hit], grading: Grading | None = None) -> Refinement:
        """The strips of ``hits`` that help to answer; documents in the order of their best passage."""
        weighed = await asyncio.to_thread(self.offline.weighed, question, hits, grading)
        kept = self.offline.chosen(weighed)
        if self.judging == "always" and weighed.scored:
            shown = _shown(weighed.scored)
            picked = await self._picked(question, shown)
            if picked is not None:
                kept = [*picked, *(strip for strip in kept if strip not in shown)]
        return refinement(weighed, kept)

    async def _picked(self, question: str, shown: Sequence[Strip]) -> list[Strip] | None:
        prompts = strips_prompt(question, shown, language_of(question))
        try:
            numbers = _numbers(await told(self.chat, Job.STRIPS, prompts, STRIPS_SCHEMA), len(shown))
        except (*OUT_OF_REACH, ReplyUnusable):
            return None
        return [shown[n - 1] for n in numbers]


def _shown(scored: Sequence[Scored]) -> list[Strip]:
    """The best strips, in the order in which they stand."""
    best = sorted(range(len(scored)), key=lambda i: (-scored[i].score, i))[:MOST_ASKED]
    return [scored[i].strip for i in sorted(best)]


def _numbers(said: Mapping[str, Any], most: int) -> list[int]:
    kept = said.get("kept")
    if not isinstance(kept, list | tuple) or not all(_is_number(n, most) for n in kept):
        raise ReplyUnusable(f"numbers from 1 to {most} were expected of the strip filter, and something else came")
    return sorted(set(kept))


def _is_number(value: object, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= most
