"""A user's own judges: what their labels mean, what is said of what cannot be used, and what they say of pairs."""

import importlib
import json
import math
import shutil
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.errors import (
    JudgeFailed,
    MissingExtra,
    ModelFilesDamaged,
    SettingsError,
)
from selfright.models import cross_encoder
from selfright.models.cross_encoder import CrossEncoderJudge, Job, Labels, read_labels
from tests.support.torch_models import NLI_NAMES, tiny_bert

TEXTS = (
    "The lighthouse on the northern cape was built in 1874, after three ships had been lost.",
    "Bakers in the valley use rye flour and let the dough rest for a day.",
    "등대는 1874년에 지어졌다.",
    "",
)
ASKED = "Bakers of the northern cape lost three ships."
HEAD = {"architectures": ["BertForSequenceClassification"]}
NLI = {**HEAD, "id2label": {"0": "entailment", "1": "neutral", "2": "contradiction"}}
finite = st.floats(-60, 60)


def saved(folder: Path, config: Any = None, readme: str = "") -> Path:
    """A folder that looks like a model until it is loaded."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps({**HEAD, "id2label": {"0": "x"}} if config is None else config))
    (folder / "model.safetensors").write_bytes(b"weights")
    (folder / "README.md").write_text(readme, encoding="utf-8")
    return folder


class Network:
    """Says 6 of every passage that is not longer than five words."""

    def __init__(self) -> None:
        self.pairs: list[tuple[str, str]] = []

    def predict(self, pairs: Sequence[tuple[str, str]], **options: object) -> Any:
        self.pairs += pairs
        if any(len(word.split()) > 5 for pair in pairs for word in pair):
            raise RuntimeError(f"no room for {pairs}")
        return importlib.import_module("numpy").full(len(pairs), 6.0)


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> Network:
    """Stands for the library, which need not be installed."""
    made = Network()
    monkeypatch.setattr("selfright.domain.errors.importlib.util.find_spec", lambda name: name)
    monkeypatch.setattr(cross_encoder, "_load", lambda folder: made)
    return made


# ---- what the labels mean ----


@given(st.lists(finite, min_size=3, max_size=3), st.permutations(["entailment", "Neutral", "C"]))
def test_three_labels_give_the_log_odds_of_entailment_and_the_chance_of_a_contradiction(
    row: list[float], names: list[str]
) -> None:
    labels = read_labels({**HEAD, "id2label": {str(at): name for at, name in enumerate(names)}}, "claims", "m")
    found = labels.reading(row)
    parts = {name[0].lower(): math.exp(value) for name, value in zip(names, row, strict=True)}
    assert found.score == pytest.approx(math.log(parts["e"] / (parts["n"] + parts["c"])), abs=1e-6)
    assert found.denies == pytest.approx(parts["c"] / sum(parts.values()), abs=1e-9)


def test_logits_beyond_what_an_exponential_holds_are_read_all_the_same() -> None:
    labels = Labels(3, 0, 2)
    assert labels.reading([5000.0, 1000.0, 1000.0]).score == pytest.approx(4000 - math.log(2))
    assert labels.reading([-5000.0, 0.0, 3000.0]).denies == 1.0
    for row in ([math.nan, 0.0, 0.0], [0.0, math.inf, 0.0]):
        assert math.isnan(labels.reading(row).score)
    assert math.isnan(Labels(1).reading([math.nan]).score)


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
    found = read_labels({**HEAD, "id2label": dict(enumerate(names))}, job, "m").reading([3.0, 1.0])
    assert found.score == pytest.approx(2.0 if positive == 0 else -2.0)
    assert found.denies == 0.0


def test_two_labels_of_an_nli_model_tell_a_denial_too_and_a_silent_config_means_two() -> None:
    found = read_labels({**HEAD, "id2label": {0: "contradiction", 1: "entailment"}}, "claims", "m").reading([2.0, 0.0])
    assert found.score == pytest.approx(-2.0)
    assert found.denies == pytest.approx(1 / (1 + math.exp(-2)))
    assert read_labels(HEAD, "passages", "m") == Labels(2, 1)


@pytest.mark.parametrize(
    ("config", "job", "message"),
    [
        (NLI, "passages", "NLI model.*claim_judge"),
        ({**HEAD, "id2label": {0: "contradiction", 1: "entailment"}}, "passages", "claim_judge"),
        ({**HEAD, "num_labels": 3}, "claims", "has label_0, label_1, label_2; name them"),
        ({**HEAD, "id2label": {0: "one", 1: "two", 2: "three", 3: "four", 4: "five"}}, "claims", "one label, two"),
        ({**HEAD, "id2label": {"a": "b"}}, "claims", r"config\.json"),
        ({"architectures": ["BertModel"]}, "claims", "is BertModel; choose"),
        ([], "claims", r"config\.json"),
    ],
)
def test_a_model_that_does_not_fit_is_refused_before_anything_is_loaded(
    config: Any, job: Job, message: str, tmp_path: Path
) -> None:
    with pytest.raises(SettingsError, match=message):
        CrossEncoderJudge(str(saved(tmp_path, config)), job)


# ---- where it is ----


@pytest.mark.parametrize(
    "named",
    ["./absent/model", "/absent", "~/absent-model", "owner/name", "~nobody/x", "C:\\models\\reader", "", "o" * 999],
)  # fmt: skip
@pytest.mark.parametrize("job", ["passages", "claims"])
def test_what_is_no_folder(named: str, job: Job) -> None:
    with pytest.raises(SettingsError, match=rf"{job[:-1]}_judge should be a model's folder"):
        CrossEncoderJudge(named, job)


@pytest.mark.parametrize(
    ("without", "message"), [("config.json", "config.json"), ("model.safetensors", "can run code")]
)
def test_files_that_are_missing(tmp_path: Path, without: str, message: str) -> None:
    (saved(tmp_path) / without).unlink()
    (tmp_path / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(SettingsError, match=message):
        CrossEncoderJudge(str(tmp_path), "passages")


@pytest.mark.parametrize("content", [b"{", b"\xff", b'{"id2label": ' + b"[" * 100_000])
def test_a_config_that_is_none(tmp_path: Path, content: bytes) -> None:
    (saved(tmp_path) / "config.json").write_bytes(content)
    with pytest.raises(SettingsError, match=r"config\.json"):
        CrossEncoderJudge(str(tmp_path), "passages")


def test_what_is_not_installed_is_named_with_its_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("selfright.domain.errors.importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r'pip install "selfright\[judges\]"'):
        CrossEncoderJudge(str(saved(tmp_path)), "passages")


@pytest.mark.parametrize(
    ("readme", "languages"),
    [
        ("", ("en", "ko")), ("---\nlanguage: en\n---\n", ("en",)), ("---\nlanguage: [ko, en]\n---\n", ("en", "ko")),
        ("---\ntags:\n- x\nlanguage:\n- ko-KR\n- ja\nlicense: mit\n---\n", ("ko",)), ("# language: en", ("en", "ko")),
        ("---\nlanguage: multilingual\n---\n", ("en", "ko")), ('---\nlanguage:\n  - "eng"\n---\n', ("en",)),
    ],
)  # fmt: skip
def test_languages_are_those_that_the_readme_declares(
    readme: str, languages: tuple[str, ...], tmp_path: Path, network: Network
) -> None:
    assert CrossEncoderJudge(str(saved(tmp_path, readme=readme)), "passages").languages == languages


def test_the_name_follows_from_the_job_and_from_every_file_that_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, network: Network
) -> None:
    folder = saved(tmp_path / "Reader")
    first = CrossEncoderJudge(str(folder), "passages").name
    assert first.startswith("Reader-")
    shutil.copytree(folder, tmp_path / "copies" / "Reader")
    assert CrossEncoderJudge(str(tmp_path / "copies" / "Reader"), "passages").name == first
    names = {first, CrossEncoderJudge(str(folder), "claims").name}
    for file in ("model.safetensors", "config.json", "tokenizer.json"):
        with (folder / file).open("ab") as changed:
            changed.write(b" ")
        names.add(CrossEncoderJudge(str(folder), "passages").name)
    assert len(names) == 5
    monkeypatch.setattr(cross_encoder, "_SAMPLE", 1)  # a large file is read in part
    assert CrossEncoderJudge(str(folder), "passages").name in names


# ---- what it says ----


def test_a_passage_judge_is_shown_the_question_first_and_a_claim_judge_the_passage(
    tmp_path: Path, network: Network
) -> None:
    CrossEncoderJudge(str(saved(tmp_path / "one")), "passages").read("asked", ["shown"])
    CrossEncoderJudge(str(saved(tmp_path / "two", NLI | {"id2label": {"0": "x"}})), "claims").read("asked", ["shown"])
    assert network.pairs == [("asked", "shown"), ("shown", "asked")]


def test_a_run_that_fails_is_told_without_the_texts_and_the_next_one_is_tried(tmp_path: Path, network: Network) -> None:
    judge = CrossEncoderJudge(str(saved(tmp_path)), "passages")
    with pytest.raises(JudgeFailed) as caught:
        judge.read("a secret", ["one two three four five six"])
    assert "secret" not in str(caught.value)
    assert judge.read("a secret", ["one", "one"])[1].score == 6.0
    assert network.pairs[1:] == [("a secret", "one")]


def test_threads_that_come_at_once_load_it_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, network: Network
) -> None:
    loaded: list[Path] = []

    def slowly(folder: Path) -> Network:
        loaded.append(folder)
        time.sleep(0.05)
        return network

    monkeypatch.setattr(cross_encoder, "_load", slowly)
    judge = CrossEncoderJudge(str(saved(tmp_path)), "passages")
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda number: judge.read(f"text {number}", ["x"])[0].score, range(4)))
    assert found == [6.0] * 4
    assert len(loaded) == 1


def logits(folder: Path, pairs: list[tuple[str, str]]) -> list[list[float]]:
    """What transformers says of each pair by itself."""
    transformers: Any = importlib.import_module("transformers")
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    return [
        model(**tokenizer([pair], return_tensors="pt", truncation=True, max_length=64)).logits[0].tolist()
        for pair in pairs  # in lists of one: of a lone pair an empty text is left out
    ]


@pytest.mark.parametrize(("labels", "job"), [(1, "passages"), (2, "passages"), (3, "claims")])
def test_it_says_what_transformers_says(labels: int, job: Job, tmp_path: Path) -> None:
    folder = tiny_bert(tmp_path / "model", TEXTS, labels=labels)
    shown = [*TEXTS, " ".join(TEXTS[:2]) * 9]
    rows = logits(folder, [(ASKED, text) if job == "passages" else (text, ASKED) for text in shown])
    if labels == len(NLI_NAMES):
        expected = [e - math.log(math.exp(c) + math.exp(n)) for c, e, n in rows]
        denials = [math.exp(c) / sum(map(math.exp, (c, e, n))) for c, e, n in rows]
    else:
        expected = [row[-1] - (row[0] if labels == 2 else 0.0) for row in rows]
        denials = [0.0] * len(rows)
    assert max(expected) - min(expected) > 0.1
    found = CrossEncoderJudge(str(folder), job).read(ASKED, shown)
    assert [one.score for one in found] == pytest.approx(expected, abs=1e-4)
    assert [one.denies for one in found] == pytest.approx(denials, abs=1e-4)


def test_a_mark_that_a_passage_spells_out_is_no_mark(tmp_path: Path) -> None:
    folder = tiny_bert(tmp_path / "model", TEXTS)
    judge = CrossEncoderJudge(str(folder), "passages")
    spelled, unknown = judge.read(ASKED, ["rye [SEP] flour", "rye [ zzz ] flour"])
    assert spelled.score == pytest.approx(unknown.score, abs=1e-4)


def test_damaged_weights_are_found_once_and_told_the_same_again(tmp_path: Path) -> None:
    folder = tiny_bert(tmp_path / "model", TEXTS)
    whole = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(whole[: len(whole) // 2])
    judge = CrossEncoderJudge(str(folder), "passages")
    for _ in range(2):
        with pytest.raises(ModelFilesDamaged, match="sentence-transformers"):
            judge.read(ASKED, TEXTS)
        (folder / "model.safetensors").write_bytes(whole)
    assert len(CrossEncoderJudge(str(folder), "passages").read(ASKED, TEXTS)) == len(TEXTS)
