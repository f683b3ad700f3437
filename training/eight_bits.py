"""Products of eight bits, by rows, which take less than half the time of four bits or floats.

A row of a layer's input, that of one piece, becomes whole numbers under a scale of its own, so that what comes of a
text does not depend on those beside it in a batch; a column of weights becomes whole numbers of seven bits, since
processors without VNNI add two products in sixteen bits, where eight by eight would not fit. Values of the attention
stay floats: half of the encoder's error came from them alone, and they take a twentieth of the time. Layers are
normalized in plain operators, which the runtime works on in vectors, unlike its own operator for that.
"""

from typing import TYPE_CHECKING

import numpy as np
from onnx import TensorProto, helper

from training.graph_builder import EPSILON, MORE, WIDTH, GraphBuilder, Parameters

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LARGEST, _ZERO = 127, 128  # of an input's numbers, and what stands for zero among them
_LARGEST_WEIGHT = 63
_IN_FLOATS = "attention.self.value"
_SMALLEST = np.float32(1e-9)


class EightBits(GraphBuilder):
    """Adds layers whose matrices are whole numbers: ``.whole``, shape (inputs, outputs), and ``.scale``."""

    def __init__(self, parameters: Parameters, tensors: list[TensorProto]) -> None:
        self._made: dict[str, tuple[str, str, str]] = {}
        super().__init__(parameters, tensors)

    def _product(self, source: str, name: str) -> str:
        """``source`` (batch, tokens, inputs) by the matrix of a layer."""
        if name.endswith(_IN_FLOATS):
            return self._in_floats(source, name)
        weight = self._matrix(name)
        numbers, scales = whole_numbers(weight)
        rows, factors, shape = self._rows(source, weight.shape[1])
        product = self._node(
            "MatMulIntegerToFloat",
            *(rows, self._constant(f"{name}.whole", np.ascontiguousarray(numbers.T))),
            *(self._constant("one", np.float32(1)), self._constant(f"{name}.scale", scales)),
            self._constant("zero_of_rows", np.uint8(_ZERO)),
            domain=MORE,
        )
        last = self._constant(f"width_{len(weight)}", np.array([len(weight)]))
        shape = self._node("Concat", shape, last, axis=0)
        return self._node("Reshape", self._node("Mul", product, factors), shape)

    def _rows(self, source: str, width: int) -> tuple[str, str, str]:
        """The input as rows of whole numbers, what each row is to be multiplied by, and its shape but for the last
        axis; made once for all products of one input."""
        if source not in self._made:
            across = self._constant("across", np.array([1]))
            flat = self._node("Reshape", source, self._constant(f"rows_of_{width}", np.array([-1, width])))
            most = self._node("ReduceMax", self._node("Abs", flat), across, keepdims=0)
            scale = self._node("Mul", most, self._constant("step", np.float32(1 / _LARGEST)))
            scale = self._node("Max", scale, self._constant("smallest", _SMALLEST))
            zero = helper.make_tensor("zero", TensorProto.UINT8, [1], [_ZERO])
            zeros = self._node("ConstantOfShape", self._node("Shape", scale), value=zero)
            rows = self._node("QuantizeLinear", flat, scale, zeros, axis=0)
            shape = self._node("Shape", source, start=0, end=2)
            self._made[source] = rows, self._node("Unsqueeze", scale, across), shape
        return self._made[source]

    def _added(self, hidden: str, more: str, name: str) -> str:
        """``more`` and its bias added to ``hidden``, and normalized."""
        last = self._constant("last_axis", np.array([-1]))
        total = self._node("Add", self._node("Add", more, self._shared(f"{name}.dense.bias")), hidden)
        centred = self._node("Sub", total, self._node("ReduceMean", total, last, keepdims=1))
        spread = self._node("ReduceSumSquare", centred, last, keepdims=1)
        spread = self._node("Mul", spread, self._constant("share", np.float32(1 / WIDTH)))
        spread = self._node("Sqrt", self._node("Add", spread, self._constant("epsilon", np.float32(EPSILON))))
        scaled = self._node("Mul", self._node("Div", centred, spread), self._shared(f"{name}.LayerNorm.weight"))
        return self._node("Add", scaled, self._shared(f"{name}.LayerNorm.bias"))


def whole_numbers(weight: "NDArray[np.float32]") -> "tuple[NDArray[np.int8], NDArray[np.float32]]":
    """A matrix (outputs, inputs) as numbers of seven bits, and the scale of each output."""
    scales = (np.abs(weight).max(axis=1) / _LARGEST_WEIGHT).astype(np.float32)
    return np.round(weight / scales[:, None]).astype(np.int8), scales
