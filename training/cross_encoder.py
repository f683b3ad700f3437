"""Trains the reader on pages of questions, on two CPU cores.

    python -m training.cross_encoder --data DIR --model DIR --out FILE.safetensors [--start FILE.safetensors]
        [--half 0|1] [--fold-out K] [--without SET,SET] [--gaps 5 --made-only] [--steps N] [--minutes N] [--bf16]

``--half`` trains on one half of the groups so that the other half can be scored held out, ``--fold-out`` on all but one
fifth of them; ``--without`` leaves sets out. ``--bf16`` multiplies in half precision, 1.5 times as fast where the
processor knows it. Weights are written every few minutes, with a card beside them; ``--start`` goes on from there.
Needs torch.
"""

import argparse
import hashlib
import json
import random
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer

from training.cross_encoder_batches import Encoder, Pair, Sampler, windowed
from training.cross_encoder_net import Batch, Reader
from training.fitting import auc
from training.pairs import Page, hashes, load_pages

SPAN_WEIGHT, ABOUT_WEIGHT = 0.05, 0.15
LEARNING_RATE = 2.5e-4


def encoder_files(folder: Path) -> tuple[Tokenizer, dict[str, torch.Tensor]]:
    """Tokenizer and weights of the encoder."""
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer, load_file(folder / "model.safetensors")


def loss_of(reader: Reader, batch: Batch, ends: torch.Tensor, pairs: Sequence[Pair]) -> torch.Tensor:
    """Weighted cross-entropies of the two labels and of the answer's place."""
    logits, places = reader(batch)
    weight = torch.tensor([pair.weight for pair in pairs])
    label = torch.tensor([[float(pair.label), float(pair.about)] for pair in pairs])
    label = label * 0.96 + 0.02
    each = F.binary_cross_entropy_with_logits(logits, label, reduction="none")
    total = ((each[:, 0] + ABOUT_WEIGHT * each[:, 1]) * weight).sum() / weight.sum()
    known = ends[:, 0] >= 0
    if known.any():
        span = F.cross_entropy(places[known].flatten(0, 1), ends[known].flatten(), reduction="none")
        span = span.unflatten(0, (-1, 2)).mean(1) * weight[known]
        total = total + SPAN_WEIGHT * span.sum() / weight[known].sum()
    return total


@torch.inference_mode()
def squad_figures(reader: Reader, encoder: Encoder, pages: Sequence[Page], most: int = 120) -> str:
    """AUC of possible against impossible, and the share of answers whose start is found."""
    reader.eval()
    scores, labels, right, known = [], [], 0, 0
    for start in range(0, min(most, len(pages)), 8):
        group = [page for page in pages[start : start + 8] if page.questions]
        pairs = [
            Pair(n, q.text, q.label, 1, 1.0, q.start, q.end) for n, page in enumerate(group) for q in page.questions
        ]
        if pairs:
            batch, ends = encoder.batch(group, pairs)
            logits, places = reader(batch)
            scores += logits[:, 0].tolist()
            labels += [pair.label for pair in pairs]
            right += int((places[:, 0].argmax(1) == ends[:, 0]).sum())
            known += int((ends[:, 0] >= 0).sum())
    reader.train()
    return f"auc {auc(np.array(scores), np.array(labels)):.3f} start {right / max(1, known):.3f} n {len(labels)}"


def rate(done: float, peak: float) -> float:
    """The learning rate when ``done`` (0…1) of the time is over: up in the first 6 %, then down to nothing."""
    return peak * min(done / 0.06, (1 - done) / 0.94 + 0.02)


def drawn_from(arguments: argparse.Namespace) -> tuple[list[Page], list[Page]]:
    """The pages to train on, and those of squad2 to look at while training (held out where half is left out)."""
    everything = [windowed(page) for page in load_pages(arguments.data) if page.questions or arguments.made_only]
    kept = [p for p in everything if (arguments.half < 0 or p.half == arguments.half) and p.fold != arguments.fold_out]
    kept = [p for p in kept if p.dataset not in arguments.without.split(",")]
    seen = {page.group for page in kept} if arguments.half >= 0 or arguments.fold_out >= 0 else set()
    test = [p for p in everything if p.dataset == "squad2" and p.group not in seen]
    random.Random(5).shuffle(test)
    return [replace(page, questions=()) for page in kept] if arguments.made_only else kept, test


def train(arguments: argparse.Namespace) -> None:
    """Draws batches until the steps or the minutes are over."""
    torch.manual_seed(arguments.seed)
    torch.set_num_threads(arguments.threads)
    tokenizer, weights = encoder_files(arguments.model)
    reader = Reader().start_from(weights)
    if arguments.start:
        reader.load_state_dict(load_file(arguments.start))
    encoder = Encoder(tokenizer, reader)
    kept, test = drawn_from(arguments)
    sampler = Sampler(kept, arguments.seed, arguments.gaps)
    old, new = reader.trained()
    groups = [{"params": old, "peak": arguments.rate}, {"params": new, "peak": 2 * arguments.rate}]
    optimizer = torch.optim.AdamW(groups, weight_decay=0.01)
    reader.train()
    begun, seen, steps, losses = time.time(), 0, 0, [0.0]
    while (done := max(steps / arguments.steps, (time.time() - begun) / 60 / arguments.minutes)) < 1:
        pages, pairs = sampler.batch()
        with torch.autocast("cpu", torch.bfloat16, enabled=arguments.bf16):
            loss = loss_of(reader, *encoder.batch(pages, pairs), pairs)
        losses.append(step(loss, optimizer, done))
        seen, steps = seen + len(pairs), steps + 1
        if steps % arguments.every == 0:
            took = time.time() - begun
            print(f"{steps} {took:.0f}s loss {np.mean(losses[-arguments.every :]):.4f} pairs/s {seen / took:.0f}")
            print(squad_figures(reader, encoder, test), flush=True)
            save(reader, arguments, steps, seen)
    save(reader, arguments, steps, seen)


def step(loss: torch.Tensor, optimizer: torch.optim.Optimizer, done: float) -> float:
    """One step down the gradient; the loss."""
    for group in optimizer.param_groups:
        group["lr"] = rate(done, group["peak"])
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    torch.nn.utils.clip_grad_norm_([p for group in optimizer.param_groups for p in group["params"]], 1.0)
    optimizer.step()
    return loss.item()


def save(reader: Reader, arguments: argparse.Namespace, steps: int, pairs: int) -> None:
    """Writes the weights, and beside them a card: how they came about, from what data, and their hash."""
    save_file(reader.state_dict(), arguments.out)
    before = arguments.start.with_suffix(".json") if arguments.start else None
    card = {
        "run": {name: str(value) for name, value in vars(arguments).items() if name not in ("data", "model", "out")},
        "steps": steps,
        "pairs": pairs,
        "sha256": hashlib.sha256(arguments.out.read_bytes()).hexdigest(),
        "data": hashes(arguments.data),
        "before": json.loads(before.read_text(encoding="utf-8")) if before and before.exists() else None,
    }
    arguments.out.with_suffix(".json").write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", type=Path, required=True, help="folder with model.safetensors and tokenizer.json")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--start", type=Path)
    parser.add_argument("--half", type=int, default=-1)
    parser.add_argument("--fold-out", type=int, default=-1)
    parser.add_argument("--without", default="")
    parser.add_argument("--bf16", action="store_true")
    parser.add_argument("--gaps", type=int, default=0, help="questions made for each page of a step")
    parser.add_argument("--made-only", action="store_true", help="nothing that people asked")
    parser.add_argument("--steps", type=int, default=2_000)
    parser.add_argument("--minutes", type=float, default=1e9, help="stop then, with the rate down as at the last step")
    parser.add_argument("--rate", type=float, default=LEARNING_RATE)
    parser.add_argument("--every", type=int, default=100)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    train(parser.parse_args())


if __name__ == "__main__":
    main()
