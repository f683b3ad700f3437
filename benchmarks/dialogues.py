"""Conversations with follow-ups, Korean and English: which turns are answered, and from the right document.

    python -m benchmarks.dialogues [--kept] [--preset full] [--show] [--alone]

``benchmarks/dialogues`` has two halves, each with seven documents and fourteen conversations: swaps ("일요일은?"),
attributes ("how late?"), choices, pronouns, changes of subject, and talk about the conversation itself. A turn is
right when its answer has what ``any`` lists and nothing of ``not``; ``odd`` when it has both. What no document says is
right when it is refused or not called adequate. ``--alone`` asks the questions in full instead, without a conversation.
"""

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from selfright import Answer, Selfright

FOLDER = Path(__file__).parent / "dialogues"


def outcome(turn: Mapping[str, Any], answer: Answer) -> str:
    """``right``, ``odd``, ``refused`` or ``wrong``."""
    if turn["kind"] == "absent":
        adequate = answer.evaluation is not None and answer.evaluation.answer_quality == "adequate"
        return "wrong" if adequate and not answer.abstained else "right"
    if answer.abstained:
        return "refused"
    said = all(any(text in answer.answer for text in either) for either in turn["any"])
    other = any(text in answer.answer for text in turn["not"])
    return "wrong" if not said else "odd" if other else "right"


def turns(
    selfright: Selfright, half: Path, preset: str, *, alone: bool
) -> Iterator[tuple[str, Mapping[str, Any], Answer]]:
    """What kind of turn it is ("ko first", "en talk" …), the turn, and its answer."""
    for dialogue in json.loads((half / "conversations.json").read_text(encoding="utf-8")):
        language = dialogue["id"].split("-")[1]
        for place, turn in enumerate(dialogue["turns"]):
            if alone and turn["kind"] == "talk":
                continue
            session = {} if alone else {"session": dialogue["id"]}
            answer = selfright.ask(turn["asked_in_full"] if alone else turn["ask"], preset=preset, **session)
            kind = "first" if not place else "follow-up" if turn["kind"] == "answer" else turn["kind"]
            yield f"{language} {kind}", turn, answer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kept", action="store_true", help="the half that nothing was tried on")
    parser.add_argument("--preset", default="full")
    parser.add_argument("--show", action="store_true", help="each turn")
    parser.add_argument("--alone", action="store_true", help="the questions in full, each without a conversation")
    options = parser.parse_args()
    half = FOLDER / ("kept" if options.kept else "tune")
    found: Counter[tuple[str, str]] = Counter()
    cited = own = 0
    with tempfile.TemporaryDirectory() as home, Selfright.open(Path(home) / "index", home=Path(home)) as selfright:
        selfright.add([half / "docs"])
        for kind, turn, answer in turns(selfright, half, options.preset, alone=options.alone):
            how = outcome(turn, answer)
            found[kind, how] += 1
            if turn["kind"] == "answer" and not answer.abstained:
                cited += len(answer.citations)
                own += sum(citation.document_id.endswith(turn["file"]) for citation in answer.citations)
            if options.show:
                print(f"{how:8} {turn['ask']} → {answer.question}: {' '.join(answer.answer.split())[:200]}", flush=True)
    print(f"{'':14} right   odd refused wrong")
    for kind in sorted({kind for kind, _ in found}):
        print(f"{kind:14}" + "".join(f"{found[kind, how]:6}" for how in ("right", "odd", "refused", "wrong")))
    print(f"{own} of {cited} citations are of the right document")


if __name__ == "__main__":
    main()
