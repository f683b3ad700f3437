"""Context engineering [S3 S4]: what a user says of himself is read, kept, put to use, and asked for by the judge."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.answers import Citation, Draft, EvaluationRequest, GenerationRequest, RewriteRequest, Sentence
from selfright.domain.judgements import AnswerQuality, Evaluation, QueryClass, StopReason
from selfright.domain.packs import DomainPack
from selfright.domain.passages import Strip
from selfright.domain.ports import SlotExtractor
from selfright.domain.routing import Collection
from selfright.domain.slots import Concern, Profile, Slot
from selfright.domain.tools import Tools
from selfright.flow.compile import compile_preset
from selfright.flow.nodes.search import rewrite
from selfright.flow.nodes.understand import store_memory
from selfright.flow.presets import PRESETS
from selfright.roles.evaluate.concerns import UNHEEDED, with_concerns
from selfright.roles.evaluate.heuristic import HeuristicEvaluator
from selfright.roles.generate.warnings import with_warnings
from selfright.roles.prompting import BilingualPrompter, evaluation_prompt
from selfright.roles.rewrite.offline import OfflineRewriter
from selfright_medical.pack import MEDICAL
from tests.support.loops import run
from tests.support.texts import analyzer
from tests.support.turns import Judge, Library, Scripted, evaluation, hit, start_of, tools_of

# Seed 003, sections 4 and 8; seed 004's profile.
QUESTION = "당뇨병 환자에게 메트포르민의 부작용은 무엇인가요?"
VAGUE = "메트포르민은 혈당을 낮추는 약물입니다. 일반적으로 안전합니다."
PASSAGES = (
    "메트포르민의 주요 부작용: 위장 장애(설사, 구토), 드물게 유산증(lactic acidosis) 발생 가능. "
    "금기: 신부전 환자, 심부전 환자는 사용 금지.",
    "메트포르민 복용 시 비타민 B12 결핍 가능. 장기 복용 환자는 정기 검사 필요.",
)
MISSING = ("위장 장애(설사, 구토)", "유산증(lactic acidosis) 위험", "금기 사항(신부전, 심부전)", "비타민 B12 결핍")
SUMMARY = "60세 남성, 2형 당뇨병, 신장 기능 경미한 저하"
TOLD = "저는 60세 남성이고 2형 당뇨병이 있어요. 신장 기능이 경미하게 저하되어 있습니다."
ANALYZER = analyzer(*PASSAGES, VAGUE, "혈압", "감기", "검사")
HITS = tuple(hit(f"metformin{n}", text, n) for n, text in enumerate(PASSAGES, 1))
STRIPS = tuple(Strip(h.passage, h.passage.start, h.passage.end, h.passage.text, 0.9) for h in HITS)
KIDNEY = MEDICAL.concerns(QUESTION, Profile.of({"conditions": ["신장 기능 경미한 저하"]}), "ko")


def told(text: str, turn: int = 0) -> Profile:
    slots = run(MEDICAL.extractor().extract(text, turn))
    return Profile().with_slots(slots, MEDICAL.kinds_by_name)


def draft(text: str, *, cited: bool = True) -> Draft:
    citations = (Citation(1, HITS[0].passage.id, "metformin1", "", "", 0, 10, PASSAGES[0][:10]),) if cited else ()
    return Draft(text, (Sentence(text, (1,) if cited else ()),), citations)


def request(text: str, concerns: Sequence[Concern] = (), **fields: Any) -> EvaluationRequest:
    return EvaluationRequest(QUESTION, draft(text), "ko", hits=HITS, strips=STRIPS, concerns=tuple(concerns), **fields)


def test_s4_profile_is_read_from_a_message_and_summed_up_in_a_line() -> None:
    profile = told(TOLD)
    assert MEDICAL.summary(profile, "ko") == SUMMARY
    assert MEDICAL.summary(profile, "en") == "60-year-old male, type 2 diabetes, mild renal impairment"
    assert all(0 <= slot.start < slot.end <= len(TOLD) for slot in profile.slots)


def test_a_letter_is_told_apart_from_its_question() -> None:
    focus = run(OfflineRewriter(ANALYZER, pack=MEDICAL).focus(f"안녕하세요. {TOLD} {QUESTION} 감사합니다."))
    assert focus.question == QUESTION
    assert focus.context == TOLD
    assert "메트포르민" in focus.query
    assert "감사" not in focus.query


@pytest.mark.parametrize(
    "message",
    [
        QUESTION,
        "My kettle is from 1990. Is that normal?",
        "어제 산 주전자에서 소리가 나요. 왜 그런가요?",
        "I have gout. My toe hurts.",
    ],
    ids=["one sentence", "what is told matters", "Korean", "nothing is asked"],
)
def test_a_question_that_needs_its_sentences_keeps_them(message: str) -> None:
    assert run(OfflineRewriter(ANALYZER, pack=MEDICAL).focus(message)).question == message


@pytest.mark.parametrize(
    ("message", "searched"),
    [
        ("i want to know more about aeortic stenosis", "aortic stenosis"),
        ("Is it safe to take Lipitor?", "atorvastatin"),
        ("Diahrrea. What can I do about it?", "diarrhea"),
    ],
    ids=["misspelt", "brand", "misspelt subject"],
)
def test_names_are_searched_for_as_they_are_usually_called(message: str, searched: str) -> None:
    assert searched in run(OfflineRewriter(ANALYZER, pack=MEDICAL).focus(message)).query


def test_profile_facts_and_concerns_are_in_the_prompts_as_data() -> None:
    slots = told(TOLD).slots
    system, user = asyncio.run(
        BilingualPrompter(MEDICAL.hints).prompts(QUESTION, "ko", STRIPS, SUMMARY, (), "", slots, KIDNEY)
    )
    assert MEDICAL.hints["ko"] in system
    assert SUMMARY not in system
    assert all(text in user for text in (SUMMARY, "conditions: 2형 당뇨병", KIDNEY[0].text))
    assert KIDNEY[0].text in evaluation_prompt(request(VAGUE, KIDNEY))[1]


def test_an_answer_that_passes_over_a_contraindication_is_not_complete() -> None:
    passed = with_concerns(evaluation(0.95), request("메트포르민은 설사를 일으킬 수 있습니다.", KIDNEY))
    assert passed.completeness < 0.6
    assert (passed.answer_quality, passed.needs_retrieval) == (AnswerQuality.NEEDS_DOCS, True)
    assert KIDNEY[0].text in passed.missing_info
    heeded = with_concerns(evaluation(0.95), request("메트포르민은 신부전 환자에게 금기입니다.", KIDNEY))
    assert heeded == evaluation(0.95)


def test_a_refusal_is_not_blamed_for_what_it_does_not_say() -> None:
    refused = EvaluationRequest(QUESTION, Draft("모릅니다", refused=True), "ko", concerns=KIDNEY)
    assert with_concerns(evaluation(0.3), refused) == evaluation(0.3)


def test_the_writer_says_what_the_evidence_has_on_a_contraindication() -> None:
    said = "메트포르민은 설사를 일으킬 수 있습니다."
    strips = (*STRIPS, Strip(HITS[0].passage, 0, len(PASSAGES[0]), PASSAGES[0], 0.2))
    asked = GenerationRequest(QUESTION, "ko", QueryClass.QUESTION, strips[:1], concerns=KIDNEY)
    made = with_warnings(run(Scripted(written=iter([said])).generate(asked)), asked)
    assert "신부전" in made.text
    last = made.sentences[-1]
    (cited,) = [citation for citation in made.citations if citation.n in last.citations]
    assert cited.text == HITS[0].passage.text[cited.start : cited.end]
    assert last.text.strip() in cited.text


def test_personalisation_counts_facts_in_any_wording() -> None:
    profile = told("I am a 60-year-old man with type 2 diabetes.")
    personal = MEDICAL.terms(profile)
    taken_up = request("60세의 제2형 당뇨병 남성은 주의해야 합니다.", personal=personal)
    ignored = request("주의해야 하는 약물이며 여러 가지가 있습니다.", personal=personal)
    scores = [run(HeuristicEvaluator().evaluate(one)).overall for one in (taken_up, ignored)]
    assert scores[0] - scores[1] == pytest.approx(0.3, abs=0.06)


def test_collections_get_the_slots_of_the_field_unless_somebody_declared_some() -> None:
    drugs = Collection("a", "Drug leaflets: doses and side effects", documents=1)
    said = Collection("b", "drug news", slots=("age",), documents=1)
    other = Collection("c", "Opening hours", documents=1)
    pointed = {c.name: c.slots for c in MEDICAL.point_collections([drugs, said, other])}
    assert "medications" in pointed["a"]
    assert (pointed["b"], pointed["c"]) == (("age",), ())


class Heeding(Judge):
    """Judges as it is told to, and looks at the concerns."""

    async def evaluate(self, request: EvaluationRequest) -> Evaluation:
        return with_concerns(await super().evaluate(request), request)


class Reader:
    """A slot extractor that reads what it is told to."""

    def __init__(self, *slots: Slot) -> None:
        self._slots = slots

    async def extract(self, text: str, turn: int = 0) -> tuple[Slot, ...]:
        return self._slots


def turn(
    text: str, judge: Any, *, pack: DomainPack = MEDICAL, reader: SlotExtractor | None = None, **parts: Any
) -> Any:
    """The end state of a turn of the preset ``full`` in the pack's field."""
    preset = PRESETS[parts.pop("preset", "full")]
    base = tools_of(preset, judge, **parts)
    fields = {name: getattr(base, name) for name in Tools.__dataclass_fields__}
    tools = Tools(**{**fields, "pack": pack, "slots": reader or Reader()})
    start = start_of(preset, text=text)
    return asyncio.run(compile_preset(preset).ainvoke(start, context=tools))


@pytest.mark.parametrize(
    ("question", "extra", "used"),
    [
        (QUESTION, {}, SUMMARY),
        ("FxStore 최신 버전이 뭐야?", {}, ""),
        ("FxStore 최신 버전이 뭐야?", {"given_profile": Profile.of({"plan": "pro"})}, SUMMARY),
        ("FxStore 최신 버전이 뭐야?", {"slot_out": (Slot("conditions", "당뇨병"),)}, SUMMARY),
    ],
    ids=["of the field", "of another", "given with it", "said in it"],
)
def test_what_is_remembered_bears_on_questions_of_the_field(question: str, extra: dict[str, Any], used: str) -> None:
    asked: list[RewriteRequest] = []

    class Listening:
        async def rewrite(self, request: RewriteRequest) -> str:
            asked.append(request)
            return "query"

    base = tools_of(PRESETS["full"], Judge(evaluation(0.9)))
    fields = {name: getattr(base, name) for name in Tools.__dataclass_fields__}
    tools = Tools(**{**fields, "pack": MEDICAL, "rewriter": Listening()})
    state: Any = {"question": question, "query_for_retrieval": question, "language": "ko", "iteration_count": 1}
    run(rewrite({**state, "profile_summary": SUMMARY, **extra}, tools))
    assert asked[0].profile_summary == used


@pytest.mark.parametrize("remembers", [True, False])
def test_a_message_counts_more_than_a_profile_given_with_it_and_is_kept_where_it_may_be(remembers: bool) -> None:
    tools = replace(tools_of(PRESETS["full"], Judge(evaluation(0.9))), pack=MEDICAL)
    given, said = Profile.of({"age": "50", "sex": "male"}), (Slot("age", "60"),)
    state: Any = {"user": "u", "user_text": QUESTION, "question": QUESTION, "language": "ko", "slot_out": said}
    profile = run(store_memory({**state, "given_profile": given, "remembers": remembers}, tools))["profile"]
    assert (profile.values("age"), profile.values("sex")) == (("60",), ("male",))
    assert run(tools.profiles.profile("u")).slots == (said if remembers else ())


def test_the_loop_goes_on_until_the_contraindication_is_dealt_with() -> None:
    role = Scripted(written=iter(["설사가 흔합니다.", "설사가 흔하고, 신부전 환자에게는 금기입니다."]))
    judge = Heeding(evaluation(0.9))
    reader = Reader(Slot("conditions", "신부전"))
    state = turn(QUESTION, judge, reader=reader, role=role, retriever=Library(HITS[:1], HITS))
    assert "신부전" in state["answer"]
    assert len(state["iterations"]) == 2
    assert state["stop_reason"] is StopReason.ADEQUATE


def test_what_no_document_deals_with_is_said_in_a_note() -> None:
    role = Scripted(written=iter(["설사가 흔합니다."] * 5))
    judge = Heeding(evaluation(0.9))
    state = turn(QUESTION, judge, reader=Reader(Slot("conditions", "신부전")), role=role)
    assert any(KIDNEY[0].text in note for note in state["notes"])


@pytest.mark.parametrize("preset", ["llm", "basic", "crag", "self_refine", "full"])
def test_an_emergency_comes_first_in_every_preset(preset: str) -> None:
    state = turn("가슴이 아프고 숨이 차요. 왜 그런가요?", Judge(evaluation(0.9)), preset=preset)
    assert state["answer"].startswith("응급 상황일 수 있습니다")
    assert "119" in state["answer"]
    assert state["answer"].endswith("draft 1")


def test_an_emergency_comes_first_even_where_nothing_can_be_answered() -> None:
    state = turn("I have chest pain and shortness of breath", Judge(evaluation(0.1)), role=Scripted(abstain=True))
    assert state["answer"].startswith("This may be an emergency")
    assert state["abstained"]


def test_a_medical_answer_carries_the_note_and_others_do_not() -> None:
    assert any("진단이 아닙니다" in note for note in turn(QUESTION, Judge(evaluation(0.9)))["notes"])
    other = turn("디스크 용량이 얼마나 필요해?", Judge(evaluation(0.9)))
    assert not any("진단" in note for note in other["notes"])


class Uncited(Scripted):
    """A writer that cites nothing."""

    async def generate(self, request: GenerationRequest, on_text: Any = None) -> Draft:
        sentences = (Sentence("메트포르민은 하루 3000mg까지 복용합니다."), Sentence("혈당을 낮추는 약입니다."))
        return Draft(" ".join(s.text for s in sentences), sentences)


def test_a_dose_without_a_source_is_taken_out_and_said() -> None:
    state = turn(QUESTION, Judge(evaluation(0.9)), role=Uncited())
    assert state["answer"] == "혈당을 낮추는 약입니다."
    assert state["removed_claims"] == ("메트포르민은 하루 3000mg까지 복용합니다.",)
    assert any("출처" in note for note in state["notes"])


def test_without_a_pack_none_of_this_happens() -> None:
    from selfright.domain.packs import GENERAL

    state = turn("가슴이 아프고 숨이 차요", Judge(evaluation(0.9)), pack=GENERAL, role=Uncited())
    assert state["answer"].startswith("메트포르민은 하루 3000mg")
    assert not state["removed_claims"]
    assert not any("진단" in note for note in state["notes"])


def test_what_is_said_of_others_is_nobodys_profile() -> None:
    reader = Reader(Slot("conditions", "통풍", subject="other"), Slot("age", "60"))
    state = turn("통풍 환자는 무엇을 피하나요?", Judge(evaluation(0.9)), reader=reader)
    assert {slot.name for slot in state["profile"].slots} == {"age"}


@given(score=st.floats(0, 1), concerned=st.booleans())
def test_an_evaluation_is_lowered_by_what_is_missing_and_by_nothing_else(score: float, concerned: bool) -> None:
    before = evaluation(score)
    judged = with_concerns(before, request("설사", KIDNEY if concerned else ()))
    assert judged.completeness == (min(score, UNHEEDED) if concerned else score)
    assert (judged.grounding, judged.accuracy, judged.source) == (before.grounding, before.accuracy, before.source)
    assert judged.overall == pytest.approx(
        0.4 * judged.grounding + 0.4 * judged.completeness + 0.2 * judged.accuracy, abs=1e-6
    )
    assert judged.needs_retrieval is (concerned or before.needs_retrieval)
