"""What came of a check: values by item and job, verdicts, and words for them."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from selfright.domain.chat import Job

Verdict = Literal["better", "no better", "worse"]

SURE = 1.64
"""How many standard errors a difference must have: one in twenty comes so by chance."""
CLEAR, FEWEST = 2.5, 6
"""So many standard errors end a job early, after so many items; more than ``SURE``, for each item is another try."""
LEAST_FORM = 0.9
LEAST_WRITING = 0.5

NOUNS = {
    Job.GRADE: "grading",
    Job.STRIPS: "picking",
    Job.EVALUATE: "judging answers",
    Job.CLASSIFY: "telling kinds of messages apart",
    Job.REWRITE: "rewriting queries",
    Job.ANSWER: "writing",
}


@dataclass(frozen=True, slots=True)
class JobReport:
    """One job: a value from 0 to 1 for each item, the model's (``theirs``) and the offline role's (``ours``).

    ``usable``: the share of replies that kept to the form; ``seconds`` and ``calls`` are the model's in all.
    """

    job: Job
    theirs: tuple[float, ...]
    ours: tuple[float, ...]
    usable: float
    seconds: float
    calls: int

    @property
    def score(self) -> float:
        """The mean of the model's items."""
        return fmean(self.theirs) if self.theirs else 0.0

    @property
    def own(self) -> float:
        """The mean of the offline role's items."""
        return fmean(self.ours) if self.ours else 0.0

    @property
    def verdict(self) -> Verdict:
        """Whether the model is better, as far as the items tell: a sign test weighted by differences."""
        if self._lead >= SURE and self.usable >= LEAST_FORM:
            return "better"
        return "worse" if self._lead <= -SURE or self.usable < LEAST_FORM else "no better"

    @property
    def may(self) -> bool:
        """Whether it should be asked: to judge when it is better, to write when half of what it writes is right."""
        if self.job is Job.ANSWER:
            return self.score >= LEAST_WRITING and self.usable >= LEAST_FORM
        return self.verdict == "better"

    def is_clear(self, planned: int) -> bool:
        """Whether the rest of ``planned`` items would hardly change ``may``."""
        count = len(self.theirs)
        failed = round((1 - self.usable) * count)
        if (planned - failed) / planned < LEAST_FORM:  # even if all that follow are usable
            return True
        if self.job is Job.ANSWER:
            return self._is_clear_writing(planned)
        return count >= FEWEST and abs(self._lead) >= CLEAR and (self._lead < 0 or self.usable >= LEAST_FORM)

    def _is_clear_writing(self, planned: int) -> bool:
        count, right = len(self.theirs), sum(self.theirs)
        if right + planned - count < LEAST_WRITING * planned:
            return True
        lead = 2 * (self.score - LEAST_WRITING) * math.sqrt(count)
        return count >= FEWEST and abs(lead) >= CLEAR and (lead < 0 or self.usable >= LEAST_FORM)

    @property
    def _lead(self) -> float:
        """How far the model is ahead, in standard errors."""
        differences = [a - b for a, b in zip(self.theirs, self.ours, strict=True)]
        spread = math.sqrt(sum(d * d for d in differences))
        return sum(differences) / spread if spread else 0.0


@dataclass(frozen=True, slots=True)
class CheckReport:
    """A model's check: its name, and one report a job."""

    model: str
    jobs: tuple[JobReport, ...]
    prompt_tokens: int
    completion_tokens: int

    @property
    def allowed(self) -> dict[Job, bool]:
        """Whether it should be asked, by job."""
        return {one.job: one.may for one in self.jobs}

    def words(self) -> Iterator[str]:
        """The verdict in sentences."""
        for one in self.jobs:
            if one.job is Job.ANSWER:
                yield f"{self.model} {_writing(one)} ({_figures(one)})"
        judging = [one for one in self.jobs if one.job is not Job.ANSWER]
        yield from _judging([one for one in judging if one.may], "may be asked for what it does better")
        left = [one for one in judging if not one.may]
        yield from _judging([one for one in left if one.usable < LEAST_FORM], "does not keep to the form of a reply")
        left = [one for one in left if one.usable >= LEAST_FORM]
        yield from _judging([one for one in left if one.verdict == "worse"], "is worse than the offline role")
        yield from _judging([one for one in left if one.verdict == "no better"], "is not shown to be better")


def _writing(one: JobReport) -> str:
    if one.may:
        return "may write answers: at least half of them are right"
    if one.usable < LEAST_FORM:
        return "should not write answers: too many cannot be used"
    return "should not write answers: fewer than half of them are right"


def _judging(jobs: Sequence[JobReport], what: str) -> Iterator[str]:
    if jobs:
        yield f"it {what}: {'; '.join(f'{NOUNS[one.job]} ({_figures(one)})' for one in jobs)}"


def _figures(one: JobReport) -> str:
    form = f", {one.usable:.0%} of its replies usable" if one.usable < LEAST_FORM else ""
    few = f", of {len(one.theirs)} only" if len(one.theirs) < FEWEST else ""
    return f"{one.score:.2f}, ours {one.own:.2f}{form}{few}"
