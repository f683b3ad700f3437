"""Metrics of what a turn retrieved: whether it is relevant, and whether it is what was missing."""

from collections.abc import Sequence
from dataclasses import dataclass

from selfright.evals.metrics import Sample, Value, without
from selfright.evals.results import Pass


@dataclass(frozen=True, slots=True)
class RetrievalPrecision:
    """S3's retrieval precision: the share of the documents of one pass that are relevant; ``place`` −1 is the last."""

    name: str = "retrieval_precision"
    place: int = -1

    def measure(self, sample: Sample) -> Value:
        """None where no relevant document is known, or there was no such pass."""
        documents = _documents(sample, self.place)
        if isinstance(documents, Value):
            return documents
        good = len(set(documents) & set(sample.question.relevant))
        return Value(good / len(documents) if documents else 0.0, f"{good} of {len(documents)} retrieved")


@dataclass(frozen=True, slots=True)
class RetrievalRecall:
    """S3's retrieval recall: the share of the relevant documents that one pass found; ``place`` −1 is the last."""

    name: str = "retrieval_recall"
    place: int = -1

    def measure(self, sample: Sample) -> Value:
        """None where no relevant document is known, or there was no such pass."""
        documents = _documents(sample, self.place)
        if isinstance(documents, Value):
            return documents
        relevant = set(sample.question.relevant)
        return Value(len(relevant & set(documents)) / len(relevant), f"of {len(relevant)} relevant")


@dataclass(frozen=True, slots=True)
class TargetedRetrievalRate:
    """S3's targeted retrieval rate: the share of the items that an evaluation missed which the next retrieval brings.

    An item is brought when one passage of the next pass holds three quarters of its words. With ``only_new`` it must
    not have been in the pass before: an item that was there all the time needed no retrieval.
    """

    name: str = "targeted_retrieval_rate"
    only_new: bool = False

    def measure(self, sample: Sample) -> Value:
        """None for turns without a second pass, or that missed nothing in the first."""
        asked = brought = 0
        for before, after in zip(sample.turn.passes, sample.turn.passes[1:], strict=False):
            asked += len(before.missing_info)
            brought += len(after.new if self.only_new else after.brought)
        if not asked:
            return without("nothing was missing, or nothing was looked up again")
        return Value(brought / asked, f"{brought} of {asked} missing items")


@dataclass(frozen=True, slots=True)
class CitationPrecision:
    """The share of the cited documents that are relevant."""

    name: str = "citation_precision"

    def measure(self, sample: Sample) -> Value:
        """None without citations, or where no relevant document is known."""
        cited = {citation.document_id for citation in sample.turn.citations}
        if not cited or not sample.question.relevant:
            return without("nothing cited" if not cited else "no relevant document known")
        good = len(cited & set(sample.question.relevant))
        return Value(good / len(cited), f"{good} of {len(cited)} cited")


def _documents(sample: Sample, place: int) -> Sequence[str] | Value:
    passes: Sequence[Pass] = sample.turn.passes
    if not sample.question.relevant:
        return without("no relevant document known")
    if not -len(passes) <= place < len(passes):
        return without("no such pass")
    return passes[place].documents
