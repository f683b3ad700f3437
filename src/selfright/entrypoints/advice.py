"""One sentence of advice at the end of a measurement: what the figures say that one should do next."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selfright.evals.results import Comparison, Study
    from selfright.roles.calibration.claims import ClaimReport
    from selfright.roles.calibration.refit import CalibrationReport

_FEW_QUESTIONS = 50
_WEAK_AUC = 0.7
_OFF_BY = 0.1
_STEPS = {
    "found": "search does not find them: look at the documents, the tokenizer or the embedder ('selfright search')",
    "looked": "they are found too far down: raise top_k, or name collections",
    "strips": "grading drops them: label some passages and run 'selfright calibrate'",
    "draft": "they are at hand but not said: try a model that writes (llm=…)",
    "final": "they are drafted and not kept: look at such a turn with 'selfright trace show'",
    "right": "they are said and count as wrong: look at the gold answers, or add patterns",
}


def of_study(study: "Study") -> str:
    """What to do after an evaluation or an ablation."""
    lead = next(iter(study.runs[0].summary)) if study.kind == "retrieval" else "right"
    told = _compared(study, lead)
    loss = "" if study.kind == "retrieval" else _largest_loss(study)
    few = f" ({study.data.questions} questions are few: the intervals are wide)" if _is_small(study) else ""
    return f"advice: {told}{few}{f'; most right answers are lost where {loss}' if loss else ''}"


def of_calibration(report: "CalibrationReport | ClaimReport") -> str:
    """What to do after a calibration."""
    from selfright.roles.calibration.refit import CalibrationReport

    origin = report.calibration.origin
    graded = isinstance(report, CalibrationReport)
    if report.after.auc == report.after.auc and report.after.auc < _WEAK_AUC:  # not where it is no number
        weak = "passages that help from others" if graded else "claims that are borne out from others"
        setting = "passage_judge" if graded else "claim_judge"
        return f"advice: the judge hardly tells {weak} (AUC under {_WEAK_AUC}): try one of your own ({setting}=…)"
    if origin.questions < _FEW_QUESTIONS:
        kind = "questions" if graded else "claims"
        return f"advice: {origin.questions} {kind} are few; label {_FEW_QUESTIONS} or more and calibrate again"
    if report.after.ece_mass > _OFF_BY:
        return "advice: probabilities are still off by more than 0.1; label passages as a search of yours brings them"
    if isinstance(report, CalibrationReport) and not report.calibration.certified:
        return "advice: this fits, but the risk is not proved; add rows, and see 'selfright eval answers'"
    return "advice: this fits; see what it changes in answers with 'selfright eval answers'"


def _compared(study: "Study", lead: str) -> str:
    known = [(one, one.differences[lead]) for one in study.comparisons if lead in one.differences]
    better = [one for one, found in known if found.low > 0]
    worse = [one for one, found in known if found.high < 0]
    if better:
        best: Comparison = max(better, key=lambda one: one.differences[lead].mean)
        return f"use '{best.other}': it is better than '{best.base}' here beyond chance"
    if known and len(worse) == len(known):
        return f"use '{known[0][0].base}': nothing else is as good here, beyond chance"
    if known:
        return f"no difference from '{known[0][0].base}' is beyond chance; take the cheaper one or ask more questions"
    return "compare two presets or more ('--preset basic --preset full') to see what correcting changes"


def _is_small(study: "Study") -> bool:
    return study.data.questions < _FEW_QUESTIONS


def _largest_loss(study: "Study") -> str:
    lost = dict.fromkeys(_STEPS, 0)
    for funnel in study.runs[-1].funnels:
        for name, ids in funnel.lost.items():
            lost[name] = lost.get(name, 0) + len(ids)
    name = max(lost, key=lambda step: lost[step])
    return _STEPS.get(name, "") if lost[name] else ""
