"""The network that reads pairs as an ONNX graph: layers of the encoder, then heads of its own."""

import numpy as np

from selfright.llm.encoder_graph import WIDTH, EncoderGraph

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
