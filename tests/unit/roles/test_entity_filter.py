"""Evidence is held to the name: a thing is not answered for another one of its kind."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from selfright.domain.judgements import WithheldReason
from selfright.domain.packs import GENERAL, DomainPack
from selfright.domain.passages import FilteredHits, Hit, Passage, Strip
from selfright.roles.entity_filter import QueryEntities
from selfright.roles.evidence_filter import OfflineEvidenceFilter
from selfright.roles.grade.offline import OfflineGrader
from selfright.roles.selection import UnitScorer
from selfright.roles.trust import TrustFilter
from selfright_medical.pack import MEDICAL
from tests.support.texts import analyzer, hits, passage, strip

LISINOPRIL = passage("Pregnancy: contraindicated.", "lisinopril.md", "Lisinopril")
WARFARIN = passage("임신 6~12주에 복용하면 태아 기형을 일으킬 수 있습니다.", "warfarin.md", "와파린")
MIGRAINE = passage("임신 중에는 진통제를 줄입니다.", "migraine.md", "편두통")
QUESTION = "임신 12주인데 리시노프릴 먹어도 되나요?"


def found(question: str, *passages: Passage, pack: DomainPack = MEDICAL) -> FilteredHits:
    words = analyzer(*(one.text for one in (LISINOPRIL, WARFARIN, MIGRAINE)))
    trust = TrustFilter(words, OfflineGrader(words), UnitScorer(words))
    return asyncio.run(OfflineEvidenceFilter(trust, pack).hits(question, hits(*passages)))


def names(those: Sequence[Hit]) -> list[str]:
    return [hit.passage.document_id for hit in those]


def test_what_is_about_another_medicine_is_left_out() -> None:
    left = found(QUESTION, LISINOPRIL, WARFARIN, MIGRAINE)
    assert names(left.hits) == ["lisinopril.md"]  # by its English name
    assert names(left.withheld) == ["warfarin.md", "migraine.md"]
    assert set(left.reasons.values()) == {WithheldReason.NAMED_THING}
    assert left.names_subject


def test_only_what_others_brought_gives_way_for_trust() -> None:
    class OneLeft(TrustFilter):
        async def hits(self, question: str, hits: Sequence[Hit]) -> tuple[Hit, ...]:
            return tuple(hits[:1])

    words = analyzer("The lamp is changed every 90 days.")
    trust = OneLeft(words, OfflineGrader(words), UnitScorer(words))
    own = [passage(f"The lamp, part {name}.", f"{name}.md", "Lamp") for name in ("a", "b")]
    brought = replace(passage("The lamp, as I say.", "c.md", "Lamp"), origin="upload")
    left = asyncio.run(OfflineEvidenceFilter(trust, GENERAL).hits("When is the lamp changed?", hits(*own, brought)))
    assert [left.reasons[one.passage.id] for one in left.withheld] == ["states_nothing", "trust"]


def test_when_nothing_names_it_that_is_said() -> None:
    assert not found(QUESTION, WARFARIN, MIGRAINE).names_subject
    assert found(QUESTION).names_subject  # of nothing, nothing can be said


@pytest.mark.parametrize(
    "question", ["임신 12주에 조심할 것은?", "I take warfarin. What helps with a cold?", "", "What is it?"]
)
def test_without_a_name_everything_is_as_it_was(question: str) -> None:
    left = found(question, LISINOPRIL, WARFARIN, MIGRAINE)
    assert (names(left.hits), left.withheld) == (["lisinopril.md", "warfarin.md", "migraine.md"], ())


def test_strips_about_another_thing_go_and_none_may_be_left() -> None:
    listed = passage("The ACE inhibitor is stopped.\n\nIbuprofen is avoided.", "list.md", "Kidneys")
    one, other = (strip(listed, text=text) for text in ("The ACE inhibitor is stopped.", "Ibuprofen is avoided."))
    words = analyzer(listed.text)
    judge = OfflineEvidenceFilter(TrustFilter(words, OfflineGrader(words), UnitScorer(words)), MEDICAL)
    assert judge.on_subject("Is lisinopril stopped in kidney failure?", (one, other)) == (one,)  # a class names its own
    assert judge.on_subject(QUESTION, (strip(WARFARIN),)) == ()


def missed(question: str, heading: str, text: str) -> bool:
    return QueryEntities.of(question, GENERAL).excludes_text(heading, text)


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
    assert not entities.excludes_text(piece.passage.heading, piece.text)


def test_what_nobody_sees_names_nothing() -> None:
    hidden = passage("Codes are short. <!-- FX-1042 -->", "a.md")
    other = passage("Every code has a cause.", "b.md", "Codes")
    assert not found("What does FX-1042 mean?", hidden, other, pack=GENERAL).names_subject


def test_passages_beside_a_foreign_page_on_the_subject_are_about_others() -> None:
    ours = passage("furosemide와 함께 먹지 않습니다.", "gout.md", "통풍")
    foreign = passage("Warnings: hearing may suffer.", "furosemide.md", "Furosemide")
    question = "furosemide를 먹을 때 주의할 점은?"
    left = found(question, WARFARIN, foreign, MIGRAINE, ours, pack=GENERAL)
    assert names(left.hits) == ["furosemide.md", "gout.md"]
    titled = passage("하루 한 번 먹습니다.", "ko.md", "furosemide")
    assert len(found(question, WARFARIN, foreign, titled, pack=GENERAL).hits) == 3  # a page of one's own is on it, too
