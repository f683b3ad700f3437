"""Tiny pair models, made on the spot, whose judgement can be reasoned about: they count words that two texts share.

They know the words of the ``texts`` they are made from; an unknown word counts, and matches nothing. Words that say
little ("the", "is") and punctuation do not count.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

MARKS = ("[PAD]", "[CLS]", "[SEP]", "[UNK]")
NOT = "not"
NLI_LABELS = ("entailment", "neutral", "contradiction")
_LITTLE = "the|a|an|of|in|on|at|to|is|are|was|were|be|and|or|that|it|its|by|for|with|what|which|when|who|how|where"
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_STEEP = 12.0


def tiny_cross_encoder(
    folder: Path,
    texts: Iterable[str],
    *,
    scale: float = _STEEP,
    config: Mapping[str, Any] | None = None,
    inputs: Sequence[str] = _INPUTS,
    integer: int = TensorProto.INT64,
    file: str = "model.onnx",
    readme: str = "",
) -> Path:
    """A cross-encoder of one logit: ``scale`` times the share of the first text's words in the second, less a half."""
    nodes = [
        *_words(),
        *_share("first", "second", "same"),
        helper.make_node("Sub", ["share", "half"], ["centred"]),
        helper.make_node("Mul", ["centred", "scale"], ["logit"]),
        helper.make_node("Reshape", ["logit", "one_row"], ["logits"]),
    ]
    described = {"id2label": {"0": "LABEL_0"}} if config is None else config
    return _written(folder, texts, _Network(nodes, 1, scale), described, readme, _Form(inputs, integer, file))


def tiny_nli(
    folder: Path,
    texts: Iterable[str],
    *,
    labels: Sequence[str] = NLI_LABELS,
    scale: float = _STEEP,
    config: Mapping[str, Any] | None = None,
    inputs: Sequence[str] = _INPUTS,
    integer: int = TensorProto.INT64,
    file: str = "model.onnx",
    readme: str = "",
) -> Path:
    """An NLI model of three logits, in the order of ``labels``.

    Entailment grows with the share of the second text's words (the hypothesis) in the first (the premise), and
    contradiction does instead when one of the two says "not" and the other does not; neutral stays 0.
    """
    order = [next(at for at, name in enumerate(NLI_LABELS) if name[0] == label[0].lower()) for label in labels]
    nodes = [
        *_words(),
        *_share("second", "first", "same_turned"),
        *_denial(),
        helper.make_node("Sub", ["share", "half"], ["centred"]),
        helper.make_node("Mul", ["centred", "scale"], ["shared"]),
        helper.make_node("Mul", ["share", "scale"], ["whole"]),
        helper.make_node("Mul", ["denied", "whole"], ["weight"]),
        helper.make_node("Sub", ["shared", "weight"], ["entails"]),
        helper.make_node("Sub", ["weight", "half_scale"], ["contradicts"]),
        helper.make_node("Mul", ["shared", "nothing"], ["neutral"]),
        helper.make_node("Concat", ["entails", "neutral", "contradicts"], ["unordered"], axis=0),
        helper.make_node("Gather", ["unordered", "order"], ["ordered"], axis=0),
        helper.make_node("Reshape", ["ordered", "one_row"], ["logits"]),
    ]
    described = {"id2label": {str(at): name for at, name in enumerate(labels)}} if config is None else config
    return _written(folder, texts, _Network(nodes, 3, scale, order), described, readme, _Form(inputs, integer, file))


def _words() -> list[onnx.NodeProto]:
    """Which pieces are words of the first text, and which of the second; which pairs of pieces are the same word."""
    node = helper.make_node
    return [
        node("Cast", ["input_ids"], ["ids"], to=TensorProto.INT64),
        node("Cast", ["token_type_ids"], ["kinds"], to=TensorProto.INT64),
        node("GreaterOrEqual", ["ids", "unknown"], ["counts"]),
        node("Greater", ["ids", "unknown"], ["known"]),
        node("Equal", ["kinds", "one"], ["in_second"]),
        node("Not", ["in_second"], ["in_first"]),
        node("And", ["counts", "in_first"], ["first"]),
        node("And", ["counts", "in_second"], ["second"]),
        node("Unsqueeze", ["ids", "axis_two"], ["down"]),
        node("Unsqueeze", ["ids", "axis_one"], ["across"]),
        node("Equal", ["down", "across"], ["equal"]),
        node("Unsqueeze", ["known", "axis_two"], ["known_down"]),
        node("And", ["equal", "known_down"], ["same"]),
        node("Transpose", ["same"], ["same_turned"], perm=[0, 2, 1]),
    ]


def _share(of: str, among: str, same: str) -> list[onnx.NodeProto]:
    """The share of one text's words that the other has; 0 for a text without words."""
    node = helper.make_node
    return [
        node("Unsqueeze", [among, "axis_one"], ["candidates"]),
        node("And", [same, "candidates"], ["hits"]),
        node("Cast", ["hits"], ["hit_numbers"], to=TensorProto.FLOAT),
        node("ReduceMax", ["hit_numbers", "axis_two"], ["found"], keepdims=0),
        node("Cast", [of], ["counted"], to=TensorProto.FLOAT),
        node("Mul", ["found", "counted"], ["found_counted"]),
        node("ReduceSum", ["found_counted", "axis_one"], ["matches"], keepdims=0),
        node("ReduceSum", ["counted", "axis_one"], ["words"], keepdims=0),
        node("Max", ["words", "at_least"], ["words_or_one"]),
        node("Div", ["matches", "words_or_one"], ["share"]),
    ]


def _denial() -> list[onnx.NodeProto]:
    """1 where one text says "not" and the other does not."""
    node = helper.make_node
    made = [node("Equal", ["ids", "not_id"], ["is_not"])]
    for side in ("first", "second"):
        made += [
            node("And", ["is_not", side], [f"not_{side}"]),
            node("Cast", [f"not_{side}"], [f"not_{side}_number"], to=TensorProto.FLOAT),
            node("ReduceMax", [f"not_{side}_number", "axis_one"], [f"says_not_{side}"], keepdims=0),
        ]
    return [
        *made,
        node("Sub", ["says_not_first", "says_not_second"], ["unlike"]),
        node("Abs", ["unlike"], ["denied"]),
    ]


@dataclass(frozen=True)
class _Network:
    nodes: Sequence[onnx.NodeProto]
    width: int
    scale: float
    order: Sequence[int] = ()


@dataclass(frozen=True)
class _Form:
    inputs: Sequence[str]
    integer: int
    file: str


def _written(
    folder: Path, texts: Iterable[str], network: _Network, config: Mapping[str, Any], readme: str, form: _Form
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer, vocabulary = word_tokenizer(texts)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text(json.dumps({"model_type": "bert", **config}), encoding="utf-8")
    if readme:
        (folder / "README.md").write_text(readme, encoding="utf-8")
    constants = {
        "one": np.int64(1), "unknown": np.int64(vocabulary["[UNK]"]), "not_id": np.int64(vocabulary[NOT]),
        "axis_one": np.array([1]), "axis_two": np.array([2]), "one_row": np.array([1, network.width]),
        "order": np.array(network.order, dtype=np.int64), "half": np.float32(0.5), "at_least": np.float32(1),
        "scale": np.float32(network.scale), "half_scale": np.float32(network.scale / 2), "nothing": np.float32(0),
    }  # fmt: skip
    used = {name for node in network.nodes for name in node.input}
    graph = helper.make_graph(
        network.nodes,
        "tiny",
        [helper.make_tensor_value_info(name, form.integer, [1, "length"]) for name in form.inputs],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, network.width])],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items() if name in used],
    )
    save_graph(graph, folder / form.file)
    return folder


def save_graph(graph: onnx.GraphProto, file: Path) -> None:
    """Writes a graph as a file that onnxruntime of some years reads."""
    file.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10), file)


def word_tokenizer(texts: Iterable[str]) -> tuple[Tokenizer, dict[str, int]]:
    """A tokenizer of whole words that knows those of the texts, marked up as BERT's pairs are; and its vocabulary."""
    splitting = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(r"\w+"), "removed", invert=True),
            pre_tokenizers.Split(Regex(rf"^({_LITTLE})$"), "removed"),
        ]
    )
    normalizing = normalizers.Sequence([normalizers.NFC(), normalizers.Lowercase()])
    found = {word for text in (*texts, NOT) for word, _ in splitting.pre_tokenize_str(normalizing.normalize_str(text))}
    vocabulary = {word: number for number, word in enumerate((*MARKS, *sorted(found)))}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizing
    tokenizer.pre_tokenizer = splitting
    tokenizer.add_special_tokens(["[PAD]", "[CLS]", "[SEP]"])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])],
    )
    return tokenizer, vocabulary
