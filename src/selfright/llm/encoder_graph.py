"""The computation of a sentence encoder as an ONNX graph, written from its published architecture (BERT, 384 wide).

Input ``embedded``, float32, shape ``(batch, tokens, 384)``, the vectors of words and places summed, and
``attention_mask``, int64, shape ``(batch, tokens)``; output ``embedding``, float32, shape ``(batch, 384)``: the mean of
the token vectors, scaled to length one. The graph holds no large weights: they are handed to the runtime beside it, so
that nothing has to be written to disk. Weights of four bits stay that: the runtime makes them floats as it multiplies.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from selfright.llm.e5_file import FourBits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Parameters = Mapping[str, NDArray[np.float32] | FourBits]

HEADS = 12
WIDTH = 384
_HEAD_WIDTH = WIDTH // HEADS
_OPSET = 20
_IR_VERSION = 9
_INLINE_BYTES = 64  # constants up to this size (shapes, axes) stay in the graph; weights go beside it
_MORE_OPERATORS, _THEIR_OPSET = "com.microsoft", 1
_BLOCK, _AS_FLOATS = 32, 1  # numbers under one scale; multiplied as floats, not as whole numbers of eight bits


class EncoderGraph:
    """The graph, built node by node from the named parameters of the checkpoint, with as many layers as these have.

    ``model`` is the serialized graph; ``weights`` are the arrays the runtime needs beside it, by initializer name. They
    must live as long as the session does.
    """

    masks: tuple[str, ...] = ("attention_mask",)

    def __init__(self, parameters: "Parameters") -> None:
        self._parameters: Parameters = parameters
        self._nodes: list[Any] = []
        self._initializers: list[Any] = []
        self.weights: dict[str, NDArray[Any]] = {}
        self.model: bytes = self._build()
        self._parameters = {}  # the graph has its own copies

    def _build(self) -> bytes:
        from onnx import TensorProto, helper

        shape = ["batch", "tokens"]
        inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name in self.masks]
        mask = self._node("Cast", "attention_mask", to=TensorProto.FLOAT)
        inputs.append(helper.make_tensor_value_info("embedded", TensorProto.FLOAT, [*shape, WIDTH]))
        hidden = self._layer_norm("embedded", "embeddings.LayerNorm")
        bias = self._attention_bias(mask)
        layer = 0
        while f"encoder.layer.{layer}.output.dense.weight" in self._parameters:
            hidden = self._layer(hidden, bias, f"encoder.layer.{layer}.")
            layer += 1
        found = self._outputs(hidden, mask)
        outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, axes) for name, axes in found.items()]
        graph = helper.make_graph(self._nodes, "encoder", inputs, outputs, self._initializers)
        opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_MORE_OPERATORS, _THEIR_OPSET)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION)
        serialized: bytes = model.SerializeToString()
        return serialized

    def _attention_bias(self, mask: str) -> str:
        """Zero where a token may be looked at, a large negative number where there is only padding."""
        padding = self._node("Sub", self._constant("one", np.float32(1)), mask)
        bias = self._node("Mul", padding, self._constant("minus_infinity", np.float32(-3e4)))
        return self._node("Unsqueeze", bias, self._constant("head_and_query_axes", np.array([1, 2])))

    def _layer(self, hidden: str, bias: str, name: str) -> str:
        attended = self._linear(self._attention(hidden, bias, name), name + "attention.output.dense")
        hidden = self._layer_norm(self._node("Add", attended, hidden), name + "attention.output.LayerNorm")
        inner = self._node("Gelu", self._linear(hidden, name + "intermediate.dense"))
        outer = self._linear(inner, name + "output.dense")
        return self._layer_norm(self._node("Add", outer, hidden), name + "output.LayerNorm")

    def _attention(self, hidden: str, bias: str, name: str) -> str:
        parts = [f"{name}attention.self.{part}" for part in ("query", "key", "value")]
        split = self._constant("heads", np.array([0, 0, HEADS, _HEAD_WIDTH]))
        query, key, value = (self._node("Reshape", self._linear(hidden, part), split) for part in parts)
        scores = self._node(
            "MatMul",
            self._node("Transpose", query, perm=[0, 2, 1, 3]),
            self._node("Transpose", key, perm=[0, 2, 3, 1]),
        )
        scaled = self._node("Mul", scores, self._constant("scale", np.float32(_HEAD_WIDTH**-0.5)))
        weights = self._node("Softmax", self._node("Add", scaled, bias), axis=-1)
        mixed = self._node("MatMul", weights, self._node("Transpose", value, perm=[0, 2, 1, 3]))
        joined = self._node("Transpose", mixed, perm=[0, 2, 1, 3])
        return self._node("Reshape", joined, self._constant("joined", np.array([0, 0, WIDTH])))

    def _outputs(self, hidden: str, mask: str) -> dict[str, list[str | int]]:
        """Makes the last nodes; names and axes of what comes out."""
        self._pooled(hidden, mask, output="embedding")
        return {"embedding": ["batch", WIDTH]}

    def _pooled(self, hidden: str, mask: str, output: str) -> None:
        tokens = self._constant("token_axis", np.array([1]))
        last = self._constant("last_axis", np.array([-1]))
        kept = self._node("Mul", hidden, self._node("Unsqueeze", mask, last))
        total = self._node("ReduceSum", kept, tokens, keepdims=0)
        mean = self._node("Div", total, self._node("ReduceSum", mask, tokens, keepdims=1))
        self._node("LpNormalization", mean, output=output, axis=-1, p=2)

    def _linear(self, source: str, name: str) -> str:
        return self._node("Add", self._product(source, name), self._shared(f"{name}.bias"))

    def _product(self, source: str, name: str) -> str:
        weight = self._parameters[f"{name}.weight"]
        if not isinstance(weight, FourBits):
            return self._node("MatMul", source, self._constant(f"{name}.weight", weight.T))
        rows, blocks = weight.scales.shape
        parts = self._constant(f"{name}.numbers", weight.numbers), self._constant(f"{name}.scales", weight.scales)
        shape = {"N": rows, "K": _BLOCK * blocks, "bits": 4, "block_size": _BLOCK, "accuracy_level": _AS_FLOATS}
        return self._node("MatMulNBits", source, *parts, domain=_MORE_OPERATORS, **shape)

    def _layer_norm(self, source: str, name: str) -> str:
        scale, shift = self._shared(f"{name}.weight"), self._shared(f"{name}.bias")
        return self._node("LayerNormalization", source, scale, shift, axis=-1, epsilon=1e-12)

    def _shared(self, name: str) -> str:
        return self._constant(name, np.asarray(self._parameters[name]))

    def _node(self, operator: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        from onnx import helper

        name = output or f"{operator}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def _constant(self, name: str, value: "NDArray[Any] | np.float32") -> str:
        from onnx import TensorProto, helper, numpy_helper

        if name in self.weights or any(made.name == name for made in self._initializers):
            return name
        array = np.ascontiguousarray(value) if np.ndim(value) else np.asarray(value)
        if array.nbytes <= _INLINE_BYTES:
            self._initializers.append(numpy_helper.from_array(array, name))
            return name
        beside = TensorProto(name=name, data_type=helper.np_dtype_to_tensor_dtype(array.dtype), dims=array.shape)
        beside.data_location = TensorProto.EXTERNAL
        beside.external_data.add(key="location", value="beside")
        self._initializers.append(beside)
        self.weights[name] = array
        return name
