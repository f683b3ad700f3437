"""Fits a matrix that brings a question's vector nearer to what answers it; an experiment, nothing of it ships.

    python -m training.fit_queries --desk DIR --data DIR --out query.npz

People ask in other words than documents use. The encoder stays as it is, and so do the vectors of passages; a
question's vector would be multiplied by the identity plus ``change``, and made of length one again. It is learnt from
``--desk`` (what ``training.desk_rows`` made, without the sets held back) and from sets of ``--data`` that may be
trained on: the softmax over all passages of a set, at a temperature, of those that answer. It changes nothing in the
direction that tells English passages from Korean ones, which is ``fit_leaning``'s. Prints how often a passage that
answers is among the first of the cosines alone, before and after. Searches find more with it, whole turns do not
answer more (``docs/research/search.md``). Needs PyTorch.
"""

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from selfright.domain.ports import Embedder
from selfright.llm.embedding_cache import CachedEmbedder
from selfright.models.encoder import E5
from training.fusion_lists import embed
from training.fusion_tasks import Task, beir, desk, natural, paired

TEMPERATURE, RIDGE, RATE, ROUNDS = 0.03, 1.0, 1e-4, 60
SHARE = 0.6  # of what is learnt: whole searches of eight sets find as much as with all of it, and other texts keep more
BATCH, MOST, WIDTH = 64, 400, 384
LEARNT = ("mtrag", "squad2", "belebele_en", "clapnq")


@dataclass(frozen=True)
class Asked:
    """Questions (questions, width), passages (passages, width), and which passages answer (questions, passages)."""

    name: str
    questions: Tensor
    passages: Tensor
    answers: Tensor
    learnt: bool


def of_task(task: Task, encoder: E5, passages: Embedder) -> Asked:
    """A set of questions with graded passages."""
    vectors = embed([f"{title}\n{text}" if title else text for _, title, text in task.corpus], passages)
    asked = task.queries[:MOST]
    answers = np.array([[grades.get(name, 0) > 0 for name, _, _ in task.corpus] for _, grades in asked])
    questions = np.array([encoder.embed_query(text) for text, _ in asked])
    learnt = task.family != "desk" or task.train
    asking, given, right = map(torch.from_numpy, (questions, vectors, answers))
    return Asked(task.name, asking, given, right, learnt)


def every_task(data: Path) -> Iterator[Task]:
    """The sets of ``data`` that are learnt from, questions in one language over passages in the other among them."""
    yield from (task for task in (*natural(data), *paired(data)) if task.name in LEARNT)
    english, korean = (beir(f"belebele_{name}", data / "belebele_ko_en" / name) for name in ("en", "ko"))
    yield korean
    yield replace(english, name="belebele_en→ko", corpus=korean.corpus)
    yield replace(korean, name="belebele_ko→en", corpus=english.corpus)


def fit(sets: Sequence[Asked], step: Tensor) -> Tensor:
    """What is added to the identity, shape (width, width); along ``step`` (width,) nothing changes."""
    free = torch.zeros(WIDTH, WIDTH, requires_grad=True)
    across = torch.eye(WIDTH) - step.outer(step) / step.square().sum()
    optimizer = torch.optim.Adam([free], lr=RATE)
    for _ in range(ROUNDS):
        for one in sets:
            change = free @ across
            some = torch.randperm(len(one.questions))[:BATCH]
            asked = one.questions[some] + one.questions[some] @ change
            scores = asked @ one.passages.T / TEMPERATURE
            told = scores.masked_fill(~one.answers[some], -torch.inf)
            loss = (scores.logsumexp(1) - told.logsumexp(1)).mean() + RIDGE * change.square().sum()
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
    return SHARE * (free @ across).detach()


def found(one: Asked, change: Tensor) -> dict[int, float]:
    """The share of the questions with a passage that answers among the first few."""
    scores = (one.questions + one.questions @ change) @ one.passages.T
    best = scores.masked_fill(~one.answers, -torch.inf).max(1).values
    places = (scores > best[:, None]).sum(1)
    return {few: round(float((places < few).float().mean()), 3) for few in (1, 5, 10)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--desk", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--vectors", type=Path, default=Path(tempfile.gettempdir()) / "selfright-bench.sqlite")
    options = parser.parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(2)
    encoder = E5()
    passages = CachedEmbedder(encoder, options.vectors)
    sets = [of_task(task, encoder, passages) for task in (*desk(options.desk), *every_task(options.data))]
    english, korean = (one.passages.mean(0) for name in ("en", "ko") for one in sets if one.name == f"belebele_{name}")
    change = fit([one for one in sets if one.learnt], english - korean)
    for one in sets:
        before, after = found(one, torch.zeros_like(change)), found(one, change)
        print(f"{one.name:16}{'' if one.learnt else 'not learnt':12}{len(one.questions):5}  {before} → {after}")
    np.savez_compressed(options.out, change=change.numpy().astype(np.float16))


if __name__ == "__main__":
    main()
