"""What came of a check: values by item and job, and verdicts."""

import math
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
LEAST_ITEMS = 4

NOUNS = {
    Job.GRADE: "grading",
    Job.STRIPS: "picking",
    Job.EVALUATE: "judging answers",
    Job.CLASSIFY: "telling kinds of messages apart",
    Job.REWRITE: "rewriting queries",
    Job.ANSWER: "writing",
}

_WHY = {
    "better": "better than the offline role",
    "no better": "not shown to be better than the offline role",
    "worse": "worse than the offline role",
}
_TOO_FEW = f"fewer than {LEAST_ITEMS} items were asked in the time"
_WHY_WRITING = {
    True: "right at least as often as the offline writer",
    False: "right less often than the offline writer",
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
        """Whether it should be asked: to judge when it is better, to write when it is right as often as ours."""
        if self.job is Job.ANSWER:
            return len(self.theirs) >= LEAST_ITEMS and self._lead >= 0 and self.usable >= LEAST_FORM
        return self.verdict == "better"

    @property
    def why(self) -> str:
        """What ``may`` rests on."""
        if self.usable < LEAST_FORM:
            return "too few of its replies have the form"
        if self.job is Job.ANSWER:
            return _WHY_WRITING[self.may] if len(self.theirs) >= LEAST_ITEMS else _TOO_FEW
        return _WHY[self.verdict]

    def is_clear(self, planned: int) -> bool:
        """Whether the rest of ``planned`` items would hardly change ``may``."""
        count = len(self.theirs)
        failed = round((1 - self.usable) * count)
        if (planned - failed) / planned < LEAST_FORM:  # even if all that follow are usable
            return True
        return count >= FEWEST and abs(self._lead) >= CLEAR and (self._lead < 0 or self.usable >= LEAST_FORM)

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
