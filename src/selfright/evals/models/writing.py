"""Questions as people type them, over what a search brings: the answer stands beside near misses."""

from dataclasses import dataclass

from selfright.domain.answers import Draft, GenerationRequest
from selfright.domain.judgements import QueryClass
from selfright.domain.passages import Document, Hit, Language
from selfright.evals.words import contains, spoken_text
from selfright.flow.evidence import as_hits, whole
from selfright.wiring.examination import Bench

_GAP = "\n\n…\n\n"


@dataclass(frozen=True, slots=True)
class WritingQuestion:
    """One of the ``gold`` wordings stands in a right answer, and in ``document``.

    ``order``: the places of the probe's excerpts as a search brings them for this question, the best first.
    """

    text: str
    gold: tuple[str, ...]
    document: str
    order: tuple[int, ...]

    def is_right(self, draft: Draft) -> bool:
        """Whether the draft says so."""
        return any(contains(spoken_text(draft.text), wording) for wording in self.gold)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What a passage has: its document, heading and text, and the head of the table in it."""

    document: str
    title: str
    text: str
    section: str = ""
    head: str = ""


@dataclass(frozen=True, slots=True)
class WritingProbe:
    """What a search brings, and the questions for which it does."""

    language: Language
    excerpts: tuple[Excerpt, ...]
    questions: tuple[WritingQuestion, ...]

    def hits(self, question: WritingQuestion) -> tuple[Hit, ...]:
        """The excerpts as passages of documents that consist of them, the best first."""
        parts: dict[str, list[str]] = {}
        passages = []
        for one in self.excerpts:
            before = parts.setdefault(one.document, [])
            start = sum(len(text) + len(_GAP) for text in before)
            before.append(one.text)
            document = Document(one.document, one.title, _GAP.join(before), self.language)
            passages.append(document.passage(len(before) - 1, start, start + len(one.text), one.section, one.head))
        return as_hits(passages[place] for place in question.order)


async def check_writing(bench: Bench, probe: WritingProbe, question: WritingQuestion) -> tuple[float, float]:
    """Whether the model is right, and whether the offline writer is, from the same evidence."""
    hits = probe.hits(question)
    strips = whole(hits)
    system, user = await bench.offline.prompter.prompts(question.text, probe.language, strips, "", (), "")
    request = GenerationRequest(
        question=question.text,
        language=probe.language,
        query_class=QueryClass.QUESTION,
        strips=strips,
        system_prompt=system,
        user_prompt=user,
        hits=hits,
    )
    theirs = await bench.writer.generate(request)
    ours = await bench.offline.generator.generate(request)
    if not theirs.text:
        bench.failed += 1
    return float(question.is_right(theirs)), float(question.is_right(ours))
