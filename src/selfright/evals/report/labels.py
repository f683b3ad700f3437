"""Headings, captions and labels of the report, in English and in Korean."""

from collections.abc import Mapping

LABELS: Mapping[str, tuple[str, str]] = {
    # Headings
    "title": ("Selfright report: {name}", "Selfright 보고서: {name}"),
    "summary": ("Summary", "요약"),
    "contents": ("Contents", "차례"),
    "provenance": ("What produced it", "측정 조건"),
    "figures": ("Figures", "수치"),
    "comparisons": ("Comparisons", "비교"),
    "funnel": ("Where answers get lost", "답을 잃는 단계"),
    "expected": ("What was expected beforehand", "사전 기대치"),
    "plots": ("Plots", "그래프"),
    "cases": ("Questions rescued and broken", "살린 질문과 망친 질문"),
    "queries": ("Queries that moved most", "가장 크게 달라진 질의"),
    "files": ("Files and notes", "파일과 주석"),
    "helped": ("What helped", "도움이 된 것"),
    "hurt": ("What made it worse", "나빠진 것"),
    "open": ("What cannot be told", "판단할 수 없는 것"),
    "cost": ("What it cost", "비용"),
    "mind": ("Mind this when reading", "읽을 때 주의할 점"),
    # Tables
    "system": ("system", "시스템"),
    "metric": ("metric", "지표"),
    "means": ("What the metrics mean", "지표의 뜻"),
    "figures_note": (
        "Means over the questions where a metric applies (n), with 95 % bootstrap intervals. Against {base}: ▲ "
        "better, ▼ worse, ◆ different beyond chance (interval without zero and p < 0.05 after Holm's correction).",
        "지표가 해당하는 질문(n개)의 평균과 95% 부트스트랩 구간. {base} 대비 우연을 넘는 차이: ▲ 나음, ▼ 못함, ◆ "
        "다름(구간이 0을 벗어나고 Holm 보정 후 p < 0.05).",
    ),
    "figures_note_one": (
        "Means over the questions where a metric applies (n), with 95 % bootstrap intervals.",
        "지표가 해당하는 질문(n개)의 평균과 95% 부트스트랩 구간.",
    ),
    "group_right": ("Right and wrong", "정답"),
    "group_judged": ("Judged", "심판의 점수"),
    "group_retrieval": ("Retrieval", "검색"),
    "group_cost": ("What it took", "비용"),
    "group_other": ("Others", "기타"),
    "base": ("base", "기준"),
    "other": ("compared", "비교 대상"),
    "difference": ("difference", "차이"),
    "interval": ("95 % interval", "95% 구간"),
    "p_holm": ("p (Holm)", "p (Holm)"),
    "reading": ("reading", "판정"),
    "move_rr": ("right → right", "맞음 → 맞음"),
    "move_wr": ("rescued", "살림"),
    "move_rw": ("broken", "망침"),
    "move_ww": ("wrong → wrong", "틀림 → 틀림"),
    "move_unknown": ("not known", "모름"),
    "moves_caption": ("What became of each question", "질문별 변화"),
    "differences_caption": ("Difference in {metric}, paired by question", "{metric}의 차이(같은 질문끼리 비교)"),
    "reading_better": ("▲ better", "▲ 나음"),
    "reading_worse": ("▼ worse", "▼ 못함"),
    "reading_different": ("◆ different", "◆ 다름"),
    "reading_hint": ("? a hint", "? 단서"),
    "reading_chance": ("≈ within chance", "≈ 우연 범위"),
    "reading_same": ("= the same", "= 같음"),
    "reading_few": ("… too few", "… 너무 적음"),
    "abstention_caption": ("What was answered and what was refused", "답한 것과 거절한 것"),
    "answered_right": ("answered right", "맞게 답함"),
    "answered_wrong": ("answered wrong", "틀리게 답함"),
    "refused_rightly": ("rightly refused", "올바른 거절"),
    "refused_wrongly": ("wrongly refused", "잘못된 거절"),
    "coverage": ("coverage", "답변 비율"),
    "risk": ("risk", "오답 비율"),
    "aurc": ("AURC", "AURC"),
    "aurc_ratio": ("AURC / risk", "AURC / 오답 비율"),
    "shares_caption": ("Verdicts, stop reasons, labels of answers", "판정, 종료 이유, 답변 분류"),
    "verdicts": ("verdicts", "판정"),
    "stop_reasons": ("stopped because", "종료 이유"),
    "qualities": ("answers judged", "답변 분류"),
    "expected_note": (
        "The documents that this project grew out of named these numbers before anything was measured. They are "
        "expectations of another system, on other data; a gap is no error, and a match is no proof.",
        "이 프로젝트의 바탕이 된 설계 문서에 측정 전에 적힌 수치입니다. 다른 시스템, 다른 자료에 대한 기대이므로 "
        "차이가 오류도, 일치가 증명도 아닙니다.",
    ),
    "expected_value": ("expected", "기대"),
    "measured": ("measured", "측정"),
    "source": ("source", "출처"),
    "targeted_gain": ("{metric}, change against {base}", "{metric}, {base} 대비 변화"),
    # Where answers get lost
    "funnel_caption": (
        "Questions whose gold answer is still there after each step, and how many were lost at it. A step counts when "
        "it or a later one had the answer.",
        "각 단계 뒤에도 정답이 남아 있는 질문 수와 그 단계에서 잃은 수. 그 단계나 뒤 단계에 정답이 있으면 남은 것으로 "
        "셉니다.",
    ),
    "funnel_lost": ("Questions lost", "잃은 질문"),
    "outcomes_caption": (
        "What was said in the end, questions that cannot be answered among them",
        "최종 결과(답할 수 없는 질문 포함)",
    ),
    "language": ("language", "언어"),
    "with_gold": ("with a gold answer", "정답이 있는 질문"),
    "step_found": ("in the ten best hits", "상위 10개 검색 결과"),
    "step_looked": ("looked at", "살펴본 단락"),
    "step_strips": ("in the strips", "추린 근거"),
    "step_draft": ("in a draft", "초안"),
    "step_final": ("in the final answer", "최종 답변"),
    "step_right": ("said and right", "답했고 맞음"),
    # Provenance
    "data": ("questions", "질문"),
    "data_of": ("{name} ({format}), {questions} of {of} questions", "{name} ({format}), {of}개 중 {questions}개"),
    "sha": ("SHA-256 of the questions", "질문의 SHA-256"),
    "index": ("index", "색인"),
    "index_is": (
        "{documents} documents, {passages} passages, embedder {embedder}, tokenizer {tokenizer}",
        "문서 {documents}개, 단락 {passages}개, 임베더 {embedder}, 토크나이저 {tokenizer}",
    ),
    "sha_index": ("SHA-256 of the documents", "문서의 SHA-256"),
    "judge": ("judge", "심판"),
    "seed": ("seed", "시드"),
    "created": ("measured at", "측정 시각"),
    "versions": ("versions", "버전"),
    "models": ("models", "모델"),
    "all_jobs": ("{model} for all jobs", "모든 역할에 {model}"),
    "preset": ("preset", "프리셋"),
    "flags_differ": ("Flags in which the systems differ", "시스템마다 다른 플래그"),
    "flags_same": ("Flags that all systems share", "모든 시스템이 같은 플래그"),
    "kind": ("kind", "종류"),
    # Plots
    "plot_forest": ("{metric}: difference to {base}", "{metric}: {base} 대비 차이"),
    "plot_forest_note": (
        "Each dot is the mean difference over the same questions, its line the 95 % interval. A line that crosses "
        "zero is within chance.",
        "점은 같은 질문에서의 평균 차이, 선은 95% 구간입니다. 선이 0을 지나면 우연의 범위입니다.",
    ),
    "plot_passes": ("Quality by iteration", "반복별 품질"),
    "plot_passes_note": (
        "Turns that went on after their first pass: the mean score of the loop's own judge after each pass; a turn "
        "that has ended keeps its last score. These turns went on because they had begun low. Systems with other "
        "judges cannot be compared by height.",
        "첫 반복 뒤에도 계속한 질문만 모아, 각 반복 뒤 자체 심판 점수의 평균을 보입니다. 끝난 질문은 마지막 점수를 "
        "유지합니다. 점수가 낮아서 계속한 질문들입니다. 심판이 다른 시스템은 높이로 비교할 수 없습니다.",
    ),
    "plot_risk": ("Risk and coverage", "오답 비율과 답변 비율"),
    "plot_risk_note": (
        "Answer only the questions that the judge is surest of (to the left), and this share of them is wrong. A "
        "curve that rises to the right knows what it knows; a flat one does not.",
        "심판이 가장 확신하는 질문부터 답할 때(왼쪽) 그중 틀린 비율입니다. 오른쪽으로 올라가는 곡선은 자기가 아는 "
        "것을 압니다. 평평하면 그렇지 않습니다.",
    ),
    "plot_calibration": ("Calibration", "보정 상태"),
    "plot_calibration_note": (
        "Answers by the judge's score, and the share of them that is right. On the diagonal a score means what it "
        "says; below it the judge is too sure. Bars are 95 % intervals (Wilson), larger dots hold more answers.",
        "심판 점수별로 실제 맞은 비율. 대각선 위의 점은 점수가 뜻하는 그대로이고, 아래는 지나친 확신입니다. 막대는 "
        "95% 구간(Wilson), 큰 점일수록 답변이 많습니다.",
    ),
    "calibration_of": ("{system}: expected calibration error {ece}", "{system}: 기대 보정 오차 {ece}"),
    "plot_cost": ("Cost against quality", "비용과 품질"),
    "plot_cost_note": (
        "Up and to the left is better. The dashed steps join the systems that no other one beats in both: {front}.",
        "왼쪽 위가 좋습니다. 점선은 둘 다 더 나은 시스템이 없는 것들을 잇습니다: {front}.",
    ),
    "plot_flow": ("Verdict flow", "판정의 흐름"),
    "plot_flow_note": (
        "Each turn from the verdict on what it retrieved, pass by pass, to why it stopped and what came of it. The "
        "width is the number of questions.",
        "검색 결과에 대한 반복별 판정에서 종료 이유와 결과까지. 폭은 질문 수입니다.",
    ),
    "flow_cut": (
        "Passes between the {first} first and the last are left out.",
        "처음 {first}번과 마지막 사이의 반복은 생략했습니다.",
    ),
    "plot_time": ("Time a turn", "질문당 시간"),
    "plot_time_note": (
        "Box: the middle half of the turns with the median; thin line: from the 5th to the 95th percentile; dot: "
        "the slowest. Logarithmic.",
        "상자: 가운데 절반과 중앙값. 가는 선: 5~95 백분위. 점: 가장 느린 것. 로그 눈금입니다.",
    ),
    "plot_measure": ("{metric} by system", "시스템별 {metric}"),
    "plot_measure_note": ("Means with 95 % intervals.", "평균과 95% 구간."),
    "plot_queries": ("{metric} query by query", "질의별 {metric}"),
    "plot_queries_note": (
        "{other} minus {base}, each bar a query, from its greatest gain to its greatest loss.",
        "{other} − {base}. 막대 하나가 질의 하나이며 가장 오른 것부터 가장 내린 것까지입니다.",
    ),
    "plot_figures": ("The figures of this plot", "이 그래프의 수치"),
    "plots_cut": (
        "Plots show {shown} of {all} systems: the first, and those highest in {metric}. The tables have all.",
        "그래프에는 시스템 {all}개 중 {shown}개(첫 번째와 {metric} 상위)만 있습니다. 표에는 모두 있습니다.",
    ),
    "axis_pass": ("pass", "반복"),
    "axis_score": ("score of the own judge", "자체 심판 점수"),
    "axis_coverage": ("share of questions answered", "답한 질문의 비율"),
    "axis_risk": ("share of these wrong", "그중 틀린 비율"),
    "axis_said": ("judge's score", "심판 점수"),
    "axis_true": ("share right", "맞은 비율"),
    "axis_calls": ("model calls a question", "질문당 모델 호출"),
    "axis_seconds": ("seconds a question", "질문당 초"),
    "column_pass": ("pass {n}", "반복 {n}"),
    "column_last": ("last pass", "마지막 반복"),
    "column_stop": ("stopped", "종료"),
    "column_outcome": ("outcome", "결과"),
    "questions_count": ("{n} questions", "질문 {n}개"),
    # Cases
    "cases_note": (
        "Of each question the turn of {base} first, then that of {other}.",
        "질문마다 {base}, {other} 순서로 보입니다.",
    ),
    "rescued": ("Rescued", "살린 질문"),
    "broken": ("Broken", "망친 질문"),
    "cases_shown": ("{shown} of {all} are shown.", "{all}개 중 {shown}개를 보입니다."),
    "cases_none": ("None.", "없습니다."),
    "cases_others": ("The other comparisons", "다른 비교"),
    "text_left_out": ("(text left out)", "(텍스트 생략)"),
    "gold": ("Gold answer", "정답"),
    "unanswerable": ("cannot be answered", "답할 수 없는 질문"),
    "answer": ("Answer", "답변"),
    "refused": ("refused", "거절"),
    "verdict": ("verdict", "판정"),
    "stopped": ("stopped", "종료"),
    "judged": ("judged", "심판"),
    "pass": ("pass", "반복"),
    "query": ("query", "질의"),
    "documents": ("documents", "문서"),
    "score": ("score", "점수"),
    "relevant": ("relevant", "관련 문서"),
    "more": ("and {n} more", "외 {n}개"),
    "gains": ("Greatest gains", "가장 오른 질의"),
    "losses": ("Greatest losses", "가장 내린 질의"),
    # Files
    "files_note": (
        "Beside this page lie {links}. This page fetches nothing and runs no script.",
        "이 페이지 옆에 {links} 파일이 있습니다. 이 페이지는 아무것도 내려받지 않고 스크립트도 실행하지 않습니다.",
    ),
    "statistics": (
        "Intervals are percentile bootstraps over questions (2,000 draws); p is of a two-sided paired "
        "randomisation test, corrected after Holm over the study's comparisons in a metric. Seed {seed}.",
        "구간은 질문에 대한 백분위 부트스트랩(2,000회), p는 양측 대응 무작위화 검정이며 지표별 비교 수에 대해 "
        "Holm으로 보정했습니다. 시드 {seed}.",
    ),
    "skip": ("Skip to the summary", "요약으로 건너뛰기"),
    "scroll": ("Table, scrolls sideways", "가로로 넘겨 보는 표"),
}
