"""Trains the reader, on a CPU core or two, or on a GPU where there is one.

    python -m training.cross_encoder --data DIR --model DIR --out FILE.safetensors [--left-out] [--without SET,SET]

``--left-out`` trains without a quarter of the articles, documents and topics, so that what it makes of these can be
measured; what ships is trained on all. ``--without`` leaves sets out. Weights and a card beside them are written at the
end. Needs torch; multiplies in bfloat16 unless ``--exact``. One core reads about 15 pairs a second.
"""

import argparse
import hashlib
import json
import random
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer as Pieces
from torch import Tensor

from selfright.domain.ports import Tokenizer
from training.cross_encoder_batches import Example, batches, encoder_of, examples
from training.cross_encoder_net import Reader
from training.fitting import auc
from training.pairs import Page, hashes, load_pages

SPAN_WEIGHT, ABOUT_WEIGHT = 0.5, 0.15
LEARNING_RATE, HEAD_FASTER = 2e-4, 5.0
BATCH = 16
EVERY = 200


def encoder_files(folder: Path) -> tuple[Pieces, dict[str, Tensor]]:
    """Tokenizer and weights of the encoder."""
    pieces = Pieces.from_file(str(folder / "tokenizer.json"))
    pieces.no_padding()
    pieces.no_truncation()
    return pieces, load_file(folder / "model.safetensors")


def loss_of(logits: Tensor, ends: Tensor, batch: Sequence[Example]) -> Tensor:
    """Weighted cross-entropies of the two labels, and of the answer's two ends where they are known."""
    weight = torch.tensor([example.weight for example in batch], device=logits.device)
    label = torch.tensor([[float(example.label), float(example.about)] for example in batch], device=logits.device)
    each = F.binary_cross_entropy_with_logits(logits, label * 0.96 + 0.02, reduction="none")
    total = ((each[:, 0] + ABOUT_WEIGHT * each[:, 1]) * weight).sum() / weight.sum()
    at = torch.tensor([example.ends for example in batch], device=logits.device)
    known = at[:, 0] >= 0
    if known.any():
        total = total + SPAN_WEIGHT * F.cross_entropy(ends[known].flatten(0, 1), at[known].flatten())
    return total


def rate(done: float, peak: float) -> float:
    """The learning rate when ``done`` (0…1) of the pairs are read: up in the first 6 %, then down to nothing."""
    return peak * min(done / 0.06, (1 - done) / 0.94 + 0.02)


def padded(batch: Sequence[Example]) -> tuple[Tensor, Tensor]:
    """Word pieces and kinds, (rows, tokens) each."""
    most = max(len(example.ids) for example in batch)
    ids = [[*example.ids, *[0] * (most - len(example.ids))] for example in batch]
    kinds = [[0] * example.question + [1] * (most - example.question) for example in batch]
    return torch.tensor(ids), torch.tensor(kinds)


class Training:
    """The network, its optimiser and what it is measured on."""

    def __init__(self, arguments: argparse.Namespace, weights: dict[str, Tensor]) -> None:
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.reader = Reader().start_from(weights).to(self.device)
        self._half = not arguments.exact
        old, new = self.reader.trained()
        self._parameters = [*old, *new]
        groups = [
            {"params": old, "peak": arguments.rate},
            {"params": new, "peak": HEAD_FASTER * arguments.rate},
        ]
        self._optimizer = torch.optim.AdamW(groups, weight_decay=0.01)
        self.reader.train()

    def run(self, batch: Sequence[Example]) -> tuple[Tensor, Tensor]:
        """Logits and scores of the ends."""
        ids, kinds = padded(batch)
        with torch.autocast(self.device, torch.bfloat16, enabled=self._half):
            found: tuple[Tensor, Tensor] = self.reader(ids.to(self.device), kinds.to(self.device))
        return found

    def step(self, batch: Sequence[Example], done: float) -> float:
        """One step down the gradient; the loss."""
        loss = loss_of(*self.run(batch), batch)
        for group in self._optimizer.param_groups:
            group["lr"] = rate(done, group["peak"])
        self._optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self._parameters, 1.0)
        self._optimizer.step()
        return loss.item()

    @torch.inference_mode()
    def figures(self, found: Sequence[Example]) -> str:
        """AUC, and the share of answers whose first piece is found."""
        self.reader.eval()
        scores, labels, right, known = [], [], 0, 0
        for batch in batches(list(found), 32, random.Random(0)):
            logits, ends = self.run(batch)
            scores += logits[:, 0].tolist()
            labels += [example.label for example in batch]
            starts = ends[:, 0].argmax(1).tolist()
            answered = [(e.ends[0], s) for e, s in zip(batch, starts, strict=True) if e.label and e.ends[0] >= 0]
            right, known = right + sum(a == b for a, b in answered), known + len(answered)
        self.reader.train()
        return f"auc {auc(np.array(scores), np.array(labels)):.3f}, start {right / max(1, known):.2f}"


def asked(pages: Sequence[Page], pieces: Pieces, tokenizer: Tokenizer) -> list[Example]:
    """Every question of the pages on its own page, as the grader would show it."""
    encoder = encoder_of(pages, pieces, tokenizer, random.Random(0))
    return [encoder.example(page, question, 1.0, moved=False) for page in pages for question in page.questions]


def train(arguments: argparse.Namespace) -> None:
    """Reads all examples once, in the shuffled order of the seed."""
    from selfright.retrieval.tokenizer import BilingualTokenizer

    torch.manual_seed(arguments.seed)
    torch.set_num_threads(arguments.threads)
    tokenizer = BilingualTokenizer()
    pieces, weights = encoder_files(arguments.model)
    pages = load_pages(arguments.data)
    kept = [p for p in pages if not (arguments.left_out and p.left_out) and p.dataset not in arguments.without]
    squad = [p for p in pages if p.dataset == "squad2" and p.left_out]
    test = asked(squad, pieces, tokenizer) if squad else []
    found = examples(kept, pieces, tokenizer, arguments.seed)
    training = Training(arguments, weights)
    begun, seen, losses = time.time(), 0, []
    print(
        f"{len(found)} pairs, {sum(len(example.ids) for example in found) / len(found):.0f} word pieces each",
        flush=True,
    )
    for number, batch in enumerate(batches(found, BATCH, random.Random(arguments.seed)), 1):
        losses.append(training.step(batch, seen / len(found)))
        seen += len(batch)
        if number % EVERY == 0:
            took = time.time() - begun
            said = f"{seen} pairs, {seen / took:.1f} a second, loss {np.mean(losses[-EVERY:]):.3f}"
            print(
                said, "| squad2, left out:" if arguments.left_out else "| squad2:", training.figures(test), flush=True
            )
            save_file(training.reader.state_dict(), arguments.out)
    print("end:", training.figures(test), flush=True)
    save(training.reader, arguments, seen)


def save(reader: Reader, arguments: argparse.Namespace, pairs: int) -> None:
    """Writes the weights, and beside them a card: how they came about, from what data, and their hash."""
    save_file({name: value.cpu() for name, value in reader.state_dict().items()}, arguments.out)
    card = {
        "run": {name: str(value) for name, value in vars(arguments).items() if name not in ("data", "model", "out")},
        "pairs": pairs,
        "sha256": hashlib.sha256(arguments.out.read_bytes()).hexdigest(),
        "data": hashes(arguments.data),
    }
    arguments.out.with_suffix(".json").write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", type=Path, required=True, help="folder with model.safetensors and tokenizer.json")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--left-out", action="store_true")
    parser.add_argument("--without", default=(), type=lambda names: tuple(names.split(",")))
    parser.add_argument("--exact", action="store_true", help="multiply in single precision")
    parser.add_argument("--rate", type=float, default=LEARNING_RATE)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    train(parser.parse_args())


if __name__ == "__main__":
    main()
