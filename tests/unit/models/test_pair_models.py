"""Pair models of the user's own: what their labels mean, which text comes first, and what is said of a wrong folder."""

import json
import math
import shutil
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers

from selfright.domain.errors import JudgeFailed, MissingExtra, ModelFilesDamaged, SettingsError
from selfright.models import pair_files, pair_runtimes, reader
from selfright.models.files import cpu_session
from selfright.models.pair_models import PairModel, check_named, pair_judge
from selfright.models.pair_readings import Job, Labels, read_labels
from tests.support.pair_models import save_graph, tiny_cross_encoder, tiny_nli, word_tokenizer

TEXTS = (
    "The lighthouse on the northern cape was built in 1874, after three ships had been lost.",
    "Bakers in the valley use rye flour and let the dough rest for a day.",
    "등대는 1874년에 지어졌다.",
)
CLAIM = "The lighthouse was built in 1874."
finite = st.floats(-60, 60)


def score(judge: PairModel, text: str, passage: str) -> float:
    (found,) = judge.read(text, [passage])
    return found.score


def graph(folder: Path, build: Any, inputs: Sequence[str] = ("input_ids",), config: str = '{"num_labels": 1}') -> Path:
    """A folder with a graph that ``build`` makes the nodes and the name and width of its output of."""
    folder.mkdir(parents=True)
    nodes, constants, output = build
    made = helper.make_graph(
        nodes,
        "made",
        [helper.make_tensor_value_info(name, TensorProto.INT64, [1, "length"]) for name in inputs],
        [helper.make_empty_tensor_value_info(output)],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    save_graph(made, folder / "model.onnx")
    word_tokenizer(TEXTS)[0].save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text(config, encoding="utf-8")
    return folder


def constant(value: Any) -> Any:
    """A graph that says the same of every pair, and takes its input so that it is not left out."""
    nodes = [
        helper.make_node("Cast", ["input_ids"], ["numbers"], to=TensorProto.FLOAT),
        helper.make_node("ReduceSum", ["numbers"], ["sum"], keepdims=0),
        helper.make_node("Mul", ["sum", "zero"], ["nothing"]),
        helper.make_node("Cast", ["nothing"], ["typed"], to=helper.np_dtype_to_tensor_dtype(np.asarray(value).dtype)),
        helper.make_node("Add", ["typed", "value"], ["logits"]),
    ]
    return nodes, {"zero": np.float32(0), "value": value}, "logits"


# ---- what the labels mean ----


@given(st.lists(finite, min_size=3, max_size=3), st.permutations(["entailment", "Neutral", "C"]))
def test_three_labels_give_the_log_odds_of_entailment_and_the_chance_of_a_contradiction(
    row: list[float], names: list[str]
) -> None:
    labels = read_labels({"id2label": {str(at): name for at, name in enumerate(names)}}, "claims", "m")
    found = labels.reading(row)
    parts = {name[0].lower(): math.exp(value) for name, value in zip(names, row, strict=True)}
    assert found.score == pytest.approx(math.log(parts["e"] / (parts["n"] + parts["c"])), abs=1e-6)
    assert found.denies == pytest.approx(parts["c"] / sum(parts.values()), abs=1e-9)


def test_logits_beyond_what_an_exponential_holds_are_read_all_the_same() -> None:
    labels = read_labels({"id2label": {0: "e", 1: "n", 2: "c"}}, "claims", "m")
    assert labels.reading([5000.0, 1000.0, 1000.0]).score == pytest.approx(4000 - math.log(2))
    assert labels.reading([-5000.0, 0.0, 3000.0]).denies == 1.0
    for row in ([math.nan, 0.0, 0.0], [0.0, math.inf, 0.0]):
        assert math.isnan(labels.reading(row).score)


@pytest.mark.parametrize(
    ("names", "positive"),
    [
        (("LABEL_0", "LABEL_1"), 1), (("entailment", "not_entailment"), 0), (("not entailment", "Entailment"), 1),
        (("Yes", "No"), 0), (("hallucinated", "consistent"), 1), (("consistent", "made-up"), 0),
        (("fine", "hallucination"), 0), (("irrelevant", "relevant"), 1), (("one", "other"), 1),
    ],
)  # fmt: skip
@pytest.mark.parametrize("job", ["passages", "claims"])
def test_of_two_labels_the_name_tells_which_says_yes(names: tuple[str, str], positive: int, job: Job) -> None:
    for config in ({"id2label": dict(enumerate(names))}, {"label2id": {name: at for at, name in enumerate(names)}}):
        found = read_labels(config, job, "m").reading([3.0, 1.0])
        assert found.score == (2.0 if positive == 0 else -2.0)
        assert found.denies == 0.0


def test_two_labels_of_an_nli_model_tell_a_denial_too() -> None:
    labels = read_labels({"id2label": {0: "contradiction", 1: "entailment"}}, "claims", "m")
    found = labels.reading([2.0, 0.0])
    assert found.score == -2.0
    assert found.denies == pytest.approx(1 / (1 + math.exp(-2)))


def test_where_the_config_is_silent_one_or_two_outputs_are_understood() -> None:
    labels = read_labels({}, "passages", "m")
    assert [labels.fit(width) for width in range(5)] == [False, True, True, False, False]
    assert labels.reading([-1.5]).score == -1.5
    assert labels.reading([-1.5, 1.0]).score == 2.5
    assert Labels(3).fit(3)
    assert not Labels(3).fit(2)


@pytest.mark.parametrize(
    ("config", "job", "message"),
    [
        ({"id2label": {0: "c", 1: "e", 2: "n"}}, "passages", "NLI model.*claim_judge"),
        ({"id2label": {0: "contradiction", 1: "entailment"}}, "passages", "claim_judge"),
        ({"num_labels": 3}, "claims", "3: LABEL_0, LABEL_1, LABEL_2; name them"),
        ({"id2label": {0: "one", 1: "two", 2: "three", 3: "four", 4: "five"}}, "claims", "has 5"),
        ({"id2label": {1: "a", 2: "b"}}, "claims", "from 0 without gaps"),
        ({"id2label": {"a": "b"}}, "claims", "from 0 without gaps"),
    ],
)
def test_labels_that_do_not_fit(config: dict[str, Any], job: Job, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        read_labels(config, job, "m")


# ---- what is judged ----


def test_a_cross_encoder_is_shown_the_question_first_and_an_nli_model_the_passage(tmp_path: Path) -> None:
    reader = pair_judge(str(tiny_cross_encoder(tmp_path / "reader", TEXTS)), "passages")
    assert score(reader, "lighthouse cape", TEXTS[0]) > 5  # all of the question is in the passage, not the reverse
    assert score(reader, TEXTS[0], "lighthouse cape") < 0
    nli = pair_judge(str(tiny_nli(tmp_path / "nli", TEXTS)), "claims")
    assert score(nli, "lighthouse cape", TEXTS[0]) > 5
    assert score(nli, TEXTS[0], "lighthouse cape") < 0
    assert score(nli, "등대는 1874년에", TEXTS[2]) > 5


@pytest.mark.parametrize("labels", [("entailment", "neutral", "contradiction"), ("CONTRADICTION", "n", "Entailment")])
def test_a_denial_is_told_whatever_the_order_of_the_labels(tmp_path: Path, labels: tuple[str, ...]) -> None:
    nli = pair_judge(str(tiny_nli(tmp_path, TEXTS, labels=labels)), "claims")
    (bears, denies, unrelated) = nli.read(CLAIM, [TEXTS[0], TEXTS[0].replace("was", "was not"), TEXTS[1]])
    assert bears.score > 5
    assert denies.denies > 0.9
    assert max(denies.score, unrelated.score) < -5
    assert max(bears.denies, unrelated.denies) < 0.1


@pytest.mark.parametrize("job", ["passages", "claims"])
def test_only_the_passage_is_cut_and_a_text_that_fills_the_window_leaves_it_room(tmp_path: Path, job: Job) -> None:
    make = tiny_cross_encoder if job == "passages" else tiny_nli
    config = {"id2label": {"0": "x"} if job == "passages" else {"0": "e", "1": "n", "2": "c"}}
    judge = pair_judge(str(make(tmp_path, TEXTS, config={**config, "max_position_embeddings": 64})), job)
    filling = "flour " * 40
    assert score(judge, "lighthouse", filling + "lighthouse") > 5  # 40 words and a question fit in 64
    assert score(judge, "lighthouse", filling * 2 + "lighthouse") < 0
    assert score(judge, "lighthouse " * 900, "lighthouse") > 5
    assert len(judge.read("lighthouse " * 900, ["", "flour " * 90_000, "\ud800 half"])) == 3


def trained(kind: str, texts: Sequence[str]) -> Tokenizer:
    """A tokenizer of a family of models, trained on the texts, with the marks of that family around a pair."""
    marks: dict[str, Any] = {"special_tokens": ["<s>", "<pad>", "</s>", "<unk>"], "vocab_size": 300}
    trainer: Any
    if kind == "roberta":
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        trainer = trainers.BpeTrainer(**marks, initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
        tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    elif kind == "xlm-roberta":
        tokenizer = Tokenizer(models.Unigram())
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        trainer = trainers.UnigramTrainer(**marks, unk_token="<unk>")
        tokenizer.post_processor = processors.TemplateProcessing(
            single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
        )
    else:
        tokenizer = Tokenizer(models.WordPiece(unk_token="<unk>"))
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        trainer = trainers.WordPieceTrainer(**marks)
        tokenizer.post_processor = processors.BertProcessing(("</s>", 2), ("<s>", 0))
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


@pytest.mark.parametrize("kind", ["bert", "roberta", "xlm-roberta"])
@pytest.mark.parametrize("job", ["passages", "claims"])
def test_pairs_are_put_together_and_cut_as_the_tokenizer_itself_does_it(kind: str, job: Job, tmp_path: Path) -> None:
    """The graph gives a number that any other piece, place or side would change."""
    nodes = [
        helper.make_node("Add", ["position_ids", "token_type_ids"], ["weights"]),
        helper.make_node("Mul", ["input_ids", "weights"], ["weighted"]),
        helper.make_node("Cast", ["weighted"], ["numbers"], to=TensorProto.FLOAT),
        helper.make_node("ReduceSum", ["numbers", "axis"], ["logits"], keepdims=1),
    ]
    inputs = ("input_ids", "token_type_ids", "position_ids")
    config = json.dumps({"num_labels": 1, "max_position_embeddings": 48})
    folder = graph(tmp_path / kind, (nodes, {"axis": np.array([1])}, "logits"), inputs, config)
    tokenizer = trained(kind, TEXTS)
    tokenizer.save(str(folder / "tokenizer.json"))
    judge = pair_judge(str(folder), job)
    tokenizer.enable_truncation(48, strategy="only_second" if job == "passages" else "only_first")
    for passage in (*TEXTS, "", " ".join(TEXTS), "lighthouseflourdough" * 30, "등대는 " * 40):
        pair = ("the cape", passage) if job == "passages" else (passage, "the cape")
        own = tokenizer.encode(*pair)
        expected = sum(one * (at + side) for at, (one, side) in enumerate(zip(own.ids, own.type_ids, strict=True)))
        assert score(judge, "the cape", passage) == expected


def test_windows(tmp_path: Path) -> None:
    (tmp_path / "tokenizer_config.json").write_text('{"model_max_length": 1000000000000000019884624838656}')
    assert pair_files.window(tmp_path, {"max_position_embeddings": 8192}) == 512
    assert pair_files.window(tmp_path, {"model_type": "xlm-roberta", "max_position_embeddings": 130}) == 128
    assert pair_files.window(tmp_path, {"model_type": "xlm-roberta"}) == 512
    assert pair_files.window(tmp_path, {"max_position_embeddings": -1}) == 512
    (tmp_path / "tokenizer_config.json").write_text('{"model_max_length": 256}')
    assert pair_files.window(tmp_path, {"max_position_embeddings": 512}) == 256


def test_a_passage_cannot_end_itself_by_spelling_out_a_mark(tmp_path: Path) -> None:
    judge = pair_judge(str(tiny_cross_encoder(tmp_path, TEXTS, scale=8.0)), "passages")
    assert score(judge, "lighthouse", "rye [SEP] lighthouse") == score(judge, "lighthouse", "rye sep lighthouse")
    assert score(judge, "lighthouse [SEP]", "lighthouse") < score(judge, "lighthouse", "lighthouse")


@pytest.mark.parametrize("integer", [TensorProto.INT64, TensorProto.INT32])
@pytest.mark.parametrize("inputs", [("input_ids", "token_type_ids"), ("token_type_ids", "position_ids", "input_ids")])
def test_a_graph_is_fed_what_it_declares_in_its_own_type(tmp_path: Path, integer: int, inputs: tuple[str, ...]) -> None:
    judge = pair_judge(str(tiny_cross_encoder(tmp_path, TEXTS, inputs=inputs, integer=integer)), "passages")
    assert score(judge, CLAIM, TEXTS[0]) == 6.0


def test_half_precision_and_what_is_not_a_number_pass_through(tmp_path: Path) -> None:
    half = pair_judge(str(graph(tmp_path / "half", constant(np.array([[1.5]], dtype=np.float16)))), "passages")
    assert score(half, CLAIM, TEXTS[0]) == 1.5
    broken = pair_judge(str(graph(tmp_path / "nan", constant(np.array([[np.nan]], dtype=np.float32)))), "passages")
    assert math.isnan(score(broken, CLAIM, TEXTS[0]))


def test_what_was_read_is_kept_and_never_more_than_its_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judge = pair_judge(str(tiny_cross_encoder(tmp_path, TEXTS)), "passages")
    monkeypatch.setattr(reader, "KEPT", 2)
    first = judge.read(CLAIM, TEXTS)
    judge._backend = None  # what is kept needs no network
    judge._failure = ModelFilesDamaged("not loaded again")
    with pytest.raises(ModelFilesDamaged):
        judge.read(CLAIM, TEXTS)
    assert len(judge._kept) == 2
    assert judge._kept.read(CLAIM, TEXTS[1:], lambda new: []) == first[1:]


# ---- which files, which languages, which name ----


def test_one_network_is_chosen_and_quantized_ones_come_after_it() -> None:
    names = [
        "model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx",
        "onnx/model_qint8_arm64.onnx", "onnx/model_fp16.onnx", "openvino/model.onnx",
    ]  # fmt: skip
    around = ["config.json", "tokenizer.json"]
    while len(names) > 1:
        assert pair_files.choose([*reversed(names), *around], "m").weights == (names.pop(0),)
    with pytest.raises(SettingsError, match="has neither"):
        pair_files.choose([*names, *around], "m")
    data = ["model.onnx", "model.onnx_data", "model.onnx.data", "model_other.onnx_data"]
    assert pair_files.choose([*data, *around], "m").weights == ("model.onnx", "model.onnx.data", "model.onnx_data")
    tensors = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"]
    found = pair_files.choose([*tensors, "model.onnx", "model.safetensors.index.json", "config.json"], "m")
    assert found.backend == "sentence-transformers"  # without tokenizer.json the ONNX file cannot be used
    assert found.weights == tuple(tensors)


@pytest.mark.parametrize(
    ("readme", "languages"),
    [
        ("", ("en", "ko")), ("# No front matter\nlanguage: fr\n", ("en", "ko")),
        ("---\nlicense: mit\n---\n", ("en", "ko")),
        ("---\nlanguage: en\n---\n", ("en",)), ("---\nlicense: mit\nlanguage:\n- ko\n- 'ja'\ntags: []\n---\n", ("ko",)),
        ("---\nlanguage: [de, \"en-US\", kor]\n---\n", ("en", "ko")),
        ("---\nlanguage:\n  - multilingual\n---\n", ("en", "ko")),
        ("---\r\nlanguage: en # ours\r\n---\r\n", ("en",)), ("---\nlanguage: []\n---\n", ("en", "ko")),
    ],
)  # fmt: skip
def test_languages_are_those_that_the_readme_declares(tmp_path: Path, readme: str, languages: tuple[str, ...]) -> None:
    (tmp_path / "README.md").write_bytes(readme.encode())
    assert pair_files.read_languages(tmp_path) == languages


def test_a_model_of_other_languages_is_refused(tmp_path: Path) -> None:
    folder = tiny_cross_encoder(tmp_path, TEXTS, readme="---\nlanguage:\n- fr\n- de\n---\n")
    with pytest.raises(SettingsError, match="declares fr, de"):
        check_named(str(folder), "passages")


def test_the_name_follows_from_the_job_and_from_every_file_that_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tiny_cross_encoder(tmp_path / "Reader", TEXTS)
    first = pair_judge(str(folder), "passages").name
    assert first.startswith("Reader-")
    shutil.copytree(folder, tmp_path / "copies" / "Reader")
    assert pair_judge(str(tmp_path / "copies" / "Reader"), "passages").name == first
    names = {first, pair_judge(str(folder), "claims").name}
    for file in ("model.onnx", "tokenizer.json", "config.json"):
        other = tmp_path / file / "Reader"
        tiny_cross_encoder(other, TEXTS)
        with (other / file).open("ab") as changed:
            changed.write(b" ")
        names.add(pair_judge(str(other), "passages").name)
    monkeypatch.setattr(pair_files, "_WHOLE", 100)
    monkeypatch.setattr(pair_files, "_BLOCK", 50)
    names.add(pair_judge(str(folder), "passages").name)
    content = bytearray((folder / "model.onnx").read_bytes())
    content[-1] ^= 1  # of a large file the end counts as well
    (folder / "model.onnx").write_bytes(content)
    names.add(pair_judge(str(folder), "passages").name)
    assert len(names) == 7


# ---- what is said when it cannot be used ----


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ("./absent/model", "absent/model is not there"), ("/absent/model", "not there"),
        ("~/absent-model", "not there"), ("owner/name@", "owner/name"), ("~nobody-here/x", "looked"),
        ("C:\\models\\reader", "not there"), ("..", "config.json"), ("reader", "owner/name"), ("", "owner/name"),
        ("a/b/c", "owner/name"), ("owner/na me", "owner/name"), ("owner/..name", "owner/name"),
        ("o" * 5000, "owner/name"),
    ],
)  # fmt: skip
def test_what_is_neither_a_folder_nor_a_hub_name(
    named: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    jobs: tuple[Job, ...] = ("passages", "claims")
    for job in jobs:
        with pytest.raises(SettingsError, match=message):
            pair_judge(named, job)


def test_a_folder_goes_before_a_hub_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tiny_cross_encoder(tmp_path / "owner" / "name", TEXTS)
    assert score(pair_judge("owner/name", "passages"), CLAIM, TEXTS[0]) == 6.0


@pytest.mark.parametrize(
    ("without", "extra", "message"),
    [
        ("config.json", "", "config.json, but has none"), ("tokenizer.json", "", "tokenizer.json that belongs"),
        ("model.onnx", "", "has neither"), ("model.onnx", "pytorch_model.bin", "can run code"),
    ],
)  # fmt: skip
def test_files_that_are_missing(tmp_path: Path, without: str, extra: str, message: str) -> None:
    folder = tiny_cross_encoder(tmp_path, TEXTS)
    (folder / without).unlink()
    if extra:
        (folder / extra).write_bytes(b"")
    with pytest.raises(SettingsError, match=message):
        check_named(str(folder), "passages")


@pytest.mark.parametrize("content", ["{", "[]", "\ud800", '{"id2label": ' + "[" * 100_000])
def test_a_config_that_is_none(tmp_path: Path, content: str) -> None:
    folder = tiny_cross_encoder(tmp_path, TEXTS)
    (folder / "config.json").write_bytes(content.encode("utf-8", "surrogatepass"))
    with pytest.raises(SettingsError, match=r"config\.json"):
        check_named(str(folder), "passages")


def test_a_model_of_the_other_job_is_refused_before_it_is_loaded(tmp_path: Path) -> None:
    folder = tiny_nli(tmp_path, TEXTS)
    (folder / "model.onnx").write_bytes(b"")
    with pytest.raises(SettingsError, match="claim_judge"):
        check_named(str(folder), "passages")
    check_named(str(folder), "claims")


def test_safetensors_without_a_head_that_classifies_are_refused(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"")
    (tmp_path / "config.json").write_text(json.dumps({"architectures": ["BertModel"]}))
    with pytest.raises(SettingsError, match="names BertModel"):
        check_named(str(tmp_path), "passages")


def test_what_is_not_installed_is_named_with_its_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"")
    (tmp_path / "config.json").write_text(json.dumps({"architectures": ["BertForSequenceClassification"]}))
    for package in ("sentence_transformers", "huggingface_hub"):
        monkeypatch.delitem(sys.modules, package, raising=False)
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.setattr(sys, "meta_path", [finder for finder in sys.meta_path if not _finds_packages(finder)])
    for named in (str(tmp_path), "owner/name"):
        with pytest.raises(MissingExtra, match=r'pip install "selfright\[judges\]"'):
            check_named(named, "passages")


def _finds_packages(finder: Any) -> bool:
    try:
        return finder.find_spec("huggingface_hub") is not None
    except (AttributeError, ImportError, TypeError):
        return False


def test_a_corrupt_file_is_found_once_and_told_the_same_again(tmp_path: Path) -> None:
    folder = tiny_cross_encoder(tmp_path, TEXTS)
    whole = (folder / "model.onnx").read_bytes()
    (folder / "model.onnx").write_bytes(whole[: len(whole) // 2])
    judge = pair_judge(str(folder), "passages")
    with pytest.raises(ModelFilesDamaged, match=r"model\.onnx.*again") as first:
        judge.read(CLAIM, TEXTS)
    (folder / "model.onnx").write_bytes(whole)
    with pytest.raises(ModelFilesDamaged) as second:
        judge.read(CLAIM, TEXTS)
    assert str(first.value) == str(second.value)
    assert judge.name  # which it is can be told all the same
    assert score(pair_judge(str(folder), "passages"), CLAIM, TEXTS[0]) == 6.0


def test_threads_that_come_at_once_load_it_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judge = pair_judge(str(tiny_cross_encoder(tmp_path, TEXTS)), "passages")
    opened: list[str | bytes] = []

    def slowly(model: str | bytes, threads: int) -> Any:
        opened.append(model)
        time.sleep(0.05)
        return cpu_session(model, threads)

    monkeypatch.setattr(pair_runtimes, "cpu_session", slowly)
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: score(judge, CLAIM, TEXTS[0]), range(4)))
    assert found == [6.0] * 4
    assert len(opened) == 1


def test_a_tokenizer_that_is_none(tmp_path: Path) -> None:
    folder = tiny_cross_encoder(tmp_path, TEXTS)
    (folder / "tokenizer.json").write_text("{}")
    with pytest.raises(ModelFilesDamaged, match=r"tokenizer\.json"):
        pair_judge(str(folder), "passages").read(CLAIM, TEXTS)


@pytest.mark.parametrize("value", [np.zeros((1, 2), np.float32), np.zeros((2, 1), np.float32), np.float32(0)])
def test_outputs_that_do_not_fit_the_labels_are_found_at_the_start(tmp_path: Path, value: Any) -> None:
    judge = pair_judge(str(graph(tmp_path / "made", constant(value))), "passages")
    with pytest.raises(ModelFilesDamaged, match=r"shape \(1, 1\).*but gave \("):
        judge.read(CLAIM, TEXTS)


def test_an_input_that_a_pair_of_texts_has_not_is_named(tmp_path: Path) -> None:
    nodes, constants, output = constant(np.zeros((1, 1), np.float32))
    nodes = [*nodes, helper.make_node("Identity", ["pixel_values"], ["unused"])]
    judge = pair_judge(
        str(graph(tmp_path / "made", (nodes, constants, output), inputs=("input_ids", "pixel_values"))), "passages"
    )
    with pytest.raises(ModelFilesDamaged, match="'pixel_values'"):
        judge.read(CLAIM, TEXTS)


def test_a_run_that_fails_is_told_without_the_texts_and_the_next_one_is_tried(tmp_path: Path) -> None:
    """The graph reshapes its pieces to five, which the pair of the trial at the start has."""
    nodes = [
        helper.make_node("Reshape", ["input_ids", "five"], ["pieces"]),
        helper.make_node("Cast", ["pieces"], ["numbers"], to=TensorProto.FLOAT),
        helper.make_node("ReduceSum", ["numbers", "axis"], ["logits"], keepdims=1),
    ]
    made = graph(tmp_path / "made", (nodes, {"five": np.array([1, 5]), "axis": np.array([1])}, "logits"))
    judge = pair_judge(str(made), "passages")
    assert score(judge, "lighthouse", "flour") > 0
    with pytest.raises(JudgeFailed) as caught:
        judge.read("lighthouse secret", ["flour"])
    assert "secret" not in str(caught.value)
    assert score(judge, "cape", "flour") > 0
