"""Evidence is held to the name: a thing is not answered for another one of its kind."""

import asyncio
from collections.abc import Sequence

import pytest

from selfright.domain.judgements import Grade, Grading, Verdict
from selfright.domain.packs import GENERAL
from selfright.domain.passages import Hit, Refinement, Strip
from selfright.roles.entity_filter import EntityFilterGrader, EntityFilterRefiner, QueryEntities
from selfright_medical.pack import MEDICAL
from tests.support.texts import analyzer, hits, passage, strip


class Everything:
    """Takes all that it is shown for good, and keeps what it was shown."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    async def grade(self, question: str, hits: Sequence[Hit]) -> Grading:
        del question
        self.shown = [hit.passage.document_id for hit in hits]
        return Grading(Verdict.CORRECT, 0.9, tuple(Grade(hit.passage.id, 0.9) for hit in hits))

    async def refine(self, question: str, hits: Sequence[Hit], grading: Grading | None = None) -> Refinement:
        del question, grading
        self.shown = [hit.passage.document_id for hit in hits]
        return Refinement(tuple(strip(hit.passage) for hit in hits), 0.0)


LISINOPRIL = passage("Pregnancy: contraindicated.", "lisinopril.md", "Lisinopril")
WARFARIN = passage("임신 6~12주에 복용하면 태아 기형을 일으킬 수 있습니다.", "warfarin.md", "와파린")
MIGRAINE = passage("임신 중에는 진통제를 줄입니다.", "migraine.md", "편두통")
QUESTION = "임신 12주인데 리시노프릴 먹어도 되나요?"


ANALYZER = analyzer(*(one.text for one in (LISINOPRIL, WARFARIN, MIGRAINE)))


def test_what_is_about_another_medicine_is_not_shown_to_the_judge() -> None:
    inner = Everything()
    grading = asyncio.run(
        EntityFilterGrader(inner, MEDICAL, ANALYZER).grade(QUESTION, hits(LISINOPRIL, WARFARIN, MIGRAINE))
    )
    assert inner.shown == ["lisinopril.md"]  # by its English name
    assert [grading.probability(one.id) for one in (LISINOPRIL, WARFARIN, MIGRAINE)] == [0.9, 0.0, 0.0]
    assert grading.verdict is Verdict.CORRECT


def test_when_nothing_names_it_the_set_is_incorrect() -> None:
    inner = Everything()
    grading = asyncio.run(EntityFilterGrader(inner, MEDICAL, ANALYZER).grade(QUESTION, hits(WARFARIN, MIGRAINE)))
    assert (grading.verdict, grading.sufficiency, inner.shown) == (Verdict.INCORRECT, 0.0, [])
    assert {grade.probability for grade in grading.grades} == {0.0}


@pytest.mark.parametrize(
    "question", ["임신 12주에 조심할 것은?", "I take warfarin. What helps with a cold?", "", "What is it?"]
)
def test_without_a_name_everything_is_as_it_was(question: str) -> None:
    inner, found = Everything(), hits(LISINOPRIL, WARFARIN, MIGRAINE)
    graded = asyncio.run(EntityFilterGrader(inner, MEDICAL, ANALYZER).grade(question, found))
    assert graded == asyncio.run(inner.grade(question, found))
    refined = asyncio.run(EntityFilterRefiner(inner, MEDICAL, ANALYZER).refine(question, found))
    assert refined == asyncio.run(inner.refine(question, found))


def test_strips_about_another_thing_go_and_none_may_be_left() -> None:
    listed = passage("The ACE inhibitor is stopped.\n\nIbuprofen is avoided.", "list.md", "Kidneys")
    one, other = (strip(listed, text=text) for text in ("The ACE inhibitor is stopped.", "Ibuprofen is avoided."))

    class Halves(Everything):
        async def refine(self, question: str, hits: Sequence[Hit], grading: Grading | None = None) -> Refinement:
            return Refinement((one, other), 0.0)

    question = "Is lisinopril stopped in kidney failure?"
    kept = asyncio.run(EntityFilterRefiner(Halves(), MEDICAL, ANALYZER).refine(question, hits(listed)))
    assert (kept.strips, kept.fell_back) == ((one,), False)  # a class names what is of it
    none = asyncio.run(EntityFilterRefiner(Everything(), MEDICAL, ANALYZER).refine(QUESTION, hits(WARFARIN)))
    assert (none.strips, none.fell_back) == ((), True)


def missed(question: str, heading: str, text: str) -> bool:
    return QueryEntities.of(question, GENERAL).is_missed_by(heading, text)


@pytest.mark.parametrize(
    ("question", "heading", "text", "expected"),
    [
        ("What does FX-1042 mean?", "Codes", "FX-1041: the lock is held.", True),
        ("What does FX-1042 mean?", "Codes", "FX 1042: the lock is held.", False),
        ("What does FX-1042 mean?", "FX-1042", "As FX-1041, for readers.", False),
        ("What does FX-1042 mean?", "Codes", "Each code has a cause.", False),
        ("Does CYP2C9 break down warfarin?", "", "CYP3A4 breaks down simvastatin.", False),  # another family of letters
        ("What lowers CYP3A4?", "", "CYP3A5 is lowered by it.", True),
        ("What is the cache size of FxStore?", "Spring", "`FxCacheManager` caches. It holds 100,000.", True),
        ("What is the cache size of FxStore?", "FxStore", "`FxCacheManager` caches. It holds 100,000.", False),
        ("Who manages the cache of FxStore?", "Spring", "`FxCacheManager` does.", False),
        ("What is the cache size of FxStore?", "Keys", "| `cache.size` | 64 MiB |", False),
        ("What is the cache size of FxStore?", "Other", "YouTube caches, too.", False),
        ("What is 5 mg of it in 2024?", "", "In 2023 it was 3 mg.", False),
    ],
)
def test_codes_and_identifiers_are_told_apart_by_how_they_are_written(
    question: str, heading: str, text: str, expected: bool
) -> None:
    assert missed(question, heading, text) is expected


@pytest.mark.parametrize(
    ("question", "text", "named"),
    [
        ("What is COVID-19?", "covid 19 is a disease", True),
        ("What happened in the mid-1980s?", "It was in 1985.", True),
        ("Which phase-3 trial was it?", "There were trials.", True),
        ("How many PBKDF2 iterations are used?", "Keys are derived from a passphrase.", False),
        ("What does code E99 mean on the printer?", "Error codes of the printer, E99 among them.", True),
        ("What does error code E99 mean on the printer?", "Error codes of the printer, E99 among them.", False),
        ("What does error code E99 mean on the printer?", "E99: the tank is empty.", True),
        ("프린터의 E99 오류는 무슨 뜻인가요?", "프린터의 오류 E99", False),
        ("프린터의 E99 오류는 무슨 뜻인가요?", "E99: 물통이 비었습니다.", True),
        ("Which S3 bucket?", "There are buckets.", True),  # too short to be sure that it is a code
        ("Is version 0.3.0 out?", "It is.", False),
        ("Is version 0.3.0 out?", "Version 0.3.10 is.", False),
        ("Is version 0.3.0 out?", "v0.3.0 came in May.", True),
    ],
)
def test_a_code_that_nothing_names_is_noticed(question: str, text: str, named: bool) -> None:
    entities = QueryEntities.of(question, GENERAL)
    assert (not entities or entities.is_named_in([text])) is named


def test_a_strip_keeps_its_heading_as_a_name() -> None:
    piece: Strip = strip(passage("It is taken once daily.", "a.md", "Lisinopril"))
    entities = QueryEntities.of("How is lisinopril taken?", MEDICAL)
    assert entities.keys
    assert not entities.is_missed_by(piece.passage.heading, piece.text)


def test_what_nobody_sees_names_nothing() -> None:
    hidden = passage("Codes are short. <!-- FX-1042 -->", "a.md")
    other = passage("Every code has a cause.", "b.md", "Codes")
    grading = asyncio.run(
        EntityFilterGrader(Everything(), GENERAL, ANALYZER).grade("What does FX-1042 mean?", hits(hidden, other))
    )
    assert (grading.verdict, grading.sufficiency) == (Verdict.INCORRECT, 0.0)


def test_passages_beside_a_foreign_page_on_the_subject_are_about_others() -> None:
    inner = Everything()
    ours = passage("furosemide와 함께 먹지 않습니다.", "gout.md", "통풍")
    foreign = passage("Warnings: hearing may suffer.", "furosemide.md", "Furosemide")
    question = "furosemide를 먹을 때 주의할 점은?"
    grader, refiner = (kind(inner, GENERAL, ANALYZER) for kind in (EntityFilterGrader, EntityFilterRefiner))
    grading = asyncio.run(grader.grade(question, hits(WARFARIN, foreign, MIGRAINE, ours)))
    assert inner.shown == ["furosemide.md", "gout.md"]
    assert grading.probability(WARFARIN.id) == 0.0
    asyncio.run(refiner.refine(question, hits(WARFARIN, foreign, MIGRAINE)))
    assert inner.shown == ["furosemide.md"]
    titled = passage("하루 한 번 먹습니다.", "ko.md", "furosemide")
    asyncio.run(grader.grade(question, hits(WARFARIN, foreign, titled)))
    assert len(inner.shown) == 3  # a page of one's own is on it, too
