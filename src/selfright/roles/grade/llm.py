"""Grades a retrieval with a language model: one call for all passages, none where the offline grader is sure."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from selfright.domain.chat import Job
from selfright.domain.errors import JudgeFailed, ModelRejected, ModelUnavailable, ReplyUnusable
from selfright.domain.judgements import Grading, Verdict
from selfright.domain.passages import Hit
from selfright.domain.ports import ChatModel
from selfright.domain.text import language_of
from selfright.domain.value_parsing import score
from selfright.roles.grade.offline import GradedHits, OfflineGrader
from selfright.roles.model_calls import GRADING_SCHEMA, OUT_OF_REACH, JudgingMode, complete_json
from selfright.roles.prompting import grading_prompt

BATCH = 8


@dataclass(frozen=True, slots=True)
class _Opinion:
    """What one call said: a probability for each place in the reading, None where it is unknown.

    Its reason is not kept: it may quote what a passage says.
    """

    probabilities: Mapping[int, float | None]
    sufficiency: float | None = None
    failed: bool = False


@dataclass(frozen=True, slots=True)
class ModelGrader:
    """Implements the port ``Grader``.

    In a cascade the model sees only the sets that are ambiguous to the offline grader, and of those only the passages
    that may help. What it says of them replaces the offline probabilities; thresholds stay the same. Its view of the
    set as a whole counts as much as the offline signals do, and alone when it is asked ``always``.
    """

    chat: ChatModel
    offline: OfflineGrader
    judging: JudgingMode = "cascade"

    async def grade(self, question: str, hits: Sequence[Hit]) -> Grading:
        """Raises ``JudgeFailed`` when the model was called and nothing it said of any passage can be used.

        When it could not be called at all, the offline grader's verdict stands.
        """
        reading = await asyncio.to_thread(self.offline.read, question, hits)
        own = self.offline.decide(reading)
        if not reading.hits or (self.judging == "cascade" and own.verdict is not Verdict.AMBIGUOUS):
            return own
        asked = range(len(reading.hits)) if self.judging == "always" else self.offline.may_help(reading)
        batches = [asked[start : start + BATCH] for start in range(0, len(asked), BATCH)]
        opinions = await asyncio.gather(*(self._opinion(question, reading, batch) for batch in batches))
        return self._merge(reading, own, opinions)

    async def _opinion(self, question: str, reading: GradedHits, places: Sequence[int]) -> _Opinion:
        hits = [reading.hits[place] for place in places]
        prompts = grading_prompt(question, hits, language_of(question))
        try:
            said = await complete_json(self.chat, Job.GRADE, prompts, GRADING_SCHEMA)
        except (*OUT_OF_REACH, ReplyUnusable) as error:
            return _Opinion(dict.fromkeys(places) if _was_called(error) else {}, failed=True)
        return _read(said, places)

    def _merge(self, reading: GradedHits, own: Grading, opinions: Sequence[_Opinion]) -> Grading:
        said = {place: p for opinion in opinions for place, p in opinion.probabilities.items()}
        if not said:
            return own
        if all(p is None for p in said.values()):
            raise JudgeFailed("the model gave no usable probability for any passage: ask again or choose another model")
        merged = [said.get(place, p) for place, p in enumerate(reading.probabilities)]
        views = [opinion.sufficiency for opinion in opinions if opinion.sufficiency is not None]
        # A set suffices when a part of it does; of a part that nobody judged, no one knows.
        view = max(views) if views and not any(opinion.failed for opinion in opinions) else None
        return self.offline.decide(reading, merged, view, 1.0 if self.judging == "always" else 0.5)


def _read(said: Mapping[str, Any], places: Sequence[int]) -> _Opinion:
    """Probabilities by place; None for what is missing, double, or no number from 0 to 1. Nothing is clamped."""
    passages = said.get("passages")
    rows = [row for row in passages if isinstance(row, Mapping)] if isinstance(passages, list | tuple) else []
    counts = Counter(_number(row.get("n")) for row in rows)
    given = {_number(row.get("n")): _share(row.get("probability")) for row in rows}
    probabilities = {place: given.get(n) if counts[n] == 1 else None for n, place in enumerate(places, start=1)}
    return _Opinion(probabilities, _share(said.get("sufficiency")))


def _share(value: object) -> float | None:
    try:
        return score(value)
    except ValueError:
        return None


def _number(value: object) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 5:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _was_called(error: Exception) -> bool:
    """Whether the model was really asked: then its silence is a failed judgement, not one that was never made."""
    if isinstance(error, ModelUnavailable):
        return error.called
    return isinstance(error, ModelRejected | ReplyUnusable)
