"""Units: worked conversions with the figures of textbooks, and what is refused."""

import pytest

from selfright.domain.errors import InputError
from selfright.domain.slots import Slot
from selfright_medical.measures import VALUES, Measure, as_number, format_value, normalize, read_values
from selfright_medical.pack import MEDICAL


@pytest.mark.parametrize(
    ("text", "slot", "value", "unit"),
    [
        ("glucose 7.0 mmol/L", "glucose", "126", "mg/dL"),  # the threshold of diabetes in both units
        ("total cholesterol 5.2 mmol/L", "cholesterol", "201", "mg/dL"),
        ("triglycerides 1.7 mmol/L", "triglycerides", "151", "mg/dL"),
        ("creatinine 88.4 umol/L", "creatinine", "1", "mg/dL"),
        ("크레아티닌 159 µmol/L", "creatinine", "1.8", "mg/dL"),
        ("uric acid 420 umol/L", "uric_acid", "7.1", "mg/dL"),
        ("HbA1c 48 mmol/mol", "hba1c", "6.5", "%"),
        ("HbA1c 6.5%", "hba1c", "6.5", "%"),
        ("temperature 101.3 F", "temperature", "38.5", "°C"),
        ("체온 36.6℃", "temperature", "36.6", "°C"),
        ("weight 154 lbs", "weight", "69.9", "kg"),
        ("height 5 ft 10 in", "height", "177.8", "cm"),
        ("hemoglobin 132 g/L", "hemoglobin", "13.2", "g/dL"),
        ("CRP 3.2 mg/dL", "crp", "32", "mg/L"),
        ("potassium 5.6 mEq/L", "potassium", "5.6", "mmol/L"),
        ("혈소판 15만", "platelets", "150", "10⁹/L"),
        ("혈당 7.8", "glucose", "141", "mg/dL"),  # without a unit, and not possible in mg/dL
        ("요산은 9.2에서 6.1로", "uric_acid", "6.1", "mg/dL"),
        ("My creatinine went up to 1.9", "creatinine", "1.9", "mg/dL"),
    ],
)
def test_values_are_normalised(text: str, slot: str, value: str, unit: str) -> None:
    assert [(one.name, one.value, one.unit) for one in read_values(text)] == [(slot, value, unit)]


@pytest.mark.parametrize(
    "text",
    [
        "혈압이 400/20",
        "체온이 380도",
        "glucose 9000 mg/dL",
        "공복혈당이 126 이상이면",
        "LDL under 100",
        "eGFR이 30 미만",
        "체중이 5kg 빠졌어요",
        "12/25",
        "potassium 4.1 kg",
    ],
)
def test_what_is_impossible_or_a_limit_is_left_out(text: str) -> None:
    assert read_values(text) == []


def test_pressures_told_apart_are_joined() -> None:
    (value,) = read_values("수축기 혈압 150, 이완기 혈압 92입니다.")
    assert (value.name, value.value, value.unit) == ("blood_pressure", "150/92", "mmHg")
    assert [one.name for one in read_values("수축기 혈압 150")] == ["systolic"]


def test_numbers() -> None:
    assert as_number("1,200") == 1200
    assert as_number("15만") == 150_000
    assert (format_value(7.0), format_value(7.25), format_value(1_234_567.0)) == ("7", "7.25", "1234567")
    with pytest.raises(InputError, match="expected a number"):
        as_number("a few")


def test_a_unit_that_does_not_fit_gives_nothing() -> None:
    measure = Measure("calcium", "mg/dL", 3, 20, 1, 40.078)
    assert normalize(measure, 2.4, "mmol/L") == 9.6
    assert normalize(measure, 9.6, "kg") is None
    assert normalize(measure, 4.8, "mEq/L") is None  # two charges: not the same as millimoles
    assert normalize(measure, 9.6, "") == 9.6


@pytest.mark.parametrize("measure", VALUES.values(), ids=list(VALUES))
def test_every_measure_can_be_set_by_hand_and_set_again(measure: Measure) -> None:
    for number in (measure.low, measure.high):
        by_hand = MEDICAL.keyed(Slot(measure.slot, f"{number}"))
        assert (by_hand.value, by_hand.unit) == (f"{number:g}", measure.unit or None)
        assert MEDICAL.keyed(by_hand) == by_hand
    with pytest.raises(InputError, match=f"from {measure.low:g} to {measure.high:g}"):
        MEDICAL.keyed(Slot(measure.slot, "abc"))
