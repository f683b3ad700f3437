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
from onnx import ModelProto, TensorProto, helper, numpy_helper

from training.e5_file import FourBits

Parameters = Mapping[str, "NDArray[Any] | FourBits"]

WORDS_FILE = "words.bin"
HEADS, WIDTH, OUTPUTS = 12, 384, 5
_EPSILON = 1e-12
_OPSET, _IR_VERSION = 21, 10
_MORE = "com.microsoft"
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


class WordTable:
    """Word vectors of four bits, written to a file once and named by both graphs."""

    def __init__(self, words: FourBits) -> None:
        """``words``: one row a piece, shape (pieces, blocks, 16) and (pieces, blocks)."""
        # Eight stands for zero in the source; the operator's numbers are signed, so the highest bit of each is turned.
        self._numbers = words.numbers ^ np.uint8(0x88)
        self._scales = words.scales.astype(np.float16)

    def write(self, folder: Path) -> None:
        """Writes ``words.bin``: the numbers of all pieces, behind them the scales."""
        (folder / WORDS_FILE).write_bytes(self._numbers.tobytes() + self._scales.tobytes())

    def tensors(self) -> list[TensorProto]:
        """The two initializers that point into the file."""
        rows, blocks = self._scales.shape
        numbers = _outside("words.numbers", TensorProto.INT4, (rows, _BLOCK * blocks), 0, self._numbers.nbytes)
        scales = (rows, blocks)
        return [
            numbers,
            _outside("words.scales", TensorProto.FLOAT16, scales, self._numbers.nbytes, self._scales.nbytes),
        ]


def _outside(name: str, kind: int, shape: tuple[int, ...], offset: int, length: int) -> TensorProto:
    tensor = TensorProto(name=name, data_type=kind, dims=shape, data_location=TensorProto.EXTERNAL)
    for key, value in (("location", WORDS_FILE), ("offset", offset), ("length", length)):
        tensor.external_data.add(key=key, value=str(value))
    return tensor


class EncoderGraph:
    """Built node by node from the parameters by their names in the checkpoint, with as many layers as these have."""

    name = "encoder"
    inputs: tuple[str, ...] = ("pieces", "attention_mask")

    def __init__(self, parameters: Parameters, positions: "NDArray[np.float32]", words: WordTable) -> None:
        """``positions``: vectors of places in a text, shape (places, 384)."""
        self._parameters = parameters
        self._nodes: list[Any] = []
        self._tensors = words.tensors()
        self._names = {tensor.name for tensor in self._tensors}
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
        opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_MORE, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION)

    def _embedded(self, positions: "NDArray[np.float32]") -> str:
        """Word and place vectors, summed."""
        scales = self._node("Cast", "words.scales", to=TensorProto.FLOAT)
        shape = {"gather_axis": 0, "quantize_axis": 1, "block_size": _BLOCK, "bits": 4}
        words = self._node("GatherBlockQuantized", "words.numbers", "pieces", scales, domain=_MORE, **shape)
        length = self._node("Shape", "pieces", start=1, end=2)
        places = self._constant("positions", positions.astype(np.float32))
        first, axes = self._constant("zero", np.array([0])), self._constant("rows", np.array([0]))
        return self._node("Add", words, self._node("Slice", places, first, length, axes))

    def _layer(self, hidden: str, shown: str, name: str) -> str:
        attended = self._product(self._attention(hidden, shown, name), f"{name}attention.output.dense")
        hidden = self._added(hidden, attended, f"{name}attention.output")
        inner = self._product(hidden, f"{name}intermediate.dense")
        inner = self._node("BiasGelu", inner, self._shared(f"{name}intermediate.dense.bias"), domain=_MORE)
        return self._added(hidden, self._product(inner, f"{name}output.dense"), f"{name}output")

    def _attention(self, hidden: str, shown: str, name: str) -> str:
        """Padding is not looked at: ``shown`` is 1 for pieces, 0 for it."""
        parts = [f"{name}attention.self.{part}" for part in ("query", "key", "value")]
        biases = np.concatenate([np.asarray(self._parameters[f"{part}.bias"], dtype=np.float32) for part in parts])
        products = [self._product(hidden, part) for part in parts]
        bias = self._constant(f"{name}attention.self.bias", biases)
        return self._node("MultiHeadAttention", *products, bias, shown, domain=_MORE, num_heads=HEADS)

    def _added(self, hidden: str, more: str, name: str) -> str:
        """``more`` and its bias added to ``hidden``, and normalized."""
        norm = [self._shared(f"{name}.LayerNorm.{kind}") for kind in ("weight", "bias")]
        bias = self._shared(f"{name}.dense.bias")
        return self._node("SkipLayerNormalization", more, hidden, *norm, bias, domain=_MORE, epsilon=_EPSILON)

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
        return self._node("Add", self._product(source, name), self._shared(f"{name}.bias"))

    def _product(self, source: str, name: str) -> str:
        return self._in_floats(source, f"{name}.weight", np.asarray(self._parameters[f"{name}.weight"]))

    def _in_floats(self, source: str, name: str, weight: "NDArray[Any]") -> str:
        stored = self._constant(name, weight.T)
        # Made floats by the runtime, once: it then keeps only its own form of them.
        floats = self._node("Cast", stored, to=TensorProto.FLOAT) if weight.dtype == np.float16 else stored
        return self._node("MatMul", source, floats)

    def _layer_norm(self, source: str, name: str) -> str:
        scale, shift = self._shared(f"{name}.weight"), self._shared(f"{name}.bias")
        return self._node("LayerNormalization", source, scale, shift, axis=-1, epsilon=_EPSILON)

    def _shared(self, name: str) -> str:
        return self._constant(name, np.asarray(self._parameters[name], dtype=np.float32))

    def _node(self, operator: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        name = output or f"{operator}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def _constant(self, name: str, value: "NDArray[Any] | np.float32") -> str:
        if name not in self._names:
            array = np.ascontiguousarray(value) if np.ndim(value) else np.asarray(value)
            self._tensors.append(numpy_helper.from_array(array, name))
            self._names.add(name)
        return name


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
        self._node("Add", self._product(pooled, "logits"), self._shared("logits.bias"), output="logits")
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
