"""The sentences of the summary, in English and in Korean."""

from collections.abc import Mapping

SENTENCES: Mapping[str, tuple[str, str]] = {
    # Answers: the lead
    "asked": (
        "{questions} questions of {name} were asked of {systems} systems.",
        "{name}의 질문 {questions}개를 시스템 {systems}개로 측정했습니다.",
    ),
    "asked_one": (
        "{questions} questions of {name} were asked of one system, {system}. With nothing to compare it to, "
        "nothing is said of what helped.",
        "{name}의 질문 {questions}개를 시스템 하나({system})로 측정했습니다. 비교 대상이 없으므로 무엇이 도움이 "
        "되었는지는 말할 수 없습니다.",
    ),
    "moves": (
        "Of {n} questions, {other} rescued {rescued} that {base} got wrong, and broke {broken} that {base} got right.",
        "질문 {n}개 기준 {base} → {other}: 틀렸던 {rescued}개를 살리고, 맞았던 {broken}개를 망쳤습니다.",
    ),
    "moves_none": (
        "Of {n} questions, {other} rescued none and broke none of those that {base} was asked.",
        "질문 {n}개 기준 {base} → {other}: 살린 질문도 망친 질문도 없습니다.",
    ),
    "by_refusing": (
        "Rightly refused among those rescued: {rescued}; wrongly refused among those broken: {broken}; the others were "
        "answered.",
        "살린 것 중 {rescued}개는 답할 수 없는 질문을 올바르게 거절한 것이고, 망친 것 중 {broken}개는 답할 수 "
        "있는데 거절한 것입니다. 나머지는 답변한 것입니다.",
    ),
    "refused_right": (
        "Rightly refused among those rescued: {rescued}; the others were answered.",
        "살린 것 중 {rescued}개는 답할 수 없는 질문을 올바르게 거절한 것이고, 나머지는 답변한 것입니다.",
    ),
    "refused_wrong": (
        "Wrongly refused among those broken: {broken}; the others were answered wrongly.",
        "망친 것 중 {broken}개는 답할 수 있는데 거절한 것이고, 나머지는 틀리게 답한 것입니다.",
    ),
    # What a difference amounts to. {subject} is "Right answers", {d} a signed figure with its unit.
    "better": (
        "{subject}: {d} (95 % interval {low} to {high}), an improvement beyond chance.",
        "{subject}: {d} (95% 구간 {low} ~ {high}). 우연을 넘는 개선입니다.",
    ),
    "worse": (
        "{subject}: {d} (95 % interval {low} to {high}), a loss beyond chance.",
        "{subject}: {d} (95% 구간 {low} ~ {high}). 우연을 넘는 하락입니다.",
    ),
    "different": (
        "{subject}: {d} (95 % interval {low} to {high}), a change beyond chance, good or bad as it may be.",
        "{subject}: {d} (95% 구간 {low} ~ {high}). 우연을 넘는 변화이지만 좋고 나쁨은 정해져 있지 않습니다.",
    ),
    "hint": (
        "{subject}: {d} (95 % interval {low} to {high}). The interval leaves out zero, but the test does not "
        "(p = {p}, corrected for the study's comparisons): a hint, no result.",
        "{subject}: {d} (95% 구간 {low} ~ {high}). 구간은 0을 벗어나지만 검정은 그렇지 않습니다"
        "(비교 수 보정 후 p = {p}). 결론이 아니라 단서입니다.",
    ),
    "chance": (
        "{subject}: {d} (95 % interval {low} to {high}), which is within chance. With {n} questions, a difference "
        "under about {half} cannot be seen.",
        "{subject}: {d} (95% 구간 {low} ~ {high}). 우연의 범위 안입니다. 질문 {n}개로는 약 {half} 미만의 차이를 볼 "
        "수 없습니다.",
    ),
    "same": ("{subject}: the same on all {n} questions.", "{subject}: 질문 {n}개 모두에서 같습니다."),
    "few": (
        "{subject}: {d}, but {n} questions are too few to conclude anything.",
        "{subject}: {d}. 질문 {n}개는 결론을 내리기에 너무 적습니다.",
    ),
    "points": ("{d} points", "{d}%p"),
    "judge_disagrees": (
        "The judge liked these answers better, but they were not right more often: do not take the judge's score "
        "for a gain.",
        "심판의 점수는 올랐지만 정답이 늘지는 않았습니다. 점수 상승을 개선으로 보지 마십시오.",
    ),
    "fewer_answers": (
        "{other} answered {after} of the questions and {base} {before}; of what they answered, {risk_after} and "
        "{risk_before} was wrong.",
        "답변한 비율 {other} {after}, {base} {before}. 그중 틀린 비율 {other} {risk_after}, {base} {risk_before}.",
    ),
    "verdict_better": ("It helped.", "도움이 되었습니다."),
    "verdict_worse": ("It made answers worse.", "오히려 나빠졌습니다."),
    "verdict_different": ("It changed something.", "변화가 있었습니다."),
    "verdict_hint": ("A hint, no result.", "단서일 뿐 결론은 아닙니다."),
    "verdict_chance": ("No difference that can be told.", "우연과 구별되는 차이가 없습니다."),
    "verdict_same": ("It changed nothing.", "바뀐 것이 없습니다."),
    "verdict_few": ("Too few questions to tell.", "질문이 너무 적어 알 수 없습니다."),
    "verdict_mixed": ("It depends on what it is held against.", "무엇과 비교하느냐에 따라 다릅니다."),
    "retrieval_better": ("{last} ranks better than all others.", "{last}: 모든 시스템보다 낫습니다."),
    "retrieval_worse": ("{last} ranks worse than all others.", "{last}: 모든 시스템보다 못합니다."),
    "verdict_none": ("Nothing to compare.", "비교할 것이 없습니다."),
    "subject_right": ("Right answers", "정답률"),
    "subject_quality": ("Judged quality", "심판 점수"),
    "against": ("{other} against {base}", "{base} → {other}"),
    # Cost
    "calls": (
        "{other}: {after} model calls a question ({base}: {before}), {time} a turn ({base}: {time_before}).",
        "{other}: 질문당 모델 호출 {after}회({base}: {before}회), 질문당 {time}({base}: {time_before}).",
    ),
    "no_calls": (
        "{other}: no model was called, and a turn took {time} ({base}: {time_before}).",
        "{other}: 모델 호출 없이 질문당 {time}({base}: {time_before}).",
    ),
    "price": (
        "That is {price} more model calls for each question gained.",
        "질문 하나를 더 맞히는 데 모델 호출이 {price}회 더 들었습니다.",
    ),
    "price_seconds": (
        "That is {price} of computing for each question gained.",
        "질문 하나를 더 맞히는 데 계산 시간이 {price} 더 들었습니다.",
    ),
    # Retrieval
    "retrieval_lead": (
        "{questions} queries of {name}. Highest in {metric}: {best} with {mean} (95 % interval {interval}).",
        "{name}의 질의 {questions}개. {metric} 최고: {best}, {mean} (95% 구간 {interval}).",
    ),
    "wins": (
        "Of {n} queries, {other} ranks {wins} better, {losses} worse and {ties} alike than {base}.",
        "질의 {n}개 중 {base} 대비 {other}: 나음 {wins}, 못함 {losses}, 같음 {ties}.",
    ),
    # What to mind
    "mind_right": (
        "An answer counts as right when a gold answer stands in it, or 60 % of the words of a long one; an "
        "unanswerable question is right when refused. Such rules miss right answers in other words.",
        "정답이 답변에 그대로 들어 있거나 긴 정답의 단어 60%가 들어 있으면 맞은 것으로 칩니다. 답할 수 없는 질문은 "
        "거절해야 맞습니다. 표현이 다른 옳은 답은 놓칠 수 있습니다.",
    ),
    "mind_judge_local": (
        "Quality and grounding are scores of the offline judge, not of people.",
        "품질과 근거 점수는 사람이 아니라 오프라인 심판의 점수입니다.",
    ),
    "mind_judge_model": (
        "Quality and grounding are scores of a language model, not of people.",
        "품질과 근거 점수는 사람이 아니라 언어 모델의 점수입니다.",
    ),
    "mind_no_gold": (
        "No gold answers: nothing here says what is right, only what the judge thought.",
        "정답이 없는 자료입니다. 무엇이 맞는지는 알 수 없고 심판의 판단만 있습니다.",
    ),
    "mind_unknown": (
        "Questions without a gold answer: {unknown}; they count neither as right nor as wrong.",
        "정답이 없는 질문 {unknown}개는 맞음에도 틀림에도 넣지 않았습니다.",
    ),
    "mind_sample": (
        "{questions} of {of} questions of the set were asked.",
        "전체 질문 {of}개 중 {questions}개를 측정했습니다.",
    ),
    "mind_failed": (
        "{system}: questions that failed: {failed}; no figure counts them.",
        "{system}: 질문 {failed}개가 실패해 수치에 들어가지 않았습니다.",
    ),
    "mind_missing": (
        "{system}: questions not asked, because the budget was spent: {missing}.",
        "{system}: 예산이 다해 질문 {missing}개를 묻지 못했습니다.",
    ),
    "mind_degraded": (
        "{system}: turns in which a model failed and the offline roles took over: {degraded}.",
        "{system}: 모델이 실패해 오프라인 역할이 대신한 질문이 {degraded}개입니다.",
    ),
    "mind_many": (
        "{count} comparisons were made; p is corrected for that (Holm), intervals are not.",
        "비교가 {count}번입니다. p는 이를 보정했지만(Holm) 구간은 보정하지 않았습니다.",
    ),
    "mind_seconds": (
        "Times are wall time, and depend on the machine and on what else it did.",
        "시간은 실제 경과 시간이라 기계와 그때의 부하에 따라 달라집니다.",
    ),
    "mind_redacted": ("The texts of questions and answers were left out.", "질문과 답변의 텍스트는 뺐습니다."),
}
