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
        differences = [a - b for a, b in zip(self.theirs, self.ours, strict=True)]
        spread = math.sqrt(sum(d * d for d in differences))
        z = sum(differences) / spread if spread else 0.0
        if z >= SURE and self.usable >= LEAST_FORM:
            return "better"
        return "worse" if z <= -SURE or self.usable < LEAST_FORM else "no better"

    @property
    def may(self) -> bool:
        """Whether it should be asked: to judge when it is better, to write when half of what it writes is right."""
        if self.job is Job.ANSWER:
            return self.score >= LEAST_WRITING and self.usable >= LEAST_FORM
        return self.verdict == "better"


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
        writes = next((one for one in self.jobs if one.job is Job.ANSWER), None)
        if writes is not None:
            may = "may write answers" if writes.may else "should not write answers: quoting does better"
            yield f"{self.model} {may} ({writes.score:.2f} right, ours {writes.own:.2f})"
        judging = [one for one in self.jobs if one.job is not Job.ANSWER]
        yield from _judging([one for one in judging if one.may], "may be asked for")
        yield from _judging([one for one in judging if not one.may], "should not be asked for")


def _judging(jobs: Sequence[JobReport], what: str) -> Iterator[str]:
    if jobs:
        each = "; ".join(f"{NOUNS[one.job]} ({_why(one)})" for one in jobs)
        yield f"it {what} {each}"


def _why(one: JobReport) -> str:
    form = f", {one.usable:.0%} of its replies usable" if one.usable < LEAST_FORM else ""
    return f"{one.score:.2f}, ours {one.own:.2f}{form}"
