"""The reader as a PyTorch network: MiniLM that reads question and passage as one text.

The weights start as those of the encoder; nothing but the head is new. The head looks at the first token, at the
question's mean, and at where the passage seems to answer: the answer's place is learnt beside the label.
"""

from collections.abc import Mapping

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

WIDTH, HEADS, LAYERS = 384, 12, 6
HEAD_WIDTH = WIDTH // HEADS
INNER = 1_536
NOWHERE = -1e4


class Layer(nn.Module):
    """One transformer layer; named as in the checkpoint."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value, self.mixed = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.attended_norm, self.norm = nn.LayerNorm(WIDTH, eps=1e-12), nn.LayerNorm(WIDTH, eps=1e-12)
        self.inner, self.outer = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)

    def forward(self, x: Tensor, mask: Tensor, drop: float) -> Tensor:
        """``x`` (rows, tokens, width); ``mask`` (rows, 1, 1, tokens) is True where there is a token."""
        query, key, value = (_heads(part(x)) for part in (self.query, self.key, self.value))
        found = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        mixed = F.dropout(self.mixed(found.transpose(1, 2).flatten(2)), drop, self.training)
        x = self.attended_norm(x + mixed)
        return self.norm(x + F.dropout(self.outer(F.gelu(self.inner(x))), drop, self.training))


def _heads(x: Tensor) -> Tensor:
    return x.unflatten(-1, (HEADS, HEAD_WIDTH)).transpose(1, 2)


class Reader(nn.Module):
    """Log-odds that a passage helps to answer and that it is about the question; scores of the answer's two ends."""

    def __init__(self, drop: float = 0.1) -> None:
        super().__init__()
        self.drop = drop
        self.words = nn.Embedding(30_522, WIDTH)
        self.positions, self.kinds = nn.Embedding(512, WIDTH), nn.Embedding(2, WIDTH)
        self.first_norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.ends = nn.Linear(WIDTH, 2)
        self.pooled = nn.Linear(4 * WIDTH, WIDTH)
        self.logits = nn.Linear(WIDTH, 2)  # helps to answer; is about it

    def start_from(self, checkpoint: Mapping[str, Tensor]) -> "Reader":
        """Takes the encoder's weights."""
        state = self.state_dict()
        for name, source in checkpoint_names().items():
            state[name].copy_(checkpoint[source])
        for new in (self.pooled, self.logits, self.ends):
            nn.init.normal_(new.weight, std=0.02)
            nn.init.zeros_(new.bias)
        return self

    def trained(self) -> tuple[list[nn.Parameter], list[nn.Parameter]]:
        """The parameters that learn: those that come from the encoder, but for its word vectors, and the new ones."""
        self.words.requires_grad_(False)
        new = [p for module in (self.pooled, self.logits, self.ends) for p in module.parameters()]
        known = {id(p) for p in new}
        return [p for p in self.parameters() if p.requires_grad and id(p) not in known], new

    def forward(self, ids: Tensor, kinds: Tensor) -> tuple[Tensor, Tensor]:
        """``ids`` (rows, tokens), 0 for padding; ``kinds`` 0 in the question, 1 in the passage.

        Logits (rows, 2), and scores of start and end for each token (rows, 2, tokens).
        """
        some = ids > 0
        x: Tensor = self.first_norm(self.words(ids) + self.positions.weight[: ids.shape[1]] + self.kinds(kinds))
        x = F.dropout(x, self.drop, self.training)
        for layer in self.layers:
            x = layer(x, some[:, None, None, :], self.drop)
        x = x.float()
        shown = some & (kinds == 1)
        ends = self.ends(F.dropout(x, self.drop, self.training)).float().masked_fill(~shown[:, :, None], NOWHERE)
        found = ends.softmax(1).transpose(1, 2) @ x
        asked = (some & (kinds == 0)).float()
        mean = (x * asked[:, :, None]).sum(1) / asked.sum(1, keepdim=True)
        pooled = torch.tanh(self.pooled(torch.cat([x[:, 0], found[:, 0], found[:, 1], mean], 1)))
        return self.logits(F.dropout(pooled, self.drop, self.training)).float(), ends.transpose(1, 2)


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
