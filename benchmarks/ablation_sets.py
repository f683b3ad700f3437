"""Public sets as an index and a question set, ready for ``selfright ablate``; and the ablation of each.

    python -m benchmarks.ablation_sets --data DIR --work DIR [--sets covidqa squad2] [--limit 300] [--out docs/reports]

Documents and questions are those that abstention is measured on (``training.whole_turns``): questions that the
reader trained with ``--left-out`` has not seen, so have that one in place (``docs/judges.md``). Index, questions
and answers are kept in ``--work``, so a run that was broken off goes on; the reports hold ids and figures, no text.
"""

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from selfright import Selfright
from selfright.evals.results import Study, adapter
from selfright.evals.writing import redact, write_report
from training.whole_turns import TASKS, Question, Task, unseen


def row_of(question: Question) -> Mapping[str, Any]:
    """The question in the form of a question set."""
    return {
        "id": question.id,
        "question": question.text,
        "answers": list(question.gold),
        "answerable": bool(question.gold),
    }


def prepared(task: Task, folder: Path) -> tuple[Path, Path]:
    """The questions' file and the index, made where they are not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    questions, index = folder / "questions.jsonl", folder / "index"
    lines = (json.dumps(row_of(question), ensure_ascii=False) for question in task.questions)
    questions.write_text("\n".join(lines) + "\n", encoding="utf-8")
    if not index.exists():
        corpus = folder / "corpus.jsonl"
        corpus.write_text("\n".join(map(json.dumps, task.documents)) + "\n", encoding="utf-8")
        with Selfright.open(index, home=folder / "home") as selfright:
            selfright.add([corpus])
    return questions, index


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True, help="folder for indexes and runs")
    parser.add_argument("--sets", nargs="+", choices=sorted(TASKS), default=["covidqa", "squad2"])
    parser.add_argument("--limit", type=int, default=300)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("docs/reports"))
    options = parser.parse_args()
    for name in options.sets:
        questions, index = prepared(unseen(TASKS[name](options.data), options.data), options.work / name)
        run = options.work / name / "run"
        given = {"index": index, "out": run, "limit": options.limit, "workers": options.workers}
        command = [part for key, value in given.items() for part in (f"--{key}", str(value))]
        subprocess.run(
            [sys.executable, "-m", "selfright", "ablate", str(questions), *command, "--no-texts"], check=True
        )
        published(run, options.out / name)
    return 0


def published(run: Path, folder: Path) -> None:
    """Page and means of a run, without the large files beside them; the page links to what lies beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(run / "summary.csv", folder)
    write_report(redact(adapter(Study).validate_json((run / "study.json").read_bytes())), folder)


if __name__ == "__main__":
    sys.exit(main())
