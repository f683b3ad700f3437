"""Questions with something told before or after them: what a profile, a greeting or a story costs, in right answers.

    python -m benchmarks.told_and_asked [--presets full basic] [--forms profile story …] [--most 20] [--embedder none]

The demo's medical questions that the documents answer, English and Korean, each as it is and with a form of telling
around it.
"""

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.demo_answers import kind_of, outcome_of
from selfright import Selfright
from selfright.cli.commands.demo import DATA
from selfright.domain.text import language_of

FORMS: Mapping[str, Mapping[str, str]] = {
    "plain": {"en": "{q}", "ko": "{q}"},
    "profile": {
        "en": "I am a 60-year-old man with type 2 diabetes. {q}",
        "ko": "저는 60세 남성이고 2형 당뇨병이 있습니다. {q}",
    },
    "clause": {"en": "I'm a 60-year-old man with type 2 diabetes, {lower}", "ko": "60세 당뇨 환자인데요, {q}"},
    "polite": {"en": "Hello there. {q} Thank you very much!", "ko": "안녕하세요. {q} 감사합니다!"},
    "story": {
        "en": "We moved house last month. My neighbour told me about this page yesterday. {q}",
        "ko": "지난달에 이사를 했어요. 어제 이웃이 이 페이지를 알려 줬어요. {q}",
    },
}


def told(question: str, form: str) -> str:
    """``question`` with a form of telling around it, in its language."""
    text = FORMS[form][language_of(question)]
    return text.format(q=question, lower=question[:1].lower() + question[1:])


def asked(selfright: Selfright, questions: Sequence[Mapping[str, Any]], form: str, preset: str) -> list[str]:
    """The outcome of each question."""
    return [
        outcome_of(
            dict(row),
            selfright.ask(
                told(row["question"], form),
                preset=preset,
                history=row.get("history", ()),
                profile=row.get("profile"),
            ),
        )
        for row in questions
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--presets", nargs="+", default=["full", "basic"])
    parser.add_argument("--forms", nargs="+", default=list(FORMS), choices=list(FORMS))
    parser.add_argument("--languages", nargs="+", default=["en", "ko"])
    parser.add_argument("--most", type=int, default=1_000, help="questions of a language")
    parser.add_argument("--pack", default="medical")
    parser.add_argument("--embedder", default="e5", help="'none' for words alone")
    options = parser.parse_args()
    rows = [json.loads(line) for line in (DATA / "questions.jsonl").open(encoding="utf-8")]
    medical = [row for row in rows if row["id"].startswith("med") and kind_of(row) == "normal"]
    with (
        tempfile.TemporaryDirectory() as folder,
        Selfright.open(
            Path(folder) / "index", home=Path(folder) / "home", pack=options.pack, embedder=options.embedder
        ) as selfright,
    ):
        selfright.add([DATA / "documents"])
        for language in options.languages:
            chosen = [row for row in medical if language_of(row["question"]) == language][: options.most]
            for preset in options.presets:
                for form in options.forms:
                    found = asked(selfright, chosen, form, preset)
                    print(f"{language} {preset:6} {form:8} n={len(found)} {dict(Counter(found))}", flush=True)


if __name__ == "__main__":
    main()
