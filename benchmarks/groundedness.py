"""How well the local evaluator tells supported answers from others, and whether it notices what was changed.

    python -m benchmarks.groundedness --data DIR [--limit 1000] [--sets mtrag …] [--answers 150]
        [--claim-judge FOLDER_OR_NAME] [--words-only]

AUC, with 95 % intervals from a bootstrap over documents (conversations, premises, questions), of two numbers: *claims*,
the weighted mean of what the evaluator gives each sentence, and *grounding*, which also asks whether the answer bears
on the question. mtrag: at least two of three people voted 3 or 4 for faithfulness; summedits: consistent summaries;
klue_nli: entailment, without reviews; healthver_nc: supported claims, to measure only.

Then answers that this program wrote from squad2, covidqa and korquad, unchanged and with one number, one negation or
one word turned into its opposite: how many are noticed (a contradicted or unsupported claim), and how many
unchanged ones are suspected.
"""

import argparse
import asyncio
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from selfright.domain.answers import Draft, EvaluationRequest, GenerationRequest, Sentence
from selfright.domain.composing import compose
from selfright.domain.judgements import ClaimStatus, Evaluation, QueryClass
from selfright.domain.passages import Hit
from selfright.domain.ports import Tokenizer
from selfright.domain.text import has_hangul, language_of
from selfright.roles.analysis import TextAnalyzer
from selfright.roles.calibration.measures import auc
from selfright.roles.evaluate.nli import ClaimNli
from selfright.roles.evaluate.offline import LocalEvaluator
from selfright.roles.generate.offline import OfflineGenerator
from selfright.roles.refine import OfflineRefiner
from selfright.roles.selection import UnitScorer
from selfright.roles.words import is_negated
from training.answer_items import Item, items
from training.answered import Answered, analyzer_of, healthver_nc, klue_nli, mtrag, summedits
from training.labelled import Corpus

SAMPLES, SEED = 1_000, 7


SETS: dict[str, Callable[[Path], Iterator[Answered]]] = {
    "mtrag": mtrag,
    "summedits": summedits,
    "klue_nli": klue_nli,
    "healthver_nc": healthver_nc,
}


def judged(evaluator: LocalEvaluator, row: Answered) -> tuple[float, float]:
    """(claims, grounding) of one answer; what asks nothing is judged as its own question."""
    hits = tuple(Hit(each, 1.0) for each in row.evidence)
    question = row.question or row.answer
    found = _evaluation(evaluator, question, Draft(row.answer), hits)
    return float(np.mean([claim.score for claim in found.claims] or [0.0])), found.grounding


def _evaluation(evaluator: LocalEvaluator, question: str, draft: Draft, hits: tuple[Hit, ...]) -> Evaluation:
    request = EvaluationRequest(question, draft, language_of(draft.text), QueryClass.QUESTION, hits)
    return asyncio.run(evaluator.evaluate(request))


def interval(score: np.ndarray, label: np.ndarray, group: Sequence[str]) -> tuple[float, float]:
    """2.5 % and 97.5 % of the AUC when whole groups are drawn with replacement."""
    members = defaultdict(list)
    for number, name in enumerate(group):
        members[name].append(number)
    places = [np.array(each) for each in members.values()]
    drawn = np.random.default_rng(SEED).integers(0, len(places), (SAMPLES, len(places)))
    found = []
    for draw in drawn:
        rows = np.concatenate([places[place] for place in draw])
        found.append(auc(score[rows], label[rows]))
    low, high = np.nanquantile(found, (0.025, 0.975))
    return float(low), float(high)


def agreement(name: str, rows: Sequence[Answered], tokenizer: Tokenizer, judging: ClaimNli) -> str:
    """One row of the first table."""
    evaluator = LocalEvaluator(analyzer_of(rows, tokenizer), judging)
    scores = np.array([judged(evaluator, row) for row in rows])
    label, group = np.array([row.label for row in rows]), [row.group for row in rows]
    said = f"{name:13} {len(rows):5} {label.mean():6.2f}"
    for column in scores.T:
        low, high = interval(column, label, group)
        said += f"   {auc(column, label):.3f} [{low:.3f}, {high:.3f}]"
    return said


_NUMBER = re.compile(r"(?<![\w.,-])\d{1,4}(?:\.\d+)?(?![\w.,]*\d)")
_VERB = re.compile(r"\b(?:is|are|was|were|can|could|should|must|may|will|would|has|have|had)\b(?! only)")
_KOREAN_END = {
    "있다": "없다",
    "한다": "하지 않는다",
    "했다": "하지 않았다",
    "된다": "되지 않는다",
    "되었다": "되지 않았다",
    "이다": "이 아니다",
    "합니다": "하지 않습니다",
    "됩니다": "되지 않습니다",
}


def other_number(text: str, chooser: random.Random) -> str | None:
    """The sentence with one of its numbers changed by 1 to 9."""
    found = list(_NUMBER.finditer(text))
    if not found:
        return None
    at = chooser.choice(found)
    whole, point, rest = at.group().partition(".")
    return f"{text[: at.start()]}{int(whole) + chooser.randint(1, 9)}{point}{rest}{text[at.end() :]}"


def other_polarity(text: str, chooser: random.Random) -> str | None:
    """The sentence with "not" put in or its last verb denied; None where it is denied already or none fits."""
    del chooser
    if is_negated(text):
        return None
    if has_hangul(text):
        ends = ((text.rstrip(" ."), end, denied) for end, denied in _KOREAN_END.items())
        return next((f"{body.removesuffix(end)}{denied}." for body, end, denied in ends if body.endswith(end)), None)
    verb = _VERB.search(text)
    return f"{text[: verb.end()]} not{text[verb.end() :]}" if verb else None


def other_side(text: str, chooser: random.Random) -> str | None:
    """The sentence with one of its words put for one that says the opposite, of a short list."""
    found = [match for match in _WORDS.finditer(text) if match.group().lower() in _OTHER_SIDE]
    if not found:
        return None
    at = chooser.choice(found)
    return f"{text[: at.start()]}{_OTHER_SIDE[at.group().lower()]}{text[at.end() :]}"


_WORDS = re.compile(r"[^\W\d_]+")
_PAIRS = """
increase rise increased | decrease fall decreased
high higher highest | low lower lowest
large larger largest big | small smaller smallest little
early earlier | late later
before | after
first | last
more most | less least
maximum | minimum
include includes included | exclude excludes excluded
allow allowed allows | forbid forbidden forbids
possible | impossible
common | rare
always | never
internal | external
north northern | south southern
east eastern | west western
male men | female women
strong | weak
active | inactive
public | private
증가 상승 | 감소 하락
최대 최고 | 최소 최저
이전 | 이후
처음 | 마지막
허용 | 금지
가능 | 불가능
포함 | 제외
성공 | 실패
찬성 | 반대
남성 | 여성
"""
_SIDES = [[side.split() for side in line.split("|")] for line in _PAIRS.strip().splitlines()]
_OTHER_SIDE = {
    word: others[min(number, len(others) - 1)]
    for sides in _SIDES
    for words, others in (sides, sides[::-1])
    for number, word in enumerate(words)
}
EDITS = {"a number": other_number, "a negation": other_polarity, "an opposite": other_side}


def with_edit(draft: Draft, edit: Callable[[str, random.Random], str | None], chooser: random.Random) -> Draft | None:
    """The draft with the first of its sentences changed that the edit fits."""
    for number, sentence in enumerate(draft.sentences):
        if changed := edit(sentence.text, chooser):
            said: tuple[Sentence, ...] = (
                *draft.sentences[:number],
                replace(sentence, text=changed),
                *draft.sentences[number + 1 :],
            )
            return replace(draft, text=compose(said), sentences=said)
    return None


def is_noticed(found: Evaluation) -> bool:
    """Whether a claim is called unsupported."""
    return any(claim.status is ClaimStatus.UNSUPPORTED for claim in found.claims)


def changed_answers(rows: Sequence[Item], corpus: Corpus, judging: ClaimNli) -> str:
    """What is noticed of the changes to answers of one set, and what of the unchanged ones is suspected."""
    analyzer = TextAnalyzer(corpus.tokenizer, corpus.index.statistics)
    refiner, generator = OfflineRefiner(UnitScorer(analyzer)), OfflineGenerator(analyzer)
    evaluator, chooser = LocalEvaluator(analyzer, judging), random.Random(SEED)
    noticed: dict[str, list[bool]] = defaultdict(list)
    for item in rows:
        hits = (Hit(item.passage, 1.0),)
        strips = refiner.filter(item.question, hits).strips
        language = language_of(item.question)
        draft = asyncio.run(
            generator.generate(GenerationRequest(item.question, language, QueryClass.QUESTION, tuple(strips)))
        )
        drafts = {"nothing": draft, **{name: with_edit(draft, edit, chooser) for name, edit in EDITS.items()}}
        for name, each in drafts.items():
            if each and each.sentences and not each.refused:
                noticed[name].append(is_noticed(_evaluation(evaluator, item.question, each, hits)))
    return "  ".join(f"{name}: {np.mean(found):.3f} of {len(found)}" for name, found in noticed.items())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=1_000)
    parser.add_argument("--answers", type=int, default=150)
    parser.add_argument("--sets", nargs="*", choices=sorted(SETS), default=list(SETS))
    parser.add_argument("--claim-judge", help="a judge of claims of one's own, uncalibrated")
    parser.add_argument("--words-only", action="store_true", help="without the network that ships")
    arguments = parser.parse_args()
    from selfright.models.cross_encoder import CrossEncoderJudge
    from selfright.models.reader import PairViews, load_net
    from selfright.retrieval.tokenizer import BilingualTokenizer

    judge = CrossEncoderJudge(arguments.claim_judge, "claims") if arguments.claim_judge else None
    judging = ClaimNli(judge, reader=None if arguments.words_only else PairViews(load_net()).claims)
    tokenizer = BilingualTokenizer()
    print("set            rows  share   claims: AUC            grounding: AUC")
    for name in arguments.sets:
        rows = list(SETS[name](arguments.data))
        print(agreement(name, rows[:: -(-len(rows) // arguments.limit)], tokenizer, judging), flush=True)
    print("our own answers, noticed after changing")
    by_set: dict[str, list[Item]] = defaultdict(list)
    for item in items(arguments.data, tokenizer) if arguments.answers else ():
        by_set[item.dataset].append(item)
    for name, found in by_set.items():
        if not (arguments.data / name / "corpus.jsonl").exists():
            continue
        corpus = Corpus.load(arguments.data / name / "corpus.jsonl", tokenizer)
        chosen = found[:: -(-len(found) // arguments.answers)]
        print(f"{name:9}", changed_answers(chosen, corpus, judging), flush=True)


if __name__ == "__main__":
    main()
