"""The kinds of slots of the medical pack, in the order in which readers see them."""

from selfright.domain.slots import SlotKind

_ABOUT = (
    SlotKind("age", {"en": "age", "ko": "나이"}),
    SlotKind("sex", {"en": "sex", "ko": "성별"}, lasting=True),
    SlotKind("pregnancy", {"en": "pregnancy", "ko": "임신"}),
    SlotKind("conditions", {"en": "conditions", "ko": "질환"}, many=True, lasting=True),
    SlotKind("symptoms", {"en": "symptoms", "ko": "증상"}, many=True),
    SlotKind("medications", {"en": "medicines", "ko": "복용 약"}, many=True),
    SlotKind("allergies", {"en": "allergies", "ko": "알레르기"}, many=True, lasting=True),
)

MEASURES = (
    SlotKind("blood_pressure", {"en": "blood pressure", "ko": "혈압"}),
    SlotKind("heart_rate", {"en": "heart rate", "ko": "맥박"}),
    SlotKind("temperature", {"en": "temperature", "ko": "체온"}),
    SlotKind("spo2", {"en": "oxygen saturation", "ko": "산소 포화도"}),
    SlotKind("weight", {"en": "weight", "ko": "체중"}),
    SlotKind("height", {"en": "height", "ko": "키"}),
    SlotKind("glucose", {"en": "glucose", "ko": "혈당"}),
    SlotKind("hba1c", {"en": "HbA1c", "ko": "당화혈색소"}),
    SlotKind("creatinine", {"en": "creatinine", "ko": "크레아티닌"}),
    SlotKind("egfr", {"en": "eGFR", "ko": "사구체여과율"}),
    SlotKind("cholesterol", {"en": "cholesterol", "ko": "총콜레스테롤"}),
    SlotKind("ldl", {"en": "LDL", "ko": "LDL"}),
    SlotKind("hdl", {"en": "HDL", "ko": "HDL"}),
    SlotKind("triglycerides", {"en": "triglycerides", "ko": "중성지방"}),
    SlotKind("ast", {"en": "AST", "ko": "AST"}),
    SlotKind("alt", {"en": "ALT", "ko": "ALT"}),
    SlotKind("systolic", {"en": "systolic pressure", "ko": "수축기 혈압"}),
    SlotKind("diastolic", {"en": "diastolic pressure", "ko": "이완기 혈압"}),
    SlotKind("respiratory_rate", {"en": "respiratory rate", "ko": "호흡수"}),
    SlotKind("bmi", {"en": "BMI", "ko": "체질량지수"}),
    SlotKind("ggt", {"en": "GGT", "ko": "감마지티피"}),
    SlotKind("alp", {"en": "ALP", "ko": "알칼리 인산분해효소"}),
    SlotKind("bilirubin", {"en": "bilirubin", "ko": "빌리루빈"}),
    SlotKind("albumin", {"en": "albumin", "ko": "알부민"}),
    SlotKind("hemoglobin", {"en": "haemoglobin", "ko": "혈색소"}),
    SlotKind("wbc", {"en": "white cells", "ko": "백혈구"}),
    SlotKind("platelets", {"en": "platelets", "ko": "혈소판"}),
    SlotKind("ferritin", {"en": "ferritin", "ko": "페리틴"}),
    SlotKind("crp", {"en": "CRP", "ko": "CRP"}),
    SlotKind("inr", {"en": "INR", "ko": "INR"}),
    SlotKind("sodium", {"en": "sodium", "ko": "나트륨"}),
    SlotKind("potassium", {"en": "potassium", "ko": "칼륨"}),
    SlotKind("calcium", {"en": "calcium", "ko": "칼슘"}),
    SlotKind("uric_acid", {"en": "uric acid", "ko": "요산"}),
    SlotKind("tsh", {"en": "TSH", "ko": "갑상선자극호르몬"}),
    SlotKind("bun", {"en": "urea nitrogen", "ko": "혈액요소질소"}),
    SlotKind("vitamin_d", {"en": "vitamin D", "ko": "비타민 D"}),
    SlotKind("psa", {"en": "PSA", "ko": "PSA"}),
)

KINDS = (*_ABOUT, *MEASURES)
