"""The two networks that ship, as ONNX graphs over one table of word vectors.

Both take ``pieces`` and ``attention_mask``, int64 of shape (batch, tokens). The encoder gives ``embedding``, float32 of
shape (batch, 384): the mean of the token vectors, scaled to length one. The reader takes ``asked`` (1 for pieces of the
first text) and ``matches`` (1 for pieces that the other text has) as well, and gives ``logits`` (batch, 5), of which
two say that a passage answers a question and is about it, three that it supports, contradicts or does neither to a
claim, and ``ends`` (batch, tokens, 2), the chances that the answer, if there is one, begins and ends with a piece.

Word vectors lie beside the graphs in one file of four-bit numbers, which the runtime maps into memory. Several
operators are onnxruntime's own (``com.microsoft``), each for what would be three to eight nodes.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, helper

from training.e5_file import FourBits
from training.eight_bits import EightBits
from training.graph_builder import MORE, WIDTH, Parameters

WORDS_FILE = "words.bin"
HEADS, OUTPUTS = 12, 5
_OPSET, _IR_VERSION = 21, 10
_BLOCK = 32  # numbers under one scale
_NOWHERE = np.float32(-1e4)
# Parts of a layer by the names that training gives them, and by those of the published checkpoint.
PARTS = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "mixed": "attention.output.dense",
    "attended_norm": "attention.output.LayerNorm",
    "inner": "intermediate.dense",
    "outer": "output.dense",
    "norm": "output.LayerNorm",
}


def write_words(words: FourBits, folder: Path) -> None:
    """Writes ``words.bin``: the numbers of all pieces, behind them the scales.

    ``words``: one row a piece, shape (pieces, blocks, 16) and (pieces, blocks).
    """
    # Eight stands for zero in the source; the operator's numbers are signed, so the highest bit of each is turned.
    numbers = words.numbers ^ np.uint8(0x88)
    (folder / WORDS_FILE).write_bytes(numbers.tobytes() + words.scales.astype(np.float16).tobytes())


def _words(pieces: int) -> list[TensorProto]:
    """The two initializers that point into the file."""
    numbers, scales = pieces * WIDTH // 2, pieces * WIDTH // _BLOCK * 2  # bytes
    return [
        _outside("words.numbers", TensorProto.INT4, (pieces, WIDTH), 0, numbers),
        _outside("words.scales", TensorProto.FLOAT16, (pieces, WIDTH // _BLOCK), numbers, scales),
    ]


def _outside(name: str, kind: int, shape: tuple[int, ...], offset: int, length: int) -> TensorProto:
    tensor = TensorProto(name=name, data_type=kind, dims=shape, data_location=TensorProto.EXTERNAL)
    for key, value in (("location", WORDS_FILE), ("offset", offset), ("length", length)):
        tensor.external_data.add(key=key, value=str(value))
    return tensor


class EncoderGraph(EightBits):
    """Built node by node from the parameters by their names in the checkpoint, with as many layers as these have."""

    name = "encoder"
    inputs: tuple[str, ...] = ("pieces", "attention_mask")

    def __init__(self, parameters: Parameters, positions: "NDArray[np.float32]", pieces: int) -> None:
        """``positions``: vectors of places in a text, shape (places, 384); ``pieces``: how many have word vectors."""
        super().__init__(parameters, _words(pieces))
        self.model: ModelProto = self._build(positions)

    def _build(self, positions: "NDArray[np.float32]") -> ModelProto:
        mask = self._node("Cast", "attention_mask", to=TensorProto.FLOAT)
        hidden = self._layer_norm(self._embedded(positions), "embeddings.LayerNorm")
        shown = self._node("Cast", "attention_mask", to=TensorProto.INT32)
        layer = 0
        while f"encoder.layer.{layer}.output.dense.weight" in self._parameters:
            hidden = self._layer(hidden, shown, f"encoder.layer.{layer}.")
            layer += 1
        found = self._outputs(hidden, mask)
        shape = ["batch", "tokens"]
        inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name in self.inputs]
        outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, axes) for name, axes in found.items()]
        graph = helper.make_graph(self._nodes, self.name, inputs, outputs, self._tensors)
        opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(MORE, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION)

    def _embedded(self, positions: "NDArray[np.float32]") -> str:
        """Word and place vectors, summed."""
        scales = self._node("Cast", "words.scales", to=TensorProto.FLOAT)
        shape = {"gather_axis": 0, "quantize_axis": 1, "block_size": _BLOCK, "bits": 4}
        words = self._node("GatherBlockQuantized", "words.numbers", "pieces", scales, domain=MORE, **shape)
        length = self._node("Shape", "pieces", start=1, end=2)
        places = self._constant("positions", positions.astype(np.float32))
        first, axes = self._constant("zero", np.array([0])), self._constant("rows", np.array([0]))
        return self._node("Add", words, self._node("Slice", places, first, length, axes))

    def _layer(self, hidden: str, shown: str, name: str) -> str:
        attended = self._product(self._attention(hidden, shown, name), f"{name}attention.output.dense")
        hidden = self._added(hidden, attended, f"{name}attention.output")
        inner = self._product(hidden, f"{name}intermediate.dense")
        inner = self._node("BiasGelu", inner, self._shared(f"{name}intermediate.dense.bias"), domain=MORE)
        return self._added(hidden, self._product(inner, f"{name}output.dense"), f"{name}output")

    def _attention(self, hidden: str, shown: str, name: str) -> str:
        """Padding is not looked at: ``shown`` is 1 for pieces, 0 for it."""
        parts = [f"{name}attention.self.{part}" for part in ("query", "key", "value")]
        biases = np.concatenate([np.asarray(self._parameters[f"{part}.bias"], dtype=np.float32) for part in parts])
        products = [self._product(hidden, part) for part in parts]
        bias = self._constant(f"{name}attention.self.bias", biases)
        return self._node("MultiHeadAttention", *products, bias, shown, domain=MORE, num_heads=HEADS)

    def _outputs(self, hidden: str, mask: str) -> dict[str, list[str | int]]:
        """Makes the last nodes; names and axes of what comes out."""
        tokens = self._constant("token_axis", np.array([1]))
        last = self._constant("last_axis", np.array([-1]))
        shown = self._node("Mul", hidden, self._node("Unsqueeze", mask, last))
        total = self._node("ReduceSum", shown, tokens, keepdims=0)
        mean = self._node("Div", total, self._node("ReduceSum", mask, tokens, keepdims=1))
        self._node("LpNormalization", mean, output="embedding", axis=-1, p=2)
        return {"embedding": ["batch", WIDTH]}

    def _linear(self, source: str, name: str) -> str:
        return self._node("Add", self._in_floats(source, name), self._shared(f"{name}.bias"))


class ReaderGraph(EncoderGraph):
    """The network that reads pairs upon the encoder's first layers."""

    name = "reader"
    inputs = ("pieces", "attention_mask", "asked", "matches")

    def _embedded(self, positions: "NDArray[np.float32]") -> str:
        """With two small vectors more: which of the texts a piece belongs to, and whether the other one has it."""
        passage = self._node("Sub", self._constant("one_piece", np.array(1)), "asked")
        kinds = self._node("Gather", self._shared("kinds.weight"), passage)
        matches = self._node("Gather", self._shared("matches.weight"), "matches")
        return self._node("Add", self._node("Add", super()._embedded(positions), kinds), matches)

    def _outputs(self, hidden: str, mask: str) -> dict[str, list[str | int]]:
        tokens, last = self._constant("token_axis", np.array([1])), self._constant("last_axis", np.array([-1]))
        asked = self._node("Cast", "asked", to=TensorProto.FLOAT)
        hidden_part = self._node("Sub", self._constant("one", np.float32(1)), self._node("Sub", mask, asked))
        nowhere = self._node("Unsqueeze", self._node("Mul", hidden_part, self._constant("nowhere", _NOWHERE)), last)
        scores = self._node("Add", self._linear(hidden, "ends"), nowhere)
        ends = self._node("Softmax", scores, axis=1, output="ends")
        found = self._node("MatMul", self._node("Transpose", ends, perm=[0, 2, 1]), hidden)
        both = self._node("Reshape", found, self._constant("both_ends", np.array([0, 2 * WIDTH])))
        first = self._node("Gather", hidden, self._constant("first", np.array(0)), axis=1)
        said = self._node("Mul", hidden, self._node("Unsqueeze", asked, last))
        count = self._node("ReduceSum", asked, tokens, keepdims=1)
        mean = self._node("Div", self._node("ReduceSum", said, tokens, keepdims=0), count)
        pooled = self._node("Tanh", self._linear(self._node("Concat", first, both, mean, axis=1), "pooled"))
        self._node("Add", self._in_floats(pooled, "logits"), self._shared("logits.bias"), output="logits")
        return {"logits": ["batch", OUTPUTS], "ends": ["batch", "tokens", 2]}


def checkpoint_names(stored: "Mapping[str, NDArray[Any]]") -> "dict[str, NDArray[Any]]":
    """The reader's parameters, named as training names them, by the names of the graph."""
    renamed = {name: value for name, value in stored.items() if not name.startswith(("layers.", "first_norm."))}
    renamed |= {f"embeddings.LayerNorm.{kind}": stored[f"first_norm.{kind}"] for kind in ("weight", "bias")}
    for name, value in stored.items():
        if name.startswith("layers."):
            _, number, part, kind = name.split(".")
            renamed[f"encoder.layer.{number}.{PARTS[part]}.{kind}"] = value
    return renamed
