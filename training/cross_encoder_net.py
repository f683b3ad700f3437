"""The reader as a PyTorch network: MiniLM whose question tokens look at the passage, while the passage looks at itself.

So a passage is read once for all its questions, in training and when it is graded. The weights start as those of the
encoder; nothing but the head is new.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

WIDTH, HEADS, LAYERS = 384, 12, 6
HEAD_WIDTH = WIDTH // HEADS
INNER = 1_536
APART = 2


@dataclass
class Batch:
    """Passages (M, T), what the frozen layers made of them (M, T, 384), questions (N, Q), and their passages (N,)."""

    passages: Tensor  # word pieces, 0 for padding
    states: Tensor
    questions: Tensor  # word pieces, 0 for padding
    owner: Tensor


class Layer(nn.Module):
    """One transformer layer; named as in the checkpoint."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value, self.mixed = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.attended_norm, self.norm = nn.LayerNorm(WIDTH, eps=1e-12), nn.LayerNorm(WIDTH, eps=1e-12)
        self.inner, self.outer = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)

    def keys(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values (rows, heads, tokens, 32)."""
        return _heads(self.key(x)), _heads(self.value(x))

    def forward(self, x: Tensor, keys: Tensor, values: Tensor, mask: Tensor, drop: float) -> Tensor:
        """``x`` (rows, tokens, width) looking at ``keys``; ``mask`` (rows, 1, 1, keys) is True where it may."""
        found = F.scaled_dot_product_attention(_heads(self.query(x)), keys, values, attn_mask=mask)
        mixed = F.dropout(self.mixed(found.transpose(1, 2).flatten(2)), drop, self.training)
        x = self.attended_norm(x + mixed)
        return self.norm(x + F.dropout(self.outer(F.gelu(self.inner(x))), drop, self.training))


def _heads(x: Tensor) -> Tensor:
    return x.unflatten(-1, (HEADS, HEAD_WIDTH)).transpose(1, 2)


class Reader(nn.Module):
    """Embeddings and the first ``APART`` layers stay as they are and read question and passage apart."""

    def __init__(self, drop: float = 0.1) -> None:
        super().__init__()
        self.drop = drop
        self.words = nn.Embedding(30_522, WIDTH)
        self.positions, self.kinds = nn.Embedding(512, WIDTH), nn.Embedding(2, WIDTH)
        self.first_norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.pooled = nn.Linear(3 * WIDTH, WIDTH)
        self.logits = nn.Linear(WIDTH, 2)  # helps to answer; is about it
        self.ends = nn.Linear(WIDTH, 2 * WIDTH)  # where the answer starts and ends

    def start_from(self, checkpoint: Mapping[str, Tensor]) -> "Reader":
        """Takes the encoder's weights."""
        state = self.state_dict()
        for name, source in checkpoint_names().items():
            state[name].copy_(checkpoint[source])
        for new in (self.pooled, self.logits, self.ends):
            nn.init.normal_(new.weight, std=0.02)
        return self

    def trained(self) -> tuple[list[nn.Parameter], list[nn.Parameter]]:
        """The parameters that learn: those that come from the encoder, and the new ones."""
        for module in (self.words, self.positions, self.kinds, self.first_norm, *self.layers[:APART]):
            module.requires_grad_(False)
        new = [p for module in (self.pooled, self.logits, self.ends) for p in module.parameters()]
        return list(self.layers[APART:].parameters()), new

    @torch.no_grad()
    def apart(self, ids: Tensor) -> Tensor:
        """What the frozen layers make of texts (rows, tokens)."""
        at = torch.arange(ids.shape[1])
        x: Tensor = self.first_norm(self.words(ids) + self.positions(at) + self.kinds.weight[0])
        for layer in self.layers[:APART]:
            x = layer(x, *layer.keys(x), (ids > 0)[:, None, None, :], 0.0)
        return x

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Logits (N, 2) and scores of start and end for each token of the passage (N, 2, T)."""
        p, p_mask = batch.states, (batch.passages > 0)[:, None, None, :]
        keys: list[tuple[Tensor, Tensor]] = []
        for layer in self.layers[APART:]:
            keys.append(layer.keys(p))
            p = layer(p, *keys[-1], p_mask, self.drop)
        order = (batch.questions > 0).sum(1).argsort()
        parts = [self._asked(part, p, keys, batch) for part in order.tensor_split(max(1, len(order) // 24))]
        back = order.argsort()
        logits, ends = (torch.cat(columns)[back] for columns in zip(*parts, strict=True))
        return logits, ends

    def _asked(self, rows: Tensor, p: Tensor, keys: list[tuple[Tensor, Tensor]], batch: Batch) -> tuple[Tensor, Tensor]:
        """The same for some of the questions, which are of about the same length."""
        owner, ids = batch.owner[rows], batch.questions[rows]
        ids = ids[:, : int((ids > 0).sum(1).max())]
        mask, p_mask = ids > 0, (batch.passages > 0)[owner]
        both = torch.cat([p_mask, mask], 1)[:, None, None, :]
        q = self.apart(ids)
        for layer, (p_keys, p_values) in zip(self.layers[APART:], keys, strict=True):
            q_keys, q_values = layer.keys(q)
            seen = torch.cat([p_keys[owner], q_keys], 2), torch.cat([p_values[owner], q_values], 2)
            q = layer(q, *seen, both, self.drop)
        p = p[owner]
        q_mean, p_mean = _mean(q, mask), _mean(p, p_mask)
        pooled = torch.tanh(self.pooled(torch.cat([q[:, 0], q_mean, q_mean * p_mean * 4], 1)))
        ends = self.ends(q[:, 0]).unflatten(-1, (2, WIDTH)) @ p.transpose(1, 2) * WIDTH**-0.5
        return self.logits(F.dropout(pooled, self.drop, self.training)), ends.masked_fill(~p_mask[:, None, :], -1e4)


def _mean(x: Tensor, mask: Tensor) -> Tensor:
    kept = mask[:, :, None].float()
    return (x * kept).sum(1) / kept.sum(1)


def checkpoint_names() -> dict[str, str]:
    """Names of our parameters → names of the encoder's, without the head."""
    names = {
        "words.weight": "embeddings.word_embeddings.weight",
        "positions.weight": "embeddings.position_embeddings.weight",
        "kinds.weight": "embeddings.token_type_embeddings.weight",
    }
    parts = {
        "query": "attention.self.query",
        "key": "attention.self.key",
        "value": "attention.self.value",
        "mixed": "attention.output.dense",
        "attended_norm": "attention.output.LayerNorm",
        "inner": "intermediate.dense",
        "outer": "output.dense",
        "norm": "output.LayerNorm",
    }
    for kind in ("weight", "bias"):
        names[f"first_norm.{kind}"] = f"embeddings.LayerNorm.{kind}"
        for number in range(LAYERS):
            for ours, theirs in parts.items():
                names[f"layers.{number}.{ours}.{kind}"] = f"encoder.layer.{number}.{theirs}.{kind}"
    return names
