"""Trains the network that reads pairs, on two cores, in steps that resume.

    python -m training.reading --data DIR --work DIR [--layers 6] [--minutes 60] [--from FOLDER] [--seed 1]
        [--rate 5e-5] [--edits] [--extra DIR [--documentation FILE] [--short]] [--desk DIR] [--bfloat16]
        [--questions-only]

The rows are made once and kept in ``--work``; a checkpoint is written there every few minutes, and the same command
goes on from it. ``--from src/selfright/models`` goes on from the weights that ship, the moments of the optimizer
new; a ``--rate`` of 1e-4 or more undoes what they know, 5e-5 does not. The learning rate falls to a twentieth over
``--minutes`` of computing, all sittings together. ``--extra``, a folder of sets with titles and headings, is for going
on from weights that know passages: it adds single sentences, and answers on the right subject and the wrong attribute,
to a share of the rest; ``--documentation``, sections headed by questions in two languages, takes those in, and all
passages of ``--extra``, with fewer of the others; ``--short`` adds answers in few words and questions said again;
``--desk`` what ``training.desk_rows`` made, those that answer twice and half of the others.
Prints the loss, and now and then the AUC on groups that are left out. Needs PyTorch, which the package itself does not.
"""

import argparse
import json
import random
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from selfright.models.files import FOLDER
from training.attribute_rows import attribute_rows
from training.desk_rows import desk_rows
from training.documentation_rows import documentation_rows
from training.fitting import auc
from training.network_weights import NetworkWeights
from training.reading_batches import UNKNOWN, Batch, Example, batch_of, batches, example
from training.reading_edits import edited_rows
from training.reading_net import PairNet
from training.reading_rows import NOT_SUPPORTED, SUPPORTED, Row, Windows, asked_rows, claimed_rows, pages_by_set
from training.sentence_rows import answered_rows, extra_rows, sentence_rows
from training.short_rows import short_rows

RATE, WARM_STEPS, TOKENS = 1e-4, 200, 4_000
MADE, KNOWN = 15_000, 7  # rows of made attributes; one of so many rows of what is known already
SHORT = 0.5  # of the known answers are told alone
BESIDE_DESK = 0.4  # of the other rows, where there are those of a help desk
REFUSED = 0.5  # of what does not answer a question of a help desk
ENDS = 0.3  # what finding the answer's ends weighs beside the label
CHECK_EVERY, KEEP_EVERY = 900.0, 240.0  # seconds
CHECKED = 120  # rows of each set of those left out


def kept_rows(options: argparse.Namespace, tokenizer: Any, part: str) -> list[Row]:
    """The rows of a pass, or those left out, from a file where they were made before."""
    place = options.work / f"rows-{part}.jsonl"
    if not place.exists():
        seed, left_out = (0, True) if part == "left" else (int(part) + options.seed, False)
        rows = [*asked_rows(options.data, tokenizer, seed, left_out=left_out)]
        if left_out or not options.questions_only:
            rows += claimed_rows(options.data, tokenizer, seed, left_out=left_out)
        if left_out and options.documentation:
            extra = [*extra_rows(options.extra), *documentation_rows(options.documentation, seed)]
            windows = Windows((row.text for row in extra), tokenizer, random.Random(seed))
            rows += [windows.shown(row) for row in extra if row.left_out]
        if not left_out and options.extra:
            rows = [*_short_rows(options, tokenizer, seed), *random.Random(seed).sample(rows, len(rows) // KNOWN)]
        if not left_out and options.edits:
            rows += edited_rows(pages_by_set(options.data), tokenizer, seed, questions_only=options.questions_only)
        if options.desk:
            desk = list(desk_rows(options.desk, held=left_out))
            if not left_out:
                chooser = random.Random(seed)
                rows = chooser.sample(rows, int(len(rows) * BESIDE_DESK))
                answers = [row for row in desk if row.label]
                desk = [*answers, *answers, *(r for r in desk if not r.label and chooser.random() < REFUSED)]
            rows += desk
        lines = (json.dumps([getattr(row, name) for name in Row.__slots__], ensure_ascii=False) for row in rows)
        place.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with place.open(encoding="utf-8") as lines:
        return [Row(*json.loads(line)) for line in lines]


def _short_rows(options: argparse.Namespace, tokenizer: Any, seed: int) -> Iterator[Row]:
    """Sentences, made attributes, and passages of documents with titles."""
    whole = options.documentation is not None
    yield from attribute_rows(seed, MADE // 3 if whole and not options.short else MADE)
    if options.short:
        yield from short_rows(answered_rows(options.data, options.extra), seed, SHORT)
    chooser = random.Random(seed)
    sentences = list(sentence_rows(options.data, options.extra, seed))
    yield from chooser.sample(sentences, len(sentences) // 3 if whole else len(sentences) * 2 // 3)
    passages = [*extra_rows(options.extra), *(documentation_rows(options.documentation, seed) if whole else ())]
    learnt = [row for row in passages if not row.left_out]
    windows = Windows((row.text for row in learnt), tokenizer, chooser)
    yield from map(windows.shown, learnt if whole else chooser.sample(learnt, len(learnt) // KNOWN))


class Trainer:
    """The network, its optimizer, and where it stands."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.shipped = NetworkWeights(FOLDER)
        self.positions = self.shipped.positions()
        self.net = PairNet(options.layers, options.drop).start_from(self.shipped.encoder())
        self.optimizer = torch.optim.AdamW(self.net.groups(options.rate))
        self.rates = [group["lr"] for group in self.optimizer.param_groups]
        self.steps, self.seconds, self.passes, self.seen = 0, 0.0, 0, 0
        self.checkpoint = options.work / "checkpoint.pt"
        if self.checkpoint.exists():
            stored = torch.load(self.checkpoint, weights_only=True)
            self.net.load_state_dict(stored["net"])
            self.optimizer.load_state_dict(stored["optimizer"])
            self.steps, self.seconds, self.passes, self.seen = stored["at"]
        elif options.start:
            stored = NetworkWeights(options.start).reader()
            self.net.load_state_dict({name: torch.from_numpy(np.array(value)) for name, value in stored.items()})

    def keep(self) -> None:
        """Writes the checkpoint and the weights that would ship."""
        state = {"net": self.net.state_dict(), "optimizer": self.optimizer.state_dict()}
        part = self.checkpoint.with_suffix(".part")
        torch.save({**state, "at": (self.steps, self.seconds, self.passes, self.seen)}, part)
        part.replace(self.checkpoint)
        arrays = {name: value.numpy().astype(np.float16) for name, value in self.net.state_dict().items()}
        np.savez(self.options.work / "pairs.npz", **arrays)

    def inputs(self, batch: Batch) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """What the network takes."""
        words = self.shipped.words(batch.ids) + self.positions[: batch.ids.shape[1]]
        return torch.from_numpy(words), *(torch.from_numpy(a) for a in (batch.mask, batch.kinds, batch.matches))

    def loss(self, examples: Sequence[Example]) -> Tensor:
        """Of one batch: labels, what is about it, and where the answer stands."""
        with torch.autocast("cpu", torch.bfloat16, enabled=self.options.bfloat16):
            logits, ends = self.net(*self.inputs(batch_of(examples, 1)))
        logits, ends = logits.float(), ends.float()
        losses = [_label_loss(logits[n], one) for n, one in enumerate(examples)]
        total = torch.stack(losses).mean()
        for side in (0, 1):
            wanted = torch.tensor([one.ends[side] for one in examples])
            if (wanted != UNKNOWN).any():
                total = total + ENDS * F.cross_entropy(ends[:, side], wanted, ignore_index=UNKNOWN)
        return total

    def step(self, examples: Sequence[Example]) -> float:
        """One step of the optimizer."""
        gone = min(1.0, self.seconds / (60 * self.options.minutes))
        scale = min(1.0, (self.steps + 1) / WARM_STEPS) * (0.05 + 0.95 * (1 - gone))
        for group, rate in zip(self.optimizer.param_groups, self.rates, strict=True):
            group["lr"] = rate * scale
        loss = self.loss(examples)
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
        self.optimizer.step()
        self.steps += 1
        return float(loss.detach())


def _label_loss(logits: Tensor, one: Example) -> Tensor:
    if not one.is_claim:
        loss = F.binary_cross_entropy_with_logits(logits[0], torch.tensor(float(one.label)))
        if one.about >= 0:
            loss = loss + 0.1 * F.binary_cross_entropy_with_logits(logits[1], torch.tensor(float(one.about)))
        return loss
    chances = logits[2:].log_softmax(0)
    if one.label == NOT_SUPPORTED:
        return -torch.logsumexp(chances[1:], 0)
    return -chances[one.label]


def scores(trainer: Trainer, examples: Sequence[Example]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Log-odds that each passage answers its question, or bears out its claim."""
    found = np.zeros(len(examples))
    order = sorted(range(len(examples)), key=lambda n: len(examples[n].ids))
    trainer.net.eval()
    with torch.no_grad():
        for start in range(0, len(order), 24):
            at = order[start : start + 24]
            logits, _ = trainer.net(*trainer.inputs(batch_of([examples[n] for n in at], 1)))
            claims = logits[:, 2] - torch.logsumexp(logits[:, 3:], 1)
            found[at] = (
                torch.where(torch.tensor([examples[n].is_claim for n in at]), claims, logits[:, 0]).float().numpy()
            )
    trainer.net.train()
    return found


def check(trainer: Trainer, left: Sequence[Row], most: int) -> dict[str, float]:
    """AUC of each set among those left out."""
    by_set: dict[str, list[Row]] = defaultdict(list)
    for row in left:
        by_set[f"{'claims' if row.is_claim else 'asked'} {row.dataset}"].append(row)
    found = {}
    for name, rows in sorted(by_set.items()):
        some = random.Random(0).sample(rows, min(most, len(rows)))
        labels = np.array([int(row.label == SUPPORTED) if row.is_claim else row.label for row in some])
        found[name] = round(auc(scores(trainer, [example(row) for row in some]), labels), 3)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--from", dest="start", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--questions-only", action="store_true", help="learn nothing of claims")
    parser.add_argument("--edits", action="store_true", help="learn from edited questions and claims too")
    parser.add_argument("--extra", type=Path, help="learn from sentences and attributes too")
    parser.add_argument("--documentation", type=Path, help="learn from sections headed by questions too")
    parser.add_argument("--short", action="store_true", help="learn from answers in few words too")
    parser.add_argument("--desk", type=Path, help="learn from questions as people type them too")
    parser.add_argument("--bfloat16", action="store_true", help="quick where the processor multiplies bfloat16 itself")
    parser.add_argument("--drop", type=float, default=0.1, help="dropout")
    parser.add_argument("--rate", type=float, default=RATE, help="of the encoder's layers; four times that of the rest")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--check", action="store_true", help="only measure what is there, on all rows left out")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    from selfright.retrieval.tokenizer import BilingualTokenizer

    tokenizer, trainer = BilingualTokenizer(), Trainer(options)
    left = kept_rows(options, tokenizer, "left")
    if options.check:
        print(json.dumps(check(trainer, left, 10**9), indent=1))
        return
    while trainer.seconds < 60 * options.minutes:
        train_pass(trainer, kept_rows(options, tokenizer, str(trainer.passes)), left)
    trainer.keep()
    print(json.dumps(check(trainer, left, 400), indent=1), flush=True)


def train_pass(trainer: Trainer, rows: Sequence[Row], left: Sequence[Row]) -> None:
    """Goes on with a pass over the rows, until it is through or time is up."""
    examples = [example(row) for row in rows]
    print(f"pass {trainer.passes}: {len(examples)} pairs", flush=True)
    parts = list(batches(examples, TOKENS, random.Random(trainer.passes)))
    recent: list[float] = []
    kept = checked = trainer.seconds
    for examples in parts[trainer.seen :]:
        started = time.monotonic()
        recent = [*recent[-199:], trainer.step(examples)]
        trainer.seen += 1
        trainer.seconds += time.monotonic() - started
        if trainer.steps % 50 == 0:
            print(f"{trainer.steps} steps, {trainer.seconds:.0f} s, loss {np.mean(recent):.4f}", flush=True)
        if trainer.seconds - kept > KEEP_EVERY:
            trainer.keep()
            kept = trainer.seconds
        if trainer.seconds - checked > CHECK_EVERY:
            print(check(trainer, left, CHECKED), flush=True)
            checked = trainer.seconds
        if trainer.seconds >= 60 * trainer.options.minutes:
            return
    trainer.passes, trainer.seen = trainer.passes + 1, 0


if __name__ == "__main__":
    main()
