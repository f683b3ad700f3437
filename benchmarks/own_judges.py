"""What a judge of one's own is worth beside the grader's signals, before and after ``selfright calibrate`` weighs it.

    python -m benchmarks.own_judges --data DIR (--judge FOLDER | --shipped) [--sets squad2 …] [--questions 200]

``--judge`` is what settings ``passage_judge`` takes, ``--shipped`` the network that ships, treated as one that nobody
knows. Each set is calibrated as the command does, with rows of its own; figures are
of the half of its questions that told no weights. Only questions are taken that the network has not learnt from.
"""

import argparse
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from selfright.domain.ports import PairJudge, Tokenizer
from selfright.models.reader import PairViews, load_net
from selfright.roles.analysis import TextAnalyzer
from selfright.roles.calibration.measures import quality
from selfright.roles.calibration.refit import is_for_weights
from selfright.roles.grade.offline import OfflineGrader
from selfright.wiring.calibrating import Labelled, Row, calibrate_grading, judge_sets
from training.labelled import MEASURED_ON, TRAINED_ON, Case
from training.reading_rows import learnt_questions

RISK = 0.1


def rows_of(cases: list[Case]) -> Iterator[Row]:
    """Every candidate with its label, as a user would write it down."""
    for case in cases:
        for candidate in case.candidates:
            shown = f"{candidate.passage.heading}\n{candidate.passage.text}".strip()
            yield Row(case.question, shown, int(candidate.label))


def line(name: str, cases: list[Case], judge: PairJudge, tokenizer: Tokenizer) -> str:
    """One row of the table, or why there is none."""
    analyzer = TextAnalyzer(tokenizer, cases[0].statistics)
    grader = OfflineGrader(analyzer, judge=judge)
    rows = tuple(rows_of(cases))
    report = calibrate_grading(Labelled(rows, ""), grader, RISK, judge.name)
    found, blend = report.opinions, report.calibration.judge
    if found is None or blend is None:
        return f"{name:16} {len(cases):5}  the judge read too few of these rows"
    rest: dict[str, list[Row]] = {}
    for row in rows:
        if not is_for_weights(row.question):
            rest.setdefault(row.question, []).append(row)
    half = list(judge_sets(rest, grader))
    p, y = [p for one in half for p in one.probabilities], [label for one in half for label in one.labels]
    halves, weights = quality(p, y), blend.weights
    return (
        f"{name:16} {len(rest):5} {found.rows:6} {found.without:8.3f} {found.judge:8.3f} {halves.auc:8.3f}"
        f" {found.together:8.3f}   {halves.ece_mass:6.3f} {report.after.ece_mass:6.3f}"
        f"   {weights['signals']:.2f} {weights['judge']:.2f} {weights['behind']:.2f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--judge")
    which.add_argument("--shipped", action="store_true")
    parser.add_argument("--sets", nargs="*", default=[])
    parser.add_argument("--questions", type=int, default=200)
    arguments = parser.parse_args()
    from selfright.models.cross_encoder import CrossEncoderJudge
    from selfright.retrieval.tokenizer import BilingualTokenizer

    judge: PairJudge = (
        PairViews(load_net()).questions if arguments.shipped else CrossEncoderJudge(arguments.judge, "passages")
    )
    tokenizer, known = BilingualTokenizer(), learnt_questions(arguments.data)
    print(f"{judge.name}\n{'':16} {'':5} {'':6}  AUC of passages                      ECE             weights")
    print("set              asked   rows  signals    judge   halved  weighed   halved calibrated  signals judge behind")
    for loader in (*TRAINED_ON, *MEASURED_ON):
        if not arguments.sets or loader.__name__ in arguments.sets:
            unknown = (c for c in loader(arguments.data, tokenizer, 10**9) if c.question.strip().lower() not in known)
            cases = list(islice(unknown, arguments.questions))
            if cases:
                print(line(loader.__name__, cases, judge, tokenizer), flush=True)


if __name__ == "__main__":
    main()
