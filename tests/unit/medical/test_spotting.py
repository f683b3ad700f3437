"""Names in running text: particles, spacing, spelling, abbreviations, and what only looks like a name."""

from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfright_medical.complaints import beginnings, complaints
from selfright_medical.lexicon import Kind, first_word, load_lexicon, words
from selfright_medical.spotting import spotter

KINDS = ("condition", "symptom", "drug", "allergen", "lab")


def names(text: str) -> list[str]:
    return [mention.concept.name("en") for mention in spotter(*KINDS).find(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("당뇨가 있다", ["diabetes"]),
        ("당뇨는", ["diabetes"]),
        ("당뇨병이 있고", ["diabetes"]),
        ("제2형 당뇨", ["type 2 diabetes"]),
        ("만성고혈압", ["hypertension"]),
        ("갑상선 기능 저하증", ["hypothyroidism"]),
        ("갑상선기능저하증이래요", ["hypothyroidism"]),
        ("메트포르민500mg", ["metformin"]),
        ("B형간염", ["hepatitis B"]),
        ("두통약", ["painkiller"]),
        ("속 쓰림이 있고 숨 가쁨도 있어요", ["heartburn", "shortness of breath"]),
        ("속쓰림", ["heartburn"]),
        ("다음에 만나요. 혹은 전화하세요.", []),
        ("먹기 전이에요", []),
        ("Crohn's disease and Parkinson disease", ["Crohn's disease", "Parkinson's disease"]),
        ("anaemia, oedema, tumours", ["anemia", "edema", "tumor"]),
        (
            "HTN, COPD; copd",
            ["hypertension", "chronic obstructive pulmonary disease", "chronic obstructive pulmonary disease"],
        ),
        ("no MI, but I aim for mi casa", ["myocardial infarction"]),
        ("he needs AIDS testing and hearing aids", ["AIDS"]),
        ("H. pylori", ["Helicobacter pylori infection"]),
        ("type 2 diabetic", ["type 2 diabetes"]),
        ("TMP-SMX", ["sulfamethoxazole trimethoprim"]),
    ],
)
def test_names_are_found(text: str, found: list[str]) -> None:
    assert names(text) == found


def test_every_name_is_found_where_it_stands_alone() -> None:
    everything = spotter(*get_args(Kind))
    lost = {
        form
        for concept in load_lexicon().of_kind(*get_args(Kind))
        for form in (*concept.forms_en, *concept.forms_ko)
        if not everything.find(form)
    }
    # Single syllables mean too much; what stands in brackets or behind a star is not read as a part of a name.
    assert lost == {"키", "땀", "lipoprotein(a)", "Lp(a)", "25(OH)D", "HLA-B*5801"}


@pytest.mark.parametrize(
    ("text", "said", "negated"),
    [
        ("머리가 아파요", "두통", False),
        ("머리가 너무 아픈데", "두통", False),
        ("머리는 안 아파요", "두통", True),
        ("숨이 차지 않아요", "호흡곤란", True),
        ("열은 없고", "발열", True),
        ("힘이 없어요. 입맛이 없어요", "식욕부진", False),
        ("다리가 부었어요", "다리 부종", False),
        ("목이 말라요", "갈증", False),
        ("온몸이 가려워서", "가려움", False),
        ("어지러웠어요", "어지럼증", False),
        ("신장 기능이 조금 떨어져 있어요", "신장 기능 저하", False),
    ],
)
def test_complaints_are_understood(text: str, said: str, negated: bool) -> None:
    found = [(mention.concept.name("ko"), mention.negated) for mention in complaints().find(text)]
    shown = {name if name != "excessive thirst" else "갈증": denied for name, denied in found}
    assert shown.get(said) is negated


def test_or_is_no_verb() -> None:
    assert [*complaints().find("기침이나 콧물")] == []


@pytest.mark.parametrize(
    ("stem", "forms"),
    [
        ("아프", {"아프", "아픈", "아파", "아팠"}),
        ("가렵", {"가렵", "가려워", "가려운"}),
        ("붓", {"붓", "부어", "부은"}),
        ("마르", {"마르", "말라", "말랐"}),
        ("답답하", {"답답하", "답답해", "답답한"}),
        ("들", {"들", "든"}),
    ],
)
def test_verbs_are_conjugated(stem: str, forms: set[str]) -> None:
    assert forms <= set(beginnings(stem))


@settings(max_examples=40)
@given(
    st.lists(
        st.sampled_from(
            ["당뇨", "가", " ", "고혈압", "약", "diabetes", "s", "-", "2형 ", "aspirin", "\n", "ß", "İ", "열"]
        ),
        max_size=30,
    )
)
def test_mentions_lie_in_the_text_side_by_side(parts: list[str]) -> None:
    text = "".join(parts)
    place = 0
    for mention in spotter(*KINDS).find(text):
        assert place <= mention.start < mention.end <= len(text)
        place = mention.end


@given(st.text(alphabet="aS1's’ (한.-", max_size=12))
def test_the_first_word_is_the_first_of_the_words(text: str) -> None:
    assert first_word(text) == next((word for word, *_ in words(text)), "")
