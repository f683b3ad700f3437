"""Writes a model of ``embedding`` in the forms that other libraries read: ``python embedding_export.py FOLDER``.

It needs PyTorch, transformers, onnx and gguf, and runs in an environment that has them. In the folder are
``config.json``, ``tokenizer.json`` and ``weights.npz``.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import gguf
import numpy as np
import torch
from numpy.typing import NDArray
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

MARKS = {"bos_token": "<s>", "cls_token": "<s>", "eos_token": "</s>", "sep_token": "</s>", "pad_token": "<pad>"}


PARTS = {
    "attention.self.query": "attn_q",
    "attention.self.key": "attn_k",
    "attention.self.value": "attn_v",
    "attention.output.dense": "attn_output",
    "attention.output.LayerNorm": "attn_output_norm",
    "intermediate.dense": "ffn_up",
    "output.dense": "ffn_down",
    "output.LayerNorm": "layer_output_norm",
}
OUTSIDE = {
    "embeddings.word_embeddings": "token_embd",
    "embeddings.position_embeddings": "position_embd",
    "embeddings.token_type_embeddings": "token_types",
    "embeddings.LayerNorm": "token_embd_norm",
}


class Hidden(torch.nn.Module):
    """The last layer's vectors alone: what a graph gives back."""

    def __init__(self, model: BertModel) -> None:
        super().__init__()
        self.model = model

    def forward(self, pieces: torch.Tensor, mask: torch.Tensor, kinds: torch.Tensor) -> torch.Tensor:
        """Whole numbers of shape (texts, pieces) each; floats of shape (texts, pieces, 384)."""
        found: torch.Tensor = self.model(input_ids=pieces, attention_mask=mask, token_type_ids=kinds)[0]
        return found


def main() -> None:
    folder = Path(sys.argv[1])
    model = BertModel(BertConfig(**json.loads((folder / "config.json").read_text())), add_pooling_layer=False).eval()
    with np.load(folder / "weights.npz") as arrays:
        stored = {name: torch.tensor(arrays[name]) for name in arrays.files}
    stored["embeddings.word_embeddings.weight"] = stored.pop("words")
    stored["embeddings.position_embeddings.weight"] = stored.pop("positions")
    stored["embeddings.token_type_embeddings.weight"] = torch.zeros(1, model.config.hidden_size)
    known = model.state_dict()
    missing = set(known) - set(stored)
    if missing:
        raise SystemExit(f"no weights for {sorted(missing)[:5]}; there are {sorted(stored)[:20]}")
    model.load_state_dict({name: stored[name] for name in known})
    model.save_pretrained(folder)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_file=str(folder / "tokenizer.json"),
        model_max_length=512,
        unk_token="<unk>",
        mask_token="<pad>",
        **MARKS,
    )
    tokenizer.save_pretrained(folder)
    modules = (
        ("Transformer", "", "transformers"),
        ("Pooling", "1_Pooling", "pooling"),
        ("Normalize", "2_Normalize", ""),
    )
    kinds = [
        {"idx": number, "name": str(number), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for number, (kind, path, _) in enumerate(modules)
    ]
    (folder / "modules.json").write_text(json.dumps(kinds))
    (folder / "1_Pooling").mkdir(exist_ok=True)
    pooling = {"word_embedding_dimension": model.config.hidden_size, "pooling_mode_mean_tokens": True}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 512, "do_lower_case": False}))
    names = ("input_ids", "attention_mask", "token_type_ids")
    ones = torch.ones(2, 8, dtype=torch.long)
    axes = {name: {0: "batch", 1: "length"} for name in (*names, "last_hidden_state")}
    torch.onnx.export(
        Hidden(model),
        (ones, ones, torch.zeros_like(ones)),
        str(folder / "model.onnx"),
        input_names=list(names),
        output_names=["last_hidden_state"],
        dynamic_axes=axes,
        opset_version=17,
        dynamo=False,
    )
    write_gguf(folder, {name: value.numpy() for name, value in known.items()})


def write_gguf(folder: Path, weights: Mapping[str, NDArray[np.float32]]) -> None:
    """The model as llama.cpp reads it: matrices in eight bits (Q8_0), the pieces of a unigram tokenizer."""
    shape = json.loads((folder / "config.json").read_text())
    pieces = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    file = gguf.GGUFWriter(str(folder / "model.gguf"), "bert")
    file.add_context_length(shape["max_position_embeddings"])
    file.add_embedding_length(shape["hidden_size"])
    file.add_block_count(shape["num_hidden_layers"])
    file.add_feed_forward_length(shape["intermediate_size"])
    file.add_head_count(shape["num_attention_heads"])
    file.add_layer_norm_eps(1e-12)
    file.add_causal_attention(False)
    file.add_pooling_type(gguf.PoolingType.MEAN)
    file.add_tokenizer_model("t5")
    file.add_tokenizer_pre("default")
    file.add_token_list([text.encode() for text, _ in pieces])
    file.add_token_scores([score for _, score in pieces])
    controls = {"<s>": 3, "<pad>": 3, "</s>": 3, "<unk>": 2}  # control, unknown; all others are normal
    file.add_token_types([controls.get(text, 1) for text, _ in pieces])
    file.add_token_type_count(1)
    file.add_add_space_prefix(True)
    file.add_remove_extra_whitespaces(True)
    file.add_bos_token_id(0)
    file.add_pad_token_id(1)
    file.add_eos_token_id(2)
    file.add_sep_token_id(2)
    file.add_unk_token_id(3)
    file.add_add_bos_token(True)
    file.add_add_eos_token(True)
    for name, value in weights.items():
        stem, _, kind = name.rpartition(".")
        if stem.startswith("encoder.layer."):
            _, _, number, part = stem.split(".", 3)
            target = f"blk.{number}.{PARTS[part]}.{kind}"
        else:
            target = f"{OUTSIDE[stem]}.{kind}"
        whole = value.ndim == 2 and "position" not in target and "types" not in target
        stored = gguf.GGMLQuantizationType.Q8_0 if whole else gguf.GGMLQuantizationType.F32
        file.add_tensor(target, gguf.quants.quantize(value.astype(np.float32), stored), raw_dtype=stored)
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()


if __name__ == "__main__":
    main()
