"""Whether an answer that misses the very thing asked is noticed, offline: by the judge, or by a refusal.

    python -m benchmarks.missing [--kept] [--joined] [--list] [--preset full]

``half``: a question of two parts, and the documents answer one of them; what is missing is to be named. ``attribute``:
the subject is in the documents, what is asked of it is not. ``whole``: all of it is there. The documents of a language
are one index. Cases with odd numbers are for tuning; ``--kept`` asks those with even ones, which are about other
documents. ``--joined`` asks for two things in one clause ("the price and the weight") instead; what joins one thing
there counts as ``whole``. ``--list`` shows the cases that fail.
"""

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from selfright import Selfright
from selfright.domain.answers import Answer
from selfright.domain.judgements import AnswerQuality
from selfright.flow.presets import PRESETS

DATA = Path(__file__).parent / "missing"
KINDS = ("half", "attribute", "whole")
LANGUAGES = ("en", "ko")
COLUMNS = ("n", "right", "says", "adequate", "needs_docs", "other", "refused", "named")
NONE = {"half": (), "attribute": ("says", "named"), "whole": ("named",)}
"""Columns that a kind has no figure in."""
REMARK = re.compile(
    r"(?:not covered|missing|다루지 못한 내용|찾지 못한 내용)\s*:\s*(.*?)(?=nearest sources|가장 가까운 자료|\n|$)",
    re.IGNORECASE,
)

Row = Mapping[str, Any]
Status = Literal["adequate", "needs_docs", "other", "refused"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a case: ``says`` each part that can be answered, ``named`` the part that cannot."""

    status: Status
    says: bool
    named: bool
    right: bool

    def counts(self, column: str) -> bool:
        """Whether the case counts in a column of the table."""
        return column in ("n", self.status) or bool(getattr(self, column, False))


def read(name: str) -> list[Row]:
    """The rows of a file of the data."""
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def language(case: Row) -> str:
    """``en`` or ``ko``, from the id."""
    return str(case["id"]).split("-")[1]


def is_kept(case: Row) -> bool:
    """Whether the case is kept from tuning: those with even numbers."""
    return int(str(case["id"]).rpartition("-")[2]) % 2 == 0


def score(case: Row, answer: Answer) -> Outcome:
    """The outcome of a case."""
    status = status_of(answer)
    says = status != "refused" and all(_matches(pattern, answer.answer) for pattern in case.get("says", ()))
    named = "missing" in case and any(_matches(case["missing"], item) for item in lacking(answer))
    right = {
        "half": status != "adequate" and named,
        "attribute": status in ("refused", "needs_docs"),
        "whole": status == "adequate" and says,
    }
    return Outcome(status, says, named, right[case["kind"]])


def status_of(answer: Answer) -> Status:
    """``refused``, or what the answer was judged to be; ``other`` is a hallucination, off topic, or not judged."""
    if answer.abstained:
        return "refused"
    quality = answer.evaluation.answer_quality if answer.evaluation else None
    if quality is AnswerQuality.ADEQUATE:
        return "adequate"
    return "needs_docs" if quality is AnswerQuality.NEEDS_DOCS else "other"


def lacking(answer: Answer) -> list[str]:
    """What the judge and the answer say is missing; an item that repeats the whole question names no part of it."""
    judged = answer.evaluation.missing_info if answer.evaluation else ()
    remarks = [item for text in (answer.answer, *answer.notes) for item in REMARK.findall(text)]
    question = _plain(answer.question)
    items = dict.fromkeys(item.strip(" .") for item in (*judged, *answer.uncovered, *remarks))
    return [item for item in items if question not in _plain(item)]


def _matches(pattern: str, text: str) -> bool:
    return re.search(pattern, text, re.IGNORECASE) is not None


def _plain(text: str) -> str:
    return re.sub(r"\W+", "", text).lower()


def ask(cases: Sequence[Row], documents: Sequence[Row], preset: str) -> Iterator[tuple[Row, Answer]]:
    """Each case with its answer, over an index of all the documents."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "documents"
        folder.mkdir()
        for document in documents:
            text = f"# {document['title']}\n\n{document['text']}\n"
            (folder / f"{document['id']}.md").write_text(text, encoding="utf-8")
        with Selfright.open(Path(place) / "index", home=Path(place) / "home", llm="offline") as selfright:
            selfright.add([folder])
            for case in cases:
                yield case, selfright.ask(case["question"], preset=preset)


def table(scored: Sequence[tuple[Row, Outcome]]) -> Iterator[str]:
    """One line for each kind and language, and one for both languages."""
    yield f"{'kind':10}{'language':9}" + "".join(f"{column:>11}" for column in COLUMNS)
    for kind in KINDS:
        for name in (*LANGUAGES, "both"):
            chosen = [outcome for case, outcome in scored if case["kind"] == kind and name in (language(case), "both")]
            yield f"{kind:10}{name:9}" + "".join(f"{_cell(kind, column, chosen):>11}" for column in COLUMNS)


def _cell(kind: str, column: str, outcomes: Sequence[Outcome]) -> str:
    return "–" if column in NONE[kind] else str(sum(outcome.counts(column) for outcome in outcomes))


def aims(scored: Sequence[tuple[Row, Outcome]]) -> Iterator[str]:
    """The shares that are asked for, beside their aims."""

    def share(kind: str, *columns: str) -> str:
        chosen = [outcome for case, outcome in scored if case["kind"] == kind]
        return f"{sum(any(map(one.counts, columns)) for one in chosen) / max(1, len(chosen)):.0%}"

    yield f"half: adequate {share('half', 'adequate')} (aim: at most 5%)"
    yield f"half: missing part named {share('half', 'named')} (aim: at least 85%)"
    yield f"half: other part said {share('half', 'says')}"
    yield f"attribute: refused or needs_docs {share('attribute', 'refused', 'needs_docs')} (aim: at least 85%)"
    yield f"whole: adequate {share('whole', 'adequate')} (aim: at least 90%)"
    yield f"whole: all of it said {share('whole', 'says')}"


def failures(asked: Sequence[tuple[Row, Answer]]) -> Iterator[str]:
    """The cases that are not right: how each came out, what was named as missing, and the beginning of the answer."""
    for case, answer in asked:
        outcome = score(case, answer)
        if not outcome.right:
            told = [f"{name}={getattr(outcome, name)}" for name in ("says", "named") if name not in NONE[case["kind"]]]
            yield " ".join((case["id"], outcome.status, *told)) + f": {case['question']}"
            yield f"    missing: {lacking(answer)}"
            yield f"    {answer.answer[:150]!r}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kept", action="store_true", help="ask the cases that are kept from tuning, and only these")
    parser.add_argument("--joined", action="store_true", help="ask for two things in one clause")
    parser.add_argument("--list", action="store_true", help="show the cases that fail")
    parser.add_argument("--preset", choices=sorted(PRESETS), default="full")
    options = parser.parse_args()
    cases = read("joined") if options.joined else [one for one in read("cases") if is_kept(one) == options.kept]
    documents = read("documents")
    asked: list[tuple[Row, Answer]] = []
    for name in LANGUAGES:
        chosen = [case for case in cases if language(case) == name]
        asked += ask(chosen, [row for row in documents if row["id"].startswith(f"{name}-")], options.preset)
    scored = [(case, score(case, answer)) for case, answer in asked]
    print(*table(scored), "", *aims(scored), *(failures(asked) if options.list else ()), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
