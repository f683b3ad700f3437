"""What the graphs of both networks are put together from: nodes, constants, and parameters by name."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from training.e5_file import FourBits

Parameters = Mapping[str, "NDArray[Any] | FourBits"]

WIDTH = 384
EPSILON = 1e-12  # beside a layer's spread
MORE = "com.microsoft"  # onnxruntime's own operators


class GraphBuilder:
    """Nodes and tensors in the order in which they are added."""

    def __init__(self, parameters: Parameters, tensors: list[TensorProto]) -> None:
        self._parameters = parameters
        self._nodes: list[Any] = []
        self._tensors = tensors
        self._names = {tensor.name for tensor in tensors}

    def _matrix(self, name: str) -> "NDArray[np.float32]":
        """The weights of a layer, shape (outputs, inputs)."""
        return np.asarray(self._parameters[f"{name}.weight"], dtype=np.float32)

    def _in_floats(self, source: str, name: str) -> str:
        stored = self._constant(f"{name}.weight", self._matrix(name).T.astype(np.float16))
        # Made floats by the runtime, once: it then keeps only its own form of them.
        return self._node("MatMul", source, self._node("Cast", stored, to=TensorProto.FLOAT))

    def _layer_norm(self, source: str, name: str) -> str:
        scale, shift = self._shared(f"{name}.weight"), self._shared(f"{name}.bias")
        return self._node("LayerNormalization", source, scale, shift, axis=-1, epsilon=EPSILON)

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
