"""Any judge of answers as a metric: what it says of each answer, given what the answer cites."""

from dataclasses import dataclass
from typing import Literal

from selfright.background import LoopThread
from selfright.domain.answers import Citation, Draft, EvaluationRequest
from selfright.domain.errors import ModelError
from selfright.domain.passages import Hit, Passage
from selfright.domain.ports import Evaluator
from selfright.domain.text import language_of
from selfright.evals.measures.words import answer_of
from selfright.evals.metrics import Sample, Value, without


@dataclass(frozen=True, slots=True)
class JudgedBy:
    """One score of an ``Evaluator``, over the passages that the answer cites.

    It is asked when results are summed up, once for each answer and each time; ``quality`` and ``grounding`` come from
    the study's own judge, which saw all that the turn looked at and is asked only once.
    """

    evaluator: Evaluator
    name: str = "judged"
    score: Literal["overall", "grounding", "completeness", "accuracy", "confidence"] = "overall"

    def measure(self, sample: Sample) -> Value:
        """None for an abstention, and where the judge fails: that is neither a good nor a bad answer."""
        if sample.turn.abstained:
            return without("abstained")
        loop = LoopThread()
        try:
            answer = answer_of(sample)
            hits = tuple(Hit(_passage(cited), 0.0) for cited in dict.fromkeys(sample.turn.citations))
            draft, language = Draft(answer), language_of(answer)
            request = EvaluationRequest(sample.question.question, draft, language, hits=hits)
            said = loop.run(self.evaluator.evaluate(request))
        except ModelError as error:
            return without(f"the judge failed: {error}")
        finally:
            loop.close()
        return Value(getattr(said, self.score), f"{said.source.value}: {said.answer_quality.value}")


def _passage(cited: Citation) -> Passage:
    name = f"{cited.document_id}#{cited.start}"
    return Passage(name, cited.document_id, "", cited.text, cited.start, cited.end, url=cited.url)
