"""What the rules of words are worth: whole turns with one rule switched off at a time.

    python -m benchmarks.rules --data DIR [--field DIR] [--limit 60] [--demo] [--only RULE …] [--presets basic full]

``--data`` holds the data sets, ``--field`` the documents of the field sets for tuning (``benchmarks/field/README.md``).
Nothing is fitted anew. Encoder and network answer from memory after the first run, so that a rule costs a minute. Each
line has the change in right answers, wrong answers and refusals against all rules on, and the questions whose outcome
changed. Of data sets, only questions that the network has not learnt from are asked.
"""

import argparse
import json
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import demo_answers
from selfright import Selfright
from selfright.domain.answers import Answer
from selfright.entrypoints.commands.demo import DATA
from selfright.models.encoder import E5
from selfright.models.reader import PairNet
from selfright.roles import entity_filter, extractive_units, questions, strips, words
from selfright.roles.evaluate import claims, completeness, edits
from selfright.roles.generate import offline as writing
from selfright.roles.generate import scores
from selfright.roles.grade import model as grading
from selfright.roles.rewrite import focus
from training.fit_abstention_turns import FIELD, TASKS, Question, Task, _written, field_task, unseen

NEVER = re.compile(r"(?!)")
SEED = 5
Outcomes = dict[tuple[str, str, str], tuple[str, str]]  # set, question, preset → outcome, answer
Patch = tuple[Any, str, Any]


def rules() -> dict[str, list[Patch]]:
    """Each rule by its name, and what stands in the place of its functions when it is off."""
    found: dict[str, list[Patch]] = {
        "answer types": [(questions, "answer_type", lambda _: questions.AnswerType.OTHER)],
        "parts of a question": [(questions, "question_parts", lambda question: (question.strip(),))],
        "opposites, passages": [(grading, "without_opposing", lambda chances, *_: list(chances))],
        "opposites, claims": [(words, "opposed", lambda *_, **__: False)],
        "negations": [(words, "negated", lambda _: False)],
        "named entities": [(entity_filter.QueryEntities, "of", classmethod(lambda cls, *_: cls()))],
        "stance of sentences": [
            (extractive_units, "stance", lambda *_, **__: extractive_units.Stance.STATES),
        ],
        "leaning strips": [(strips, "_LEANS", NEVER)],
        "sentence before a leaning one": [(writing, "_DANGLING", NEVER)],
        "lead-ins of lists": [(extractive_units, "_LEAD_IN", NEVER)],
        "asked and told": [(focus, "asking_part", lambda message, *_, **__: focus.MessageParts(message.strip()))],
        "edits and synonyms": [(edits, "edits", lambda *_: None)],
        "numbers that differ": [
            (claims, "_conflicts", lambda *_: False),
            (claims, "_misquotes", lambda *_: False),
        ],
        "one language": [(writing, "_in_one_language", lambda found, _: found)],
        "points of the evidence": [(completeness, "missing_points", lambda *_: [])],
        "stop words": [(words, "mask_stop_words", lambda text: text)],
    }
    for name in scores.BY_HAND:
        found[f"by hand: {name}"] = [(scores, "BY_HAND", {**scores.BY_HAND, name: 0.0})]
    found["by hand: all"] = [(scores, "feature_score", lambda *_: 0.0)]
    return found


@contextmanager
def switched_off(patches: Sequence[Patch]) -> Iterator[None]:
    """The patches wherever the package has imported what they replace."""
    undo: list[Patch] = []
    for owner, name, instead in patches:
        before = owner.__dict__[name]
        modules = (
            [m for key, m in sys.modules.items() if key.startswith("selfright")] if not isinstance(owner, type) else []
        )
        for place in {owner, *(m for m in modules if m.__dict__.get(name) is before)}:
            undo.append((place, name, place.__dict__[name]))
            setattr(place, name, instead)
    _forget()
    try:
        yield
    finally:
        for place, name, before in undo:
            setattr(place, name, before)
        _forget()


def _forget() -> None:
    for name, module in list(sys.modules.items()):
        if name.startswith("selfright.roles"):
            for value in list(vars(module).values()):
                if callable(getattr(value, "cache_clear", None)):
                    value.cache_clear()


@contextmanager
def remembered() -> Iterator[None]:
    """Encoder and network compute each text and each pair once."""
    vectors: dict[tuple[str, str], Any] = {}
    pairs: dict[tuple[str, str], Any] = {}
    embed, run = E5._embed, PairNet.run

    def embedded(self: E5, form: str, texts: Sequence[str]) -> Any:
        new = list(dict.fromkeys(text for text in texts if (form, text) not in vectors))
        if new:
            vectors.update(zip(((form, text) for text in new), embed(self, form, new), strict=True))
        return np.array([vectors[form, text] for text in texts], np.float32).reshape(len(texts), self.dimension)

    def read(self: PairNet, text: str, passages: Sequence[str]) -> Any:
        new = list(dict.fromkeys(passage for passage in passages if (text, passage) not in pairs))
        if new:
            pairs.update(zip(((text, passage) for passage in new), run(self, text, new), strict=True))
        return [pairs[text, passage] for passage in passages]

    E5._embed, PairNet.run = embedded, read  # type: ignore[method-assign]
    try:
        yield
    finally:
        E5._embed, PairNet.run = embed, run  # type: ignore[method-assign]


def outcome(question: Question, answer: Answer) -> str:
    """``right``, ``wrong``, or ``refused``, rightly or not."""
    if answer.abstained:
        return "refused wrongly" if question.gold else "refused rightly"
    return "right" if question.is_right(answer) else "wrong"


def asked(task: Task, limit: int, presets: Sequence[str], index: Path) -> Outcomes:
    """The outcomes of a task's first questions."""
    found: Outcomes = {}
    with Selfright.open(index) as selfright:
        for question in list(task.questions)[:limit]:
            for preset in presets:
                answer = selfright.ask(question.text, preset=preset)
                found[task.name, question.id, preset] = outcome(question, answer), answer.answer
    return found


def demo_asked(presets: Sequence[str], index: Path) -> Outcomes:
    """The outcomes of the demo's questions, which many of the rules were written for."""
    questions = [json.loads(line) for line in (DATA / "questions.jsonl").open(encoding="utf-8")]
    web: dict[str, Any] = {"web_provider": "static", "web_folder": str(DATA / "web")}
    found: Outcomes = {}
    with Selfright.open(index, pack="medical", **web) as selfright:
        if not index.exists():
            selfright.add([DATA / "documents"])
        for preset in presets:
            for question, row in zip(questions, demo_answers.run(preset, questions, selfright), strict=True):
                refused = f"refused {'wrongly' if question['answerable'] else 'rightly'}"
                outcome = refused if row["outcome"] == "refused" else row["outcome"]
                found["demo", row["id"], preset] = outcome, row["answer"]
    return found


def indexed(task: Task, place: Path) -> Path:
    """The index of a task's documents."""
    index = place / task.name
    documents = task.documents
    with Selfright.open(index) as selfright:
        source = documents if isinstance(documents, Path) else _written(documents, place / f"{task.name}.jsonl")
        selfright.add([source])
    return index


def difference(before: Outcomes, after: Outcomes, presets: Sequence[str], names: Sequence[str]) -> str:
    """Changes of each preset by set, as right/wrong/refused rightly/refused wrongly."""
    kinds = ("right", "wrong", "refused rightly", "refused wrongly")
    cells = []
    for preset in presets:
        total = Counter[str]()
        for name in names:
            here = [key for key in before if key[0] == name and key[2] == preset]
            change = Counter(after[key][0] for key in here)
            change.subtract(Counter(before[key][0] for key in here))
            total.update({kind: change[kind] for kind in kinds})
            if any(change.values()):
                cells.append(f"{preset} {name} " + "/".join(f"{change[kind]:+d}" for kind in kinds))
        moved, reworded = (sum(before[k][n] != after[k][n] for k in before if k[2] == preset) for n in (0, 1))
        cells.append(
            f"{preset} ALL "
            + "/".join(f"{total[kind]:+d}" for kind in kinds)
            + f" ({moved} moved, {reworded} worded differently)"
        )
    return "; ".join(cells)


def table(found: Outcomes, presets: Sequence[str], names: Sequence[str]) -> Iterator[str]:
    """One line for each set and preset."""
    for name in names:
        for preset in presets:
            counts = Counter(value for key, (value, _) in found.items() if key[0] == name and key[2] == preset)
            yield f"{name:16}{preset:8}" + ", ".join(f"{kind} {number}" for kind, number in sorted(counts.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--field", type=Path)
    parser.add_argument("--limit", type=int, default=60)
    parser.add_argument("--demo", action="store_true", help="ask the demo's questions, too")
    parser.add_argument("--only", nargs="+", choices=sorted(rules()))
    parser.add_argument("--presets", nargs="+", default=["basic", "full"])
    parser.add_argument(
        "--sets", nargs="*", choices=sorted(TASKS), default=["squad2", "clapnq", "covidqa", "tydiqa", "korquad_missing"]
    )
    options = parser.parse_args()
    tasks: list[tuple[Task, int]] = [
        (unseen(TASKS[name](options.data), options.data), options.limit) for name in options.sets
    ]
    if options.field:
        tasks += [(field_task(name, options.field), 1_000) for name in FIELD]
    names = [*(task.name for task, _ in tasks), *(["demo"] if options.demo else [])]
    with remembered(), tempfile.TemporaryDirectory() as folder:
        places = {task.name: indexed(task, Path(folder)) for task, _ in tasks}
        print(f"{len(names)} sets indexed", flush=True)

        def run() -> Outcomes:
            found: Outcomes = {}
            for task, limit in tasks:
                found |= asked(task, limit, options.presets, places[task.name])
            return found | (demo_asked(options.presets, Path(folder) / "demo") if options.demo else {})

        before = run()
        print(*table(before, options.presets, names), sep="\n", flush=True)
        for name, patches in rules().items():
            if options.only and name not in options.only:
                continue
            began = time.monotonic()
            with switched_off(patches):
                after = run()
            print(
                f"{name}: {difference(before, after, options.presets, names)} [{time.monotonic() - began:.0f} s]",
                flush=True,
            )


if __name__ == "__main__":
    main()
