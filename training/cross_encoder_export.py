"""Writes the trained reader as one int8 ONNX file; needs neither PyTorch nor a network.

    python -m training.cross_encoder_export --weights FILE.safetensors --out FILE.onnx [--check]

Weights of the linear layers are quantised per column, word vectors per row, both symmetric; what flows between is
quantised by the runtime, but for the layers whose input has outliers. Inputs, int64, (N, T): ``ids``, the word pieces
of question and passage, 0 for padding, and ``kinds``, 0 in the question, 1 from the passage on. Outputs: ``logits``
(N, 2): helps to answer, is about it; ``ends`` (N, T, 2): the chances that the answer begins and ends there.
"""

import argparse
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file

WIDTH, HEADS, LAYERS = 384, 12, 6
HEAD_WIDTH = WIDTH // HEADS
MOST_TOKENS = 256
UNUSED = (104, 999)  # word pieces that no text has: their vectors are left out
OPSET, IR_VERSION = 20, 9
EXACT = "outer"  # what flows into these layers has outliers: only their weights are rounded


class ReaderGraph:
    """The graph, built node by node from the named parameters of ``training.cross_encoder_net.Reader``."""

    def __init__(self, parameters: Mapping[str, NDArray[np.float32]], *, quantised: bool = True) -> None:
        self._parameters = parameters
        self._quantised = quantised
        self._nodes: list[Any] = []
        self._initializers: dict[str, Any] = {}

    def model(self) -> bytes:
        """The serialised model."""
        some = self._positive("ids")
        bias = self._bias(some)
        x = self._embedded()
        for number in range(LAYERS):
            x = self._layer(number, x, bias)
        self._judged(x, some)
        return self._serialised()

    def _serialised(self) -> bytes:
        inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["N", "T"]) for name in ("ids", "kinds")]
        outputs = [
            helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["N", 2]),
            helper.make_tensor_value_info("ends", TensorProto.FLOAT, ["N", "T", 2]),
        ]
        graph = helper.make_graph(self._nodes, "reader", inputs, outputs, list(self._initializers.values()))
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
        serialised: bytes = model.SerializeToString(deterministic=True)
        return serialised

    def _positive(self, numbers: str) -> str:
        """1 where a number is above 0, else 0."""
        above = self._node("Greater", numbers, self._constant("none", np.int64(0)))
        return self._node("Cast", above, to=TensorProto.FLOAT)

    def _bias(self, mask: str) -> str:
        padding = self._node("Sub", self._constant("one", np.float32(1)), mask)
        bias = self._node("Mul", padding, self._constant("minus_infinity", np.float32(-3e4)))
        return self._node("Unsqueeze", bias, self._constant("head_and_query", np.array([1, 2])))

    def _embedded(self) -> str:
        used = self._constant("gap", np.int64(UNUSED[1] - UNUSED[0]))
        shifted = self._node("Sub", "ids", used)
        above = self._node("GreaterOrEqual", "ids", self._constant("above", np.int64(UNUSED[1])))
        rows = self._node("Where", above, shifted, "ids")
        words = self._parameters["words.weight"]
        vectors = self._table("words", np.delete(words, np.s_[slice(*UNUSED)], 0), rows)
        zero, one = self._constant("zero", np.int64(0)), self._constant("step", np.int64(1))
        length = self._node("Squeeze", self._node("Shape", "ids", start=1, end=2))
        kept = self._parameters["positions.weight"][:MOST_TOKENS]
        places = self._table("positions", kept, self._node("Range", zero, length, one))
        kinds = self._node("Gather", self._constant("kinds.weight", self._parameters["kinds.weight"]), "kinds")
        return self._norm(self._node("Add", self._node("Add", vectors, places), kinds), "first_norm")

    def _table(self, name: str, rows: NDArray[np.float32], numbers: str) -> str:
        if not self._quantised:
            return self._node("Gather", self._constant(name, rows), numbers)
        scale = (np.maximum(np.abs(rows).max(1, keepdims=True), 1e-9) / 127).astype(np.float32)
        found = self._node("Gather", self._constant(name, np.round(rows / scale).astype(np.int8)), numbers)
        scales = self._node("Gather", self._constant(f"{name}.scale", scale), numbers)
        return self._node("Mul", self._node("Cast", found, to=TensorProto.FLOAT), scales)

    def _layer(self, number: int, x: str, bias: str) -> str:
        name = f"layers.{number}."
        query, key, value = (self._split(self._linear(x, name + part)) for part in ("query", "key", "value"))
        scores = self._node("MatMul", query, self._node("Transpose", key, perm=[0, 1, 3, 2]))
        scaled = self._node("Mul", scores, self._constant("scale", np.float32(HEAD_WIDTH**-0.5)))
        chances = self._node("Softmax", self._node("Add", scaled, bias), axis=-1)
        found = self._node("Transpose", self._node("MatMul", chances, value), perm=[0, 2, 1, 3])
        joined = self._node("Reshape", found, self._constant("joined", np.array([0, 0, WIDTH])))
        x = self._norm(self._node("Add", x, self._linear(joined, name + "mixed")), name + "attended_norm")
        inner = self._node("Gelu", self._linear(x, name + "inner"))
        return self._norm(self._node("Add", x, self._linear(inner, name + "outer")), name + "norm")

    def _split(self, x: str) -> str:
        shaped = self._node("Reshape", x, self._constant("heads", np.array([0, 0, HEADS, HEAD_WIDTH])))
        return self._node("Transpose", shaped, perm=[0, 2, 1, 3])

    def _judged(self, x: str, some: str) -> None:
        first = self._node("Gather", x, self._constant("first", np.int64(0)), axis=1)
        pooled = [first, *self._ends(x, some), self._asked(x, some)]
        head = self._node("Tanh", self._linear(self._node("Concat", *pooled, axis=1), "pooled"))
        weight = self._constant("logits.weight", self._parameters["logits.weight"].T)
        bias = self._constant("logits.bias", self._parameters["logits.bias"])
        self._node("Add", self._node("MatMul", head, weight), bias, output="logits")

    def _ends(self, x: str, some: str) -> list[str]:
        """What stands where the answer seems to start and to end, (N, 384) each."""
        weight = self._constant("ends.weight", self._parameters["ends.weight"].T)
        scores = self._node("MatMul", x, weight)  # its bias is the same for all tokens and changes nothing
        shown = self._node("Mul", some, self._positive("kinds"))
        hidden = self._node("Sub", self._constant("one", np.float32(1)), shown)
        last = self._constant("last", np.array([-1]))
        away = self._node("Mul", hidden, self._constant("nowhere", np.float32(-1e4)))
        kept = self._node("Add", scores, self._node("Unsqueeze", away, last))
        chances = self._node("Softmax", kept, output="ends", axis=1)
        found = self._node("MatMul", self._node("Transpose", chances, perm=[0, 2, 1]), x)
        return [self._node("Gather", found, self._constant(f"end_{i}", np.int64(i)), axis=1) for i in range(2)]

    def _asked(self, x: str, some: str) -> str:
        """The mean over the question."""
        kept = self._node("Sub", some, self._node("Mul", some, self._positive("kinds")))
        axis = self._constant("tokens", np.array([1]))
        total = self._node("ReduceSum", self._node("Mul", x, self._node("Unsqueeze", kept, "last")), axis, keepdims=0)
        return self._node("Div", total, self._node("ReduceSum", kept, axis, keepdims=1))

    def _linear(self, x: str, name: str) -> str:
        weight = self._parameters[f"{name}.weight"].T
        bias = self._constant(f"{name}.bias", self._parameters[f"{name}.bias"])
        if not self._quantised:
            return self._node("Add", self._node("MatMul", x, self._constant(f"{name}.weight", weight)), bias)
        scale = (np.maximum(np.abs(weight).max(0), 1e-9) / 127).astype(np.float32)
        rounded = self._constant(f"{name}.weight", np.round(weight / scale).astype(np.int8))
        scales = self._constant(f"{name}.scale", scale)
        if name.endswith(EXACT):
            restored = self._node("Mul", self._node("Cast", rounded, to=TensorProto.FLOAT), scales)
            return self._node("Add", self._node("MatMul", x, restored), bias)
        made = [f"{name}_{len(self._nodes)}_{part}" for part in ("q", "scale", "zero")]
        self._nodes.append(helper.make_node("DynamicQuantizeLinear", [x], made))
        product = self._node("Cast", self._node("MatMulInteger", made[0], rounded, made[2]), to=TensorProto.FLOAT)
        return self._node("Add", self._node("Mul", product, self._node("Mul", made[1], scales)), bias)

    def _norm(self, x: str, name: str) -> str:
        parts = [self._constant(f"{name}.{kind}", self._parameters[f"{name}.{kind}"]) for kind in ("weight", "bias")]
        return self._node("LayerNormalization", x, *parts, axis=-1, epsilon=1e-12)

    def _node(self, operator: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        name = output or f"{operator}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def _constant(self, name: str, value: Any) -> str:
        if name not in self._initializers:
            self._initializers[name] = numpy_helper.from_array(np.array(value, order="C"), name)
        return name


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--check", action="store_true", help="only say whether the file is the one these weights make")
    arguments = parser.parse_args()
    made = ReaderGraph(load_file(arguments.weights)).model()
    if arguments.check:
        raise SystemExit(
            0 if arguments.out.read_bytes() == made else f"{arguments.out} does not come from these weights"
        )
    arguments.out.write_bytes(made)
    print(f"{arguments.out}: {len(made) / 1e6:.1f} MB, sha256 {hashlib.sha256(made).hexdigest()}")


if __name__ == "__main__":
    main()
