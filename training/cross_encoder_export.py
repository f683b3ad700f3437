"""Writes the trained reader as one int8 ONNX file; needs neither PyTorch nor a network.

    python -m training.cross_encoder_export --weights FILE.safetensors --out FILE.onnx [--check]

Weights of the linear layers are quantised per column, word vectors per row, both symmetric; what flows between is
quantised by the runtime, but for the layers whose input has outliers. Inputs: ``passages`` and ``questions``, word
pieces, int64, (M, T) and (N, Q), 0 for padding; ``owner`` (N,), the passage each question is asked of. Output:
``logits`` (N, 2): helps to answer, is about it.
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

WIDTH, HEADS, LAYERS, APART = 384, 12, 6, 2
HEAD_WIDTH = WIDTH // HEADS
MOST_TOKENS = 224
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
        p_mask, q_mask = self._mask("passages"), self._mask("questions")
        p_bias, q_bias = self._bias(p_mask), self._bias(q_mask)
        p, q = self._embedded("passages"), self._embedded("questions")
        for number in range(APART):
            p, q = (self._layer(number, x, self._keys(number, x), bias) for x, bias in ((p, p_bias), (q, q_bias)))
        both = self._node("Concat", self._node("Gather", p_bias, "owner", axis=0), q_bias, axis=3)
        for number in range(APART, LAYERS):
            p_keys, q_keys = self._keys(number, p), self._keys(number, q)
            p = self._layer(number, p, p_keys, p_bias)
            mine = (self._node("Gather", part, "owner", axis=0) for part in p_keys)
            keys, values = (self._node("Concat", a, b, axis=2) for a, b in zip(mine, q_keys, strict=True))
            q = self._layer(number, q, (keys, values), both)
        self._judged(self._node("Gather", self._mean(p, p_mask), "owner", axis=0), q, self._mean(q, q_mask))
        return self._serialised()

    def _serialised(self) -> bytes:
        shapes = {"passages": ["M", "T"], "questions": ["N", "Q"], "owner": ["N"]}
        inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name, shape in shapes.items()]
        output = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["N", 2])
        graph = helper.make_graph(self._nodes, "reader", inputs, [output], list(self._initializers.values()))
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
        serialised: bytes = model.SerializeToString(deterministic=True)
        return serialised

    def _mask(self, ids: str) -> str:
        return self._node("Cast", self._node("Greater", ids, self._constant("none", np.int64(0))), to=TensorProto.FLOAT)

    def _bias(self, mask: str) -> str:
        padding = self._node("Sub", self._constant("one", np.float32(1)), mask)
        bias = self._node("Mul", padding, self._constant("minus_infinity", np.float32(-3e4)))
        return self._node("Unsqueeze", bias, self._constant("head_and_query", np.array([1, 2])))

    def _embedded(self, ids: str) -> str:
        used = self._constant("gap", np.int64(UNUSED[1] - UNUSED[0]))
        shifted = self._node("Sub", ids, used)
        above = self._node("GreaterOrEqual", ids, self._constant("above", np.int64(UNUSED[1])))
        rows = self._node("Where", above, shifted, ids)
        words = self._parameters["words.weight"]
        vectors = self._table("words", np.delete(words, np.s_[slice(*UNUSED)], 0), rows)
        kept = self._parameters["positions.weight"][:MOST_TOKENS] + self._parameters["kinds.weight"][0]
        zero, one = self._constant("zero", np.int64(0)), self._constant("step", np.int64(1))
        length = self._node("Squeeze", self._node("Shape", ids, start=1, end=2))
        places = self._table("positions", kept, self._node("Range", zero, length, one))
        return self._norm(self._node("Add", vectors, places), "first_norm")

    def _table(self, name: str, rows: NDArray[np.float32], numbers: str) -> str:
        if not self._quantised:
            return self._node("Gather", self._constant(name, rows), numbers)
        scale = (np.maximum(np.abs(rows).max(1, keepdims=True), 1e-9) / 127).astype(np.float32)
        found = self._node("Gather", self._constant(name, np.round(rows / scale).astype(np.int8)), numbers)
        scales = self._node("Gather", self._constant(f"{name}.scale", scale), numbers)
        return self._node("Mul", self._node("Cast", found, to=TensorProto.FLOAT), scales)

    def _layer(self, number: int, x: str, looked_at: tuple[str, str], bias: str) -> str:
        name = f"layers.{number}."
        query = self._split(self._linear(x, name + "query"))
        scores = self._node("MatMul", query, self._node("Transpose", looked_at[0], perm=[0, 1, 3, 2]))
        scaled = self._node("Mul", scores, self._constant("scale", np.float32(HEAD_WIDTH**-0.5)))
        chances = self._node("Softmax", self._node("Add", scaled, bias), axis=-1)
        found = self._node("Transpose", self._node("MatMul", chances, looked_at[1]), perm=[0, 2, 1, 3])
        joined = self._node("Reshape", found, self._constant("joined", np.array([0, 0, WIDTH])))
        x = self._norm(self._node("Add", x, self._linear(joined, name + "mixed")), name + "attended_norm")
        inner = self._node("Gelu", self._linear(x, name + "inner"))
        return self._norm(self._node("Add", x, self._linear(inner, name + "outer")), name + "norm")

    def _keys(self, number: int, x: str) -> tuple[str, str]:
        keys, values = (self._split(self._linear(x, f"layers.{number}.{part}")) for part in ("key", "value"))
        return keys, values

    def _split(self, x: str) -> str:
        shaped = self._node("Reshape", x, self._constant("heads", np.array([0, 0, HEADS, HEAD_WIDTH])))
        return self._node("Transpose", shaped, perm=[0, 2, 1, 3])

    def _mean(self, x: str, mask: str) -> str:
        kept = self._node("Mul", x, self._node("Unsqueeze", mask, self._constant("last", np.array([-1]))))
        axis = self._constant("tokens", np.array([1]))
        total = self._node("ReduceSum", kept, axis, keepdims=0)
        return self._node("Div", total, self._node("ReduceSum", mask, axis, keepdims=1))

    def _judged(self, p_mean: str, q: str, q_mean: str) -> None:
        first = self._node("Gather", q, self._constant("first", np.int64(0)), axis=1)
        alike = self._node("Mul", self._node("Mul", q_mean, p_mean), self._constant("four", np.float32(4)))
        pooled = self._node("Tanh", self._linear(self._node("Concat", first, q_mean, alike, axis=1), "pooled"))
        weight = self._constant("logits.weight", self._parameters["logits.weight"].T)
        bias = self._constant("logits.bias", self._parameters["logits.bias"])
        self._node("Add", self._node("MatMul", pooled, weight), bias, output="logits")

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
