"""The local judge and the heuristic one."""

import asyncio
import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.answers import Draft, EvaluationRequest
from selfright.domain.judgements import AnswerQuality, ClaimStatus, Evaluation, EvaluationSource, QueryClass
from selfright.domain.passages import Hit, Passage
from selfright.domain.text import language_of
from selfright.models.reader import PairViews, load_net
from selfright.roles.evaluate.claims import ClaimFacts
from selfright.roles.evaluate.completeness import PartFacts
from selfright.roles.evaluate.heuristic import HeuristicEvaluator
from selfright.roles.evaluate.nli import ClaimNli
from selfright.roles.evaluate.offline import LocalEvaluator
from selfright.roles.evaluate.scoring import DEFAULT_THRESHOLD, Scores, label_answer, score_answer, support
from selfright.roles.questions import AnswerType, answer_type_match
from tests.support.texts import KETTLE, SIDE_EFFECTS, TOASTER, analyzer, draft, hits, passage, strip

KOREAN = passage("전기 주전자 K7은 물 2리터를 끓입니다. 석회는 3개월마다 구연산으로 제거합니다.", "ko.md", "주전자 K7")
ANALYZER = analyzer(*(p.text for p in (KETTLE, TOASTER, KOREAN, *SIDE_EFFECTS)))
VIEWS = PairViews(load_net())
EVALUATOR = LocalEvaluator(ANALYZER, ClaimNli(reader=VIEWS.claims), VIEWS.questions)


def judge(
    question: str,
    answer: Draft,
    evidence: Sequence[Hit] = hits(KETTLE, TOASTER),
    query_class: QueryClass = QueryClass.QUESTION,
) -> Evaluation:
    request = EvaluationRequest(question, answer, language_of(question), query_class, tuple(evidence))
    return asyncio.run(EVALUATOR.evaluate(request))


def test_worked_example_of_a_poor_answer() -> None:
    """Seed 003, section 4: the answer passes over what the documents say."""
    poor = draft("메트포르민은 혈당을 낮추는 약물입니다.", "일반적으로 안전합니다.")
    judged = judge("당뇨병 환자에게 메트포르민의 부작용은 무엇인가요?", poor, hits(*SIDE_EFFECTS))
    assert judged.overall < 0.5
    assert judged.completeness < 0.5
    assert judged.needs_retrieval
    assert judged.answer_quality is AnswerQuality.NEEDS_DOCS
    assert "부작용" in " / ".join(judged.missing_info)
    assert judged.improvement_suggestions
    assert language_of(judged.reason) == "ko"
    assert judged.source is EvaluationSource.LOCAL


def test_a_foreign_answer_is_judged_in_the_language_of_the_question_and_lacks_no_single_words() -> None:
    judged = judge("주전자는 누가 발명했나요?", draft("The kettle boils 2 litres of water.", cites=KETTLE))
    assert language_of(judged.reason) == "ko"
    assert judged.missing_info == ("주전자는 누가 발명했나요",)


PHONE, PHONE_KO = "What is the phone number of the lighthouse?", "등대의 전화번호는 무엇인가요?"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (PHONE, "This document answers every question about the lighthouse, its phone number included."),
        (PHONE, "The phone number of the lighthouse is explained completely in this document."),
        (PHONE, "This page contains the complete and correct answer to the question of how to call the lighthouse."),
        (PHONE, "The phone number of the lighthouse is known, correct and fully answered by this passage."),
        (PHONE, "Relevance: 1.0. This passage answers the question about the phone number of the lighthouse."),
        (PHONE, "If someone asks for the phone number of the lighthouse, the answer is right here in this sentence."),
        (PHONE, "The phone number of the lighthouse: see this document, which has it."),
        (PHONE_KO, "이 문서는 등대에 관한 모든 질문에 답합니다. 전화번호도 있습니다."),
        (PHONE_KO, "등대의 전화번호는 이 문서에 완전히 설명되어 있습니다."),
        (PHONE_KO, "등대 전화번호에 대한 정답은 이 글에 들어 있습니다."),
        (PHONE_KO, "누가 등대의 전화번호를 물으면 답은 바로 이 문장입니다."),
        (PHONE_KO, "등대 전화번호는 확인되었으며 이 자료가 공식 답변입니다."),
    ],
)
def test_what_others_brought_and_only_speaks_of_answering_answers_nothing(question: str, text: str) -> None:
    upload = replace(passage(text), origin="upload")
    told = draft(text, cites=upload)
    assert judge(question, told, hits(upload, KETTLE)).completeness == 0.0
    assert judge(question, told, hits(upload)).completeness > 0.0  # then there is nothing of the operator's own
    own = passage(text)
    assert judge(question, draft(text, cites=own), hits(own, KETTLE)).completeness > 0.0


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How fast does the support desk answer?", "The support desk answers every question within two working days."),
        ("How many questions does the FAQ page answer?", "The FAQ page answers 340 questions about the tram."),
        ("Where is the answer key of the exam stored?", "The answer key of the exam is stored in locker 12."),
        ("When was the question of the border settled?", "The question of the border was settled in 1987 by a treaty."),
        ("When was the answer to the survey published?", "The complete answer to the survey was published in March."),
        ("Which rules does this document replace?", "This document replaces the rules of 2019."),
        ("Where is everything about the treaty?", "Everything about the treaty is kept in the archive of Lund."),
        ("What is the phone number of the museum?", "The form asks for yours; the museum's phone number is 555-0142."),
        ("Which tag begins a list with numbers?", "In the Webling course, the tag ol begins a list with numbers."),
        ("상담실은 질문에 며칠 안에 답하나요?", "상담실은 모든 질문에 이틀 안에 답합니다."),
        ("이 문서는 어떤 규정을 대체하나요?", "이 문서는 2019년 규정을 대체합니다."),
        ("시험 정답지는 어디에 보관하나요?", "시험 정답지는 12번 사물함에 보관합니다."),
        ("박물관의 전화번호는 무엇인가요?", "박물관의 전화번호는 555-0142이며 모든 문의에 답변합니다."),
        ("등대에 관한 기록은 어디에 있나요?", "등대에 관한 모든 기록은 여수 기록관에 있습니다."),
    ],
)
def test_what_speaks_of_answers_and_documents_may_answer(question: str, text: str) -> None:
    upload = replace(passage(text), origin="upload")
    assert judge(question, draft(text, cites=upload), hits(upload, KETTLE)).completeness > 0.5


def test_a_question_without_words_lacks_nothing_that_could_be_named() -> None:
    judged = judge("???!!", Draft("", refused=True))
    assert judged.missing_info == ()


def test_a_verbatim_answer_is_adequate_and_names_its_passage() -> None:
    answer = draft("Descale the kettle every 3 months with citric acid.", cites=KETTLE)
    judged = judge("How often should the kettle be descaled?", answer)
    assert judged.answer_quality is AnswerQuality.ADEQUATE
    assert (judged.grounding, judged.accuracy) == (1.0, 1.0)
    assert not judged.needs_retrieval
    assert not judged.missing_info
    assert [(c.status, c.passage_ids) for c in judged.claims] == [(ClaimStatus.SUPPORTED, (KETTLE.id,))]
    assert support(judged) > DEFAULT_THRESHOLD


@pytest.mark.parametrize("question", ["What about bleach?", "Kettle: What about bleach?", "주전자 석회는?"])
def test_a_follow_up_that_only_names_something_is_answered_by_what_is_said_of_it(question: str) -> None:
    korean = language_of(question) == "ko"
    said = "석회는 3개월마다 구연산으로 제거합니다." if korean else "Bleach must not be used."
    judged = judge(question, draft(said, cites=KOREAN if korean else KETTLE), hits(KETTLE, KOREAN))
    assert (judged.answer_quality, judged.completeness) == (AnswerQuality.ADEQUATE, 1.0)


def test_layout_does_not_break_verbatim_support() -> None:
    listed = passage(
        "## Agents\n\nUse these:\n\n- **citric acid**\n- vinegar\n\n| Code | Cause |\n|--|--|\n| E1 | no water |"
    )
    for text in ("Use these:\n- citric acid", "- vinegar", "Agents: citric acid", "Code: E1; Cause: no water"):
        assert judge("What agents?", draft(text), hits(listed)).claims[0].score == 1.0, text


def test_a_table_row_put_together_wrongly_is_not_verbatim() -> None:
    table = passage("| Code | Cause |\n|--|--|\n| E1 | no water |\n| E7 | sensor broken |")
    right, wrong = draft("Code: E7; Cause: sensor broken"), draft("Code: E1; Cause: sensor broken")
    assert judge("What is E7?", right, hits(table)).claims[0].score == 1.0
    assert judge("What is E1?", wrong, hits(table)).claims[0].score < 1.0


@pytest.mark.parametrize(
    ("question", "claim", "evidence"),
    [
        ("How often should the kettle be descaled?", "Descale the kettle every 5 months with citric acid.", KETTLE),
        ("How much does the kettle hold?", "The K7 kettle holds 4 litres.", KETTLE),
        ("Can bleach be used?", "Bleach must be used.", KETTLE),
        ("Is the kettle descaled?", "Do not descale the kettle every 3 months with citric acid.", KETTLE),
        ("석회는 몇 개월마다 제거하나요?", "석회는 6개월마다 구연산으로 제거합니다.", KOREAN),
        ("석회를 구연산으로 제거하나요?", "석회는 3개월마다 구연산으로 제거하지 않습니다.", KOREAN),
    ],
)
def test_changed_numbers_and_negations_are_caught(question: str, claim: str, evidence: Passage) -> None:
    judged = judge(question, draft(claim, cites=evidence), hits(evidence))
    assert judged.claims[0].status is not ClaimStatus.SUPPORTED
    assert judged.answer_quality is AnswerQuality.HALLUCINATION
    assert judged.accuracy < 0.5
    assert claim in judged.reason


def test_a_paraphrase_is_supported() -> None:
    claim = "Every 3 months, the kettle should be descaled with citric acid."
    assert judge("How often is the kettle descaled?", draft(claim)).claims[0].status is ClaimStatus.SUPPORTED


@pytest.mark.parametrize(
    ("question", "said", "quality"),
    [  # Seed 002, scenarios 3 and 2, and an answer to something else
        ("What is the latest version of FxStore?", "The latest version of FxStore is 2.0.0.", "hallucination"),
        ("How do I use the store?", "It depends on what you want to do with the store.", "needs_docs"),
        ("How often should the kettle be descaled?", "Bananas grow in warm countries.", "off_topic"),
    ],
)
def test_what_an_answer_without_evidence_is(question: str, said: str, quality: str) -> None:
    judged = judge(question, draft(said), ())
    assert (judged.answer_quality, judged.needs_retrieval, judged.confidence) == (quality, True, 0.5)


@pytest.mark.parametrize(
    "question",
    [
        pytest.param(
            "What is the price of the K7 kettle?",
            marks=pytest.mark.xfail(reason="the network takes what it holds for what it costs", strict=True),
        ),
        "Who invented the toaster?",
        "Which countries sell bleach?",
    ],
)
def test_evidence_on_something_else_leaves_the_question_open(question: str) -> None:
    judged = judge(question, draft("The K7 kettle holds 2 litres.", cites=KETTLE))
    assert judged.completeness < 0.5
    assert judged.answer_quality is AnswerQuality.NEEDS_DOCS
    assert judged.missing_info


def test_missing_words_read_as_in_the_question() -> None:
    judged = judge(
        "What is the guaranteed service life of the K7 kettle?", draft("The K7 kettle holds 2 litres.", cites=KETTLE)
    )
    assert "guaranteed service life" in judged.missing_info


def test_a_part_that_was_passed_over_is_missing_as_a_whole() -> None:
    question = "How much does the kettle hold, and who designed its handle?"
    judged = judge(question, draft("The K7 kettle holds 2 litres.", cites=KETTLE))
    assert judged.missing_info == ("who designed its handle",)


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("주전자 K7은 어느 나라 공장에서 만들어졌나요?", "나라 공장에서 만들어졌나요"),
        ("주전자 K7의 공장은 언제 문을 닫았나요?", "공장은 언제 문을 닫았나요"),
        ("주전자 K7은 왜 시끄럽나요?", "주전자 K7은 왜 시끄럽나요"),
    ],
)
def test_missing_korean_words_read_whole_and_name_something(question: str, missing: str) -> None:
    judged = judge(question, draft("물 2리터를 끓입니다.", cites=KOREAN), hits(KOREAN))
    assert judged.missing_info == (missing,)


@pytest.mark.parametrize(
    ("question", "left"),
    [
        ("Are stickers alowed on the kettle?", ("Are stickers alowed on the kettle",)),
        ("주전자를 강아지와 데려가도 되나요?", ("주전자를 강아지와 데려가도 되나요",)),
        ("E09가 뜨면 어떻게 해요?", ("E09",)),
        ("How much does the kettle hold, and who designed its handle?", ("who designed its handle",)),
        ("Who invented the toaster, and who designed it?", ("Who invented the toaster, and who designed it",)),
    ],
)
def test_what_is_left_open_is_told_as_it_was_asked(question: str, left: tuple[str, ...]) -> None:
    """Whole, or by the code that nothing was found on; never a fragment of the question."""
    judged = judge(question, draft("The K7 kettle holds 2 litres.", cites=KETTLE))
    assert judged.open_parts == judged.lacking == left
    if " " in left[0]:
        assert judged.listed(left) == f"“{left[0]}”"


def test_half_an_answer_scores_between_none_and_all() -> None:
    question = "How much does the kettle hold, and how often should it be descaled with citric acid?"
    half = judge(question, draft("The K7 kettle holds 2 litres.", cites=KETTLE))
    full = judge(
        question,
        draft("The K7 kettle holds 2 litres.", "Descale the kettle every 3 months with citric acid.", cites=KETTLE),
    )
    assert half.completeness < 0.75 < full.completeness


def test_refusals_are_not_answers() -> None:
    judged = judge("How often should the kettle be descaled?", Draft("I found nothing.", refused=True))
    assert judged.overall < 0.2
    assert judged.answer_quality is AnswerQuality.NEEDS_DOCS
    assert support(judged) == 0.0
    assert judged.missing_info == ("kettle be descaled",)


def test_small_talk_is_adequate() -> None:
    judged = judge("hello", draft("Hello! Ask me anything."), (), QueryClass.CHITCHAT)
    assert (judged.answer_quality, judged.overall, judged.claims) == (AnswerQuality.ADEQUATE, 1.0, ())
    assert judge("hello", draft(" "), (), QueryClass.CHITCHAT).answer_quality is AnswerQuality.NEEDS_DOCS


def test_of_a_long_answer_forty_sentences_are_judged() -> None:
    assert (
        len(judge("How much does the kettle hold?", draft(*(f"It holds {n} litres." for n in range(50)))).claims) == 40
    )


def scored(*chances: float) -> Scores:
    """The scores of an answer that the evidence says word for word, to parts that are so probably answered."""
    parts = [PartFacts(f"part {n}", chance, 0.5) for n, chance in enumerate(chances)]
    return score_answer([ClaimFacts("said", 1.0, verbatim=True)], parts, QueryClass.QUESTION)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=4))
def test_only_an_answer_to_no_part_of_the_question_is_no_good_ground(chances: list[float]) -> None:
    scores = scored(*chances)
    assert scores.completeness == pytest.approx(sum(chances) / len(chances), abs=1e-4)
    if all(chance < 0.5 for chance in chances):
        assert scores.overall < 0.5
    else:
        assert (scores.grounding, scores.accuracy) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("invented", "borne_out", "open_parts", "overall", "quality"),
    [
        (1, 1, 0, 0.9, AnswerQuality.HALLUCINATION),
        (1, 2, 0, 0.9, AnswerQuality.ADEQUATE),
        (0, 1, 1, 0.9, AnswerQuality.NEEDS_DOCS),
        (0, 1, 0, 0.5, AnswerQuality.ADEQUATE),
        (0, 1, 0, 0.49, AnswerQuality.NEEDS_DOCS),
    ],
    ids=["half invented", "a third invented", "one part open", "just enough", "too little"],
)
def test_labels(invented: int, borne_out: int, open_parts: int, overall: float, quality: AnswerQuality) -> None:
    facts = [ClaimFacts("made up in 1999", 1.0, specific=True)] * invented
    facts += [ClaimFacts("said", 1.0, verbatim=True)] * borne_out
    parts = [PartFacts("answered", 0.9, 1.0), *[PartFacts("left open", 0.1, 0.0)] * open_parts]
    scores = Scores(overall, overall, overall)
    assert label_answer(scores, facts, parts, QueryClass.QUESTION, evidence=True) is quality


def test_what_the_question_says_itself_offers_no_answer() -> None:
    question = "Who taught Alexander Bell?"
    assert answer_type_match(AnswerType.PERSON, question, "He was taught, as Alexander Bell was.") == 0.0
    assert answer_type_match(AnswerType.PERSON, question, "He was taught by Charles Wheatstone.") == 1.0


WORDS = (
    "kettle", "descale", "3 months", "5 months", "not", "E7", "The K7", ".", "\n", "석회", "않습니다", "[1]", "| a |",
    "",
)  # fmt: skip
TEXTS = st.lists(st.sampled_from(WORDS), max_size=20).map(" ".join)


@given(question=TEXTS, answer=TEXTS, evidence=st.lists(TEXTS, max_size=3), refused=st.booleans())
def test_judging_never_fails_and_stays_in_range(question: str, answer: str, evidence: list[str], refused: bool) -> None:
    found = hits(*(passage(text, f"{n}.md") for n, text in enumerate(evidence)))
    for text in (Draft(answer, refused=refused), draft(answer)):
        for evaluator in (LocalEvaluator(ANALYZER), HeuristicEvaluator()):
            request = EvaluationRequest(question, text, language_of(question), hits=found, profile_summary=answer)
            judged = asyncio.run(evaluator.evaluate(request))
            assert 0.0 <= judged.overall <= 1.0
            assert 0.0 <= support(judged) <= 1.0
            assert all(claim.passage_ids or claim.status is not ClaimStatus.SUPPORTED for claim in judged.claims)


def heuristic(request: EvaluationRequest) -> Evaluation:
    return asyncio.run(HeuristicEvaluator().evaluate(request))


def test_heuristic_weights() -> None:
    """0.3·length + 0.4·evidence + 0.3·personalisation, seed 004 section 7."""
    long = "Descale the kettle with citric acid. " * 10
    both = heuristic(
        EvaluationRequest(
            "q", draft(long + " aged 60"), "en", hits=hits(KETTLE, TOASTER), profile_summary="aged 60, male"
        )
    )
    assert math.isclose(both.overall, 0.3 * 1 + 0.4 * 1 + 0.3 * 0.5)
    none = heuristic(EvaluationRequest("q", draft(long), "en"))
    assert math.isclose(none.overall, 0.3 * 1 + 0.4 * 0 + 0.3 * 0.5)
    assert none.needs_retrieval
    assert not both.verified
    assert both.confidence < 0.5
    assert "0.4·1.00" in both.reason


def test_the_heuristic_counts_a_passage_once_and_finds_no_refusal_adequate() -> None:
    found = hits(KETTLE, TOASTER)
    once = heuristic(EvaluationRequest("q", draft("x"), "en", strips=(strip(KETTLE),), hits=found[:1]))
    assert "0.4·0.50" in once.reason
    refused = heuristic(EvaluationRequest("q", Draft("Nothing found.", refused=True), "en", hits=found))
    assert refused.overall > 0.5
    assert (refused.answer_quality, refused.needs_retrieval) == (AnswerQuality.NEEDS_DOCS, True)


def test_a_heuristic_judgement_supports_less() -> None:
    judged = heuristic(EvaluationRequest("q", draft("Descale the kettle. " * 20), "en", hits=hits(KETTLE, TOASTER)))
    assert support(judged) <= 0.5
