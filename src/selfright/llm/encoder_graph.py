"""The computation of a sentence encoder as an ONNX graph, and of the network that reads pairs upon its layers.

Input ``embedded``, float32, shape ``(batch, tokens, 384)``, the vectors of words and places summed, and
``attention_mask``, int64, shape ``(batch, tokens)``; output ``embedding``, float32, shape ``(batch, 384)``: the mean of
the token vectors, scaled to length one. The graph holds no large weights: they are handed to the runtime beside it, so
that nothing has to be written to disk. Weights of four bits stay so: the runtime makes them floats as it multiplies.
Several operators are onnxruntime's own, each for what would be three to eight nodes.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from selfright.llm.e5_file import FourBits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Parameters = Mapping[str, NDArray[np.floating[Any]] | FourBits]

HEADS = 12
WIDTH = 384
_EPSILON = 1e-12
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
        shown = self._node("Cast", "attention_mask", to=TensorProto.INT32)
        layer = 0
        while f"encoder.layer.{layer}.output.dense.weight" in self._parameters:
            hidden = self._layer(hidden, shown, f"encoder.layer.{layer}.")
            layer += 1
        found = self._outputs(hidden, mask)
        outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, axes) for name, axes in found.items()]
        graph = helper.make_graph(self._nodes, "encoder", inputs, outputs, self._initializers)
        opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_MORE_OPERATORS, _THEIR_OPSET)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION)
        serialized: bytes = model.SerializeToString()
        return serialized

    def _layer(self, hidden: str, shown: str, name: str) -> str:
        attended = self._product(self._attention(hidden, shown, name), f"{name}attention.output.dense")
        hidden = self._added(hidden, attended, f"{name}attention.output")
        inner = self._product(hidden, f"{name}intermediate.dense")
        inner = self._node("BiasGelu", inner, self._shared(f"{name}intermediate.dense.bias"), domain=_MORE_OPERATORS)
        return self._added(hidden, self._product(inner, f"{name}output.dense"), f"{name}output")

    def _attention(self, hidden: str, shown: str, name: str) -> str:
        """Padding is not looked at: ``shown`` is 1 for pieces, 0 for it."""
        parts = [f"{name}attention.self.{part}" for part in ("query", "key", "value")]
        biases = np.concatenate([np.asarray(self._parameters[f"{part}.bias"], dtype=np.float32) for part in parts])
        asked = [self._product(hidden, part) for part in parts]
        bias = self._constant(f"{name}attention.self.bias", biases)
        return self._node("MultiHeadAttention", *asked, bias, shown, domain=_MORE_OPERATORS, num_heads=HEADS)

    def _added(self, hidden: str, more: str, name: str) -> str:
        """``more`` and its bias added to ``hidden``, and normalized."""
        norm = [self._shared(f"{name}.LayerNorm.{kind}") for kind in ("weight", "bias")]
        bias = self._shared(f"{name}.dense.bias")
        return self._node("SkipLayerNormalization", more, hidden, *norm, bias, domain=_MORE_OPERATORS, epsilon=_EPSILON)

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
        from onnx import TensorProto

        weight = self._parameters[f"{name}.weight"]
        if not isinstance(weight, FourBits):
            held = self._constant(f"{name}.weight", weight.T)
            # Made floats by the runtime, once: it then keeps only its own form of them.
            floats = self._node("Cast", held, to=TensorProto.FLOAT) if weight.dtype == np.float16 else held
            return self._node("MatMul", source, floats)
        rows, blocks = weight.scales.shape
        parts = self._constant(f"{name}.numbers", weight.numbers), self._constant(f"{name}.scales", weight.scales)
        shape = {"N": rows, "K": _BLOCK * blocks, "bits": 4, "block_size": _BLOCK, "accuracy_level": _AS_FLOATS}
        return self._node("MatMulNBits", source, *parts, domain=_MORE_OPERATORS, **shape)

    def _layer_norm(self, source: str, name: str) -> str:
        scale, shift = self._shared(f"{name}.weight"), self._shared(f"{name}.bias")
        return self._node("LayerNormalization", source, scale, shift, axis=-1, epsilon=_EPSILON)

    def _shared(self, name: str) -> str:
        return self._constant(name, np.asarray(self._parameters[name], dtype=np.float32))

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


OUTPUTS = 5
_NOWHERE = np.float32(-1e4)


class PairGraph(EncoderGraph):
    """Inputs as the encoder's, and int64 ``asked``, shape ``(batch, tokens)``: 1 for the pieces of the first text.

    Outputs: ``logits`` (batch, 5), of which two say that a passage answers a question and is about it, three that it
    supports, contradicts or does neither to a claim; ``ends`` (batch, tokens, 2), the chances that the answer, if there
    is one, begins and ends with a piece.
    """

    masks = ("attention_mask", "asked")

    def _outputs(self, hidden: str, mask: str) -> dict[str, list[str | int]]:
        from onnx import TensorProto

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
