"""The network that reads pairs, in PyTorch: the first layers of the multilingual encoder, and heads of its own.

A text (a question or a claim) and a passage are one sequence of pieces. To the encoder's word and place vectors two
small ones are added: which of the two texts a piece belongs to, and whether the other text has the same piece.
"""

import math
from collections.abc import Mapping

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from torch import Tensor, nn

from training.network_graphs import PARTS

WIDTH, HEADS = 384, 12
INNER = 1_536
NOWHERE = -1e4
OUTPUTS = 5  # answers, is about it; supported, contradicted, neither


class Layer(nn.Module):
    """One transformer layer."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value, self.mixed = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.attended_norm, self.norm = nn.LayerNorm(WIDTH, eps=1e-12), nn.LayerNorm(WIDTH, eps=1e-12)
        self.inner, self.outer = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """``x`` (rows, tokens, width); ``mask`` (rows, 1, 1, tokens) is 0 where there is a piece, else very low."""
        query, key, value = (
            part(x).unflatten(-1, (HEADS, WIDTH // HEADS)).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        )
        # By hand: the fused attention's backward pass takes half of a step on a CPU.
        chances = (query / math.sqrt(WIDTH // HEADS) @ key.transpose(-1, -2) + mask).softmax(-1)
        found = chances.to(value.dtype) @ value
        x = self.attended_norm(x + self.mixed(found.transpose(1, 2).flatten(2)))
        return self.norm(x + self.outer(F.gelu(self.inner(x))))


class PairNet(nn.Module):
    """Five log-odds or logits of a pair (``OUTPUTS``), and scores of the answer's two ends.

    ``drop`` of what goes into the first layer and into the heads is left out in training; inside the layers that takes
    a third of a step on a CPU.
    """

    def __init__(self, layers: int, drop: float = 0.1) -> None:
        super().__init__()
        self.drop = drop
        self.kinds, self.matches = nn.Embedding(2, WIDTH), nn.Embedding(2, WIDTH)
        self.first_norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.layers = nn.ModuleList(Layer() for _ in range(layers))
        self.ends = nn.Linear(WIDTH, 2)
        self.pooled = nn.Linear(4 * WIDTH, WIDTH)
        self.logits = nn.Linear(WIDTH, OUTPUTS)
        for new in (self.pooled, self.logits, self.ends):
            nn.init.normal_(new.weight, std=0.02)
            nn.init.zeros_(new.bias)
        for extra in (self.kinds, self.matches):
            nn.init.zeros_(extra.weight)

    def start_from(self, parameters: Mapping[str, NDArray[np.float32]]) -> "PairNet":
        """Takes the encoder's first layers."""
        state = self.state_dict()
        for name, source in encoder_names(len(self.layers)).items():
            state[name].copy_(torch.from_numpy(np.array(parameters[source])))
        return self

    def groups(self, rate: float) -> list[dict[str, object]]:
        """What the optimizer learns: the encoder's parameters at ``rate``, the new ones at four times that."""
        new = {
            id(p) for part in (self.ends, self.pooled, self.logits, self.kinds, self.matches) for p in part.parameters()
        }
        old, fresh = ([p for p in self.parameters() if (id(p) in new) == is_new] for is_new in (False, True))
        return [{"params": old, "lr": rate, "weight_decay": 0.01}, {"params": fresh, "lr": 4 * rate}]

    def forward(self, embedded: Tensor, mask: Tensor, kinds: Tensor, matches: Tensor) -> tuple[Tensor, Tensor]:
        """``embedded`` (rows, tokens, width): words and places; the others (rows, tokens): ``mask`` True where there is
        a piece, ``kinds`` 0 in the text and 1 in the passage, ``matches`` 1 where the other side has the piece.

        Outputs (rows, ``OUTPUTS``), and scores of start and end of each piece (rows, 2, tokens).
        """
        x: Tensor = self.first_norm(embedded + self.kinds(kinds) + self.matches(matches))
        x = F.dropout(x, self.drop, self.training)
        hidden = torch.zeros_like(mask, dtype=x.dtype).masked_fill(~mask, NOWHERE)[:, None, None, :]
        for layer in self.layers:
            x = layer(x, hidden)
        shown = mask & (kinds == 1)
        ends = self.ends(F.dropout(x, self.drop, self.training)).masked_fill(~shown[:, :, None], NOWHERE)
        found = ends.softmax(1).transpose(1, 2) @ x
        asked = (mask & (kinds == 0)).float()
        mean = (x * asked[:, :, None]).sum(1) / asked.sum(1, keepdim=True)
        pooled = torch.tanh(self.pooled(torch.cat([x[:, 0], found[:, 0], found[:, 1], mean], 1)))
        return self.logits(F.dropout(pooled, self.drop, self.training)), ends.transpose(1, 2)


def encoder_names(layers: int) -> dict[str, str]:
    """Names of our parameters → names of the encoder's."""
    names = {f"first_norm.{kind}": f"embeddings.LayerNorm.{kind}" for kind in ("weight", "bias")}
    for number in range(layers):
        for ours, theirs in PARTS.items():
            for kind in ("weight", "bias"):
                names[f"layers.{number}.{ours}.{kind}"] = f"encoder.layer.{number}.{theirs}.{kind}"
    return names
