"""Pair models on PyTorch, beside what transformers itself says of them and beside their own export to ONNX."""

import importlib
import json
import math
import warnings
from pathlib import Path
from typing import Any

import pytest

from selfright.domain.errors import ModelFilesDamaged
from selfright.models.pair_models import pair_judge
from selfright.models.pair_readings import Job
from tests.support.torch_models import NLI_NAMES, tiny_bert

pytest.importorskip("sentence_transformers")

TEXTS = (
    "The lighthouse on the northern cape was built in 1874, after three ships had been lost.",
    "Bakers in the valley use rye flour and let the dough rest for a day.",
    "등대는 1874년에 지어졌다.",
    "",
)
ASKED = "Bakers of the northern cape lost three ships."


def logits(folder: Path, pairs: list[tuple[str, str]]) -> list[list[float]]:
    """What transformers says of each pair by itself."""
    transformers: Any = importlib.import_module("transformers")
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    return [
        model(**tokenizer([pair], return_tensors="pt", truncation=True, max_length=64)).logits[0].tolist()
        for pair in pairs  # in lists of one: of a lone pair an empty text is left out
    ]


def exported(source: Path, target: Path) -> Path:
    """The same model with its network as an ONNX file."""
    transformers: Any = importlib.import_module("transformers")
    torch: Any = importlib.import_module("torch")
    model = transformers.AutoModelForSequenceClassification.from_pretrained(source, attn_implementation="eager").eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(source)
    target.mkdir()
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json"):
        (target / name).write_bytes((source / name).read_bytes())
    names = ["input_ids", "attention_mask", "token_type_ids"]
    given = tokenizer("built lighthouse", "rye flour", return_tensors="pt")
    axes = {name: {0: "rows", 1: "length"} for name in names}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the tracer, which is being retired
        torch.onnx.export(
            model, tuple(given[name] for name in names), str(target / "model.onnx"), input_names=names,
            output_names=["logits"], dynamic_axes=axes, opset_version=17, dynamo=False,
        )  # fmt: skip
    return target


@pytest.mark.parametrize(("labels", "job"), [(1, "passages"), (2, "passages"), (3, "claims")])
def test_both_runtimes_say_what_transformers_says(labels: int, job: Job, tmp_path: Path) -> None:
    folder = tiny_bert(tmp_path / "model", TEXTS, labels=labels)
    rows = logits(folder, [(ASKED, text) if job == "passages" else (text, ASKED) for text in TEXTS])
    if labels == len(NLI_NAMES):
        expected = [e - math.log(math.exp(c) + math.exp(n)) for c, e, n in rows]
        denials = [math.exp(c) / sum(map(math.exp, (c, e, n))) for c, e, n in rows]
    else:
        expected = [row[-1] - (row[0] if labels == 2 else 0.0) for row in rows]
        denials = [0.0] * len(rows)
    assert max(expected) - min(expected) > 0.1
    for place in (folder, exported(folder, tmp_path / "exported")):
        found = pair_judge(str(place), job).read(ASKED, TEXTS)
        assert [one.score for one in found] == pytest.approx(expected, abs=1e-4)
        assert [one.denies for one in found] == pytest.approx(denials, abs=1e-4)


@pytest.mark.parametrize("job", ["passages", "claims"])
def test_both_runtimes_cut_long_passages_at_the_same_place(job: Job, tmp_path: Path) -> None:
    folder = tiny_bert(tmp_path / "model", TEXTS, labels=1)
    long = [" ".join(TEXTS[:2]) * 9, "rye " * 900]
    torch_judge = pair_judge(str(folder), job)
    onnx_judge = pair_judge(str(exported(folder, tmp_path / "exported")), job)
    for text in (ASKED, " ".join(TEXTS[:2]) * 9):
        scores = [one.score for one in torch_judge.read(text, long)]
        assert [one.score for one in onnx_judge.read(text, long)] == pytest.approx(scores, abs=1e-4)


def test_damaged_weights_and_labels_that_do_not_fit(tmp_path: Path) -> None:
    folder = tiny_bert(tmp_path / "model", TEXTS, labels=1)
    (folder / "pytorch_model.bin").write_bytes(b"never opened")
    whole = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ModelFilesDamaged, match="sentence-transformers"):
        pair_judge(str(folder), "passages").read(ASKED, TEXTS)
    (folder / "model.safetensors").write_bytes(whole)
    config = json.loads((folder / "config.json").read_text())
    config |= {"id2label": {"0": "no", "1": "yes"}, "label2id": {"no": 0, "yes": 1}}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelFilesDamaged):
        pair_judge(str(folder), "passages").read(ASKED, TEXTS)
