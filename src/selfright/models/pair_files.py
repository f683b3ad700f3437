"""The files of a pair model, in a folder or by its hub name: which are used, what they declare, what tells it apart.

Which hub, where the cache is and who asks are the settings of huggingface_hub itself (``HF_ENDPOINT``, ``HF_HOME``,
``HF_TOKEN``, ``HF_HUB_OFFLINE``).
"""

import hashlib
import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from selfright.domain.errors import MissingExtra, ModelRejected, ModelUnavailable, SettingsError
from selfright.domain.passages import Language
from selfright.models.pair_readings import Job

LONGEST = 512  # word pieces of a pair
_WHOLE = 16 * 2**20  # bytes up to which a file is hashed whole
_BLOCKS, _BLOCK = 64, 64 * 2**10
_README = 64 * 2**10  # bytes in which the front matter is looked for
_ALL: tuple[Language, ...] = ("en", "ko")
_CODES = {"eng": "en", "english": "en", "kor": "ko", "korean": "ko"}
_ANY = {"multilingual", "multi", "mul"}
_SHARD = re.compile(r"model-\d{1,5}-of-\d{1,5}\.safetensors")
_SUBMODULE = re.compile(r"\d{1,2}_\w{1,40}/(?:config\.json|model\.safetensors)")
_OFFSET_KINDS = {
    "roberta",
    "xlm-roberta",
    "xlm-roberta-xl",
    "camembert",
    "longformer",
    "mpnet",
    "data2vec-text",
    "xmod",
}
_TOKENIZER_FILES = (
    "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "vocab.txt",
    "vocab.json", "merges.txt", "spm.model", "spiece.model", "sentencepiece.bpe.model", "tokenizer.model",
    "modules.json", "config_sentence_transformers.json", "sentence_bert_config.json",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Layout:
    """The files of a model that are used, as paths within its folder with ``/``; the first weight is the network."""

    backend: Literal["onnx", "sentence-transformers"]
    weights: tuple[str, ...]
    others: tuple[str, ...]


def choose(files: Collection[str], where: str) -> Layout:
    """One ONNX file where there is one that can be used, else safetensors. Raises ``SettingsError``."""
    if "config.json" not in files:
        raise SettingsError(f"{where} should hold a model and its config.json, but has none; save all of it there")
    graphs = sorted((name for name in files if _is_graph(name)), key=_rank)
    if graphs and "tokenizer.json" in files:
        data = (name for name in files if name.startswith((f"{graphs[0]}_data", f"{graphs[0]}.data")))
        return Layout("onnx", (graphs[0], *sorted(data)), _present(files, "tokenizer.json", "tokenizer_config.json"))
    tensors = sorted(name for name in files if name == "model.safetensors" or _SHARD.fullmatch(name))
    if tensors:
        whole = ["model.safetensors"] if "model.safetensors" in tensors else tensors
        modules = sorted(name for name in files if _SUBMODULE.fullmatch(name))
        others = _present(files, "model.safetensors.index.json", *_TOKENIZER_FILES)
        return Layout("sentence-transformers", (*whole, *modules), others)
    raise SettingsError(f"{where} {_missing(files, graphs)}")


def _missing(files: Collection[str], graphs: Collection[str]) -> str:
    if graphs:
        return (
            "should hold the tokenizer.json that belongs to its ONNX file, but has none; "
            "save it there with the tokenizers library"
        )
    if any(name.endswith((".bin", ".pt", ".ckpt", ".pkl")) for name in files):
        return (
            "should hold an *.onnx file or model.safetensors, but has its weights in a format that can run code "
            "when it is read; save them as safetensors, or export the model to ONNX"
        )
    return "should hold an *.onnx file or model.safetensors, but has neither; save or export the model there"


def _is_graph(name: str) -> bool:
    folder, _, file = name.rpartition("/")
    return folder in ("", "onnx") and file.endswith(".onnx")


def _rank(name: str) -> tuple[int, str]:
    exact = {"model.onnx": 0, "onnx/model.onnx": 1, "model_quantized.onnx": 2, "onnx/model_quantized.onnx": 3}
    quantized = re.search(r"quant|q?u?int8", name.rpartition("/")[2])
    return exact.get(name, 4 if quantized else 5), name


def _present(files: Collection[str], *wanted: str) -> tuple[str, ...]:
    return tuple(name for name in (*wanted, "README.md") if name in files)


def listed(folder: Path) -> list[str]:
    """The files in a folder and one level below, as paths within it with ``/``."""
    found = [*folder.glob("*"), *folder.glob("*/*")]
    return sorted(path.relative_to(folder).as_posix() for path in found if path.is_file())


def read_config(folder: Path, name: str = "config.json") -> Mapping[str, Any]:
    """A JSON object from a file; raises ``SettingsError`` when it holds anything else."""
    try:
        found = json.loads((folder / name).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise SettingsError(
            f"cannot read {folder / name} as JSON ({type(error).__name__}); save the model again"
        ) from error
    if not isinstance(found, dict):
        raise SettingsError(f"{folder / name} should be a JSON object, but is a {type(found).__name__}; save it again")
    return found


def check_classifies(config: Mapping[str, Any], where: str) -> None:
    """Raises ``SettingsError`` for weights without a classification head: one would be made up from random numbers."""
    kinds = config.get("architectures")
    names = [str(kind) for kind in kinds] if isinstance(kinds, list) else []
    if not any(name.endswith("ForSequenceClassification") for name in names):
        raise SettingsError(
            f"{where} should be a cross-encoder or an NLI model, whose config.json names an architecture "
            f"…ForSequenceClassification, but it names {', '.join(names) or 'none'}; choose another model"
        )


def window(folder: Path, config: Mapping[str, Any]) -> int:
    """Word pieces of a pair, marks included: at most 512, and what the model and its tokenizer can take."""
    sizes = [LONGEST, _size(config.get("max_position_embeddings")) - first_position(config)]
    if (folder / "tokenizer_config.json").is_file():
        sizes.append(_size(read_config(folder, "tokenizer_config.json").get("model_max_length")))
    return max(min(sizes), 8)  # less holds no pair


def first_position(config: Mapping[str, Any]) -> int:
    """The number of the first position: 0, but after the padding's own where the family counts so."""
    if config.get("model_type") not in _OFFSET_KINDS:
        return 0
    pad = config.get("pad_token_id")
    return (pad if isinstance(pad, int) else 1) + 1


def _size(found: object) -> int:
    """A number of word pieces; anything else, and the huge numbers that stand for none, is no bound."""
    return int(found) if isinstance(found, int | float) and 0 < found < 1e6 else 10 * LONGEST


def read_languages(folder: Path) -> tuple[Language, ...]:
    """English and Korean as far as the front matter of README.md declares them; both where it says nothing.

    Raises ``SettingsError`` for a model that declares others alone.
    """
    declared = [_CODES.get(code, code) for code in _declared(folder / "README.md")]
    found = tuple(language for language in _ALL if language in declared)
    if not declared or _ANY & set(declared):
        return _ALL
    if not found:
        raise SettingsError(
            f"{folder} should read English or Korean, but its README.md declares {', '.join(declared[:8])}; "
            "choose another model, or correct 'language:' there if it can"
        )
    return found


def _declared(readme: Path) -> Iterator[str]:
    """The values of ``language:``, which is a word, a list in brackets, or a list of lines with dashes."""
    text = ""
    if readme.is_file():
        with readme.open(encoding="utf-8", errors="replace") as file:
            text = file.read(_README)
    front = re.match(r"\ufeff?---[ \t]*\n(.*?\n)---", text, re.DOTALL)
    found = re.search(r"^language:[ \t]*(.*(?:\n[ \t]*-[ \t]+.*)*)", front[1], re.MULTILINE) if front else None
    if found is None:
        return
    lines = [line.split("#")[0] for line in found[1].splitlines()]
    for word in re.split(r"[\s,\[\]]+", " ".join(lines)):
        plain = word.strip("\"'").lower()
        if plain and plain != "-":
            yield re.split(r"[-_]", plain)[0]


def fingerprint(folder: Path, layout: Layout, job: Job) -> str:
    """Twelve hexadecimal digits of a SHA-256 over the job and the files that decide what is said.

    Of a file over 16 MB its size and 64 blocks of 64 KB at even distances are taken, the last one its end: reading
    gigabytes at every start would take longer than all else, and weights that were trained on differ everywhere.
    Raises ``OSError``.
    """
    digest = hashlib.sha256(job.encode())
    names = {"config.json", *layout.weights, *(name for name in layout.others if name != "README.md")}
    for name in sorted(names):
        digest.update(f"\0{name}\0{(folder / name).stat().st_size}\0".encode())
        for block in _blocks(folder / name):
            digest.update(block)
    return digest.hexdigest()[:12]


def _blocks(path: Path) -> Iterator[bytes]:
    size = path.stat().st_size
    with path.open("rb") as file:
        if size <= _WHOLE:
            yield file.read()
            return
        for number in range(_BLOCKS):
            file.seek((size - _BLOCK) * number // (_BLOCKS - 1))
            yield file.read(_BLOCK)


_HUB = 'pip install "selfright[judges]"'
_SECONDS = 10.0
_COMMIT = re.compile(r"[0-9a-f]{40}")


def check_hub_installed() -> None:
    """Raises ``MissingExtra`` where the library that downloads is not installed."""
    if find_spec("huggingface_hub") is None:
        raise MissingExtra("huggingface_hub, which downloads a pair model by its name,", _HUB)


def hub_folder(repo: str, revision: str) -> Path:
    """The folder in the cache with the model's files, as the hub has them now or as they came the last time.

    A commit that was downloaded before is used without asking. Raises ``ModelRejected`` for a name that the hub does
    not know, ``ModelUnavailable`` when it cannot be reached and nothing is there yet, ``SettingsError`` for a model
    that cannot be used, and ``MissingExtra``.
    """
    check_hub_installed()
    before = _cached(repo, revision)
    if before is not None and _COMMIT.fullmatch(revision):
        return before
    try:
        return _downloaded(repo, revision)
    except ModelUnavailable:
        if before is None:
            raise
        return before


def _cached(repo: str, revision: str) -> Path | None:
    """The folder of what was downloaded before. The config is the last to come: where it is, all is."""
    from huggingface_hub import try_to_load_from_cache

    found = try_to_load_from_cache(repo, "config.json", revision=revision)
    return Path(found).parent if isinstance(found, str) else None


def _downloaded(repo: str, revision: str) -> Path:
    from huggingface_hub import hf_hub_download

    commit, files = _listed(repo, revision)
    layout = choose(files, repo)
    try:
        for name in (*layout.weights, *layout.others):
            hf_hub_download(repo, name, revision=commit)
        found = hf_hub_download(repo, "config.json", revision=commit)
        hf_hub_download(repo, "config.json", revision=revision)  # notes which commit the revision was, for next time
    except Exception as error:  # of the libraries below it, which are others in each of its versions
        raise _unavailable(repo, "downloaded", error) from error
    return Path(found).parent


def _listed(repo: str, revision: str) -> tuple[str, list[str]]:
    """The commit that a revision is now, and its files."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import RepositoryNotFoundError, RevisionNotFoundError

    try:
        info = HfApi().model_info(repo, revision=revision, timeout=_SECONDS)
    except (RepositoryNotFoundError, RevisionNotFoundError) as error:
        raise ModelRejected(
            f"'{repo}' (revision {revision}) should be a model on the hub that you may read, but the hub has none by "
            "that name for you; check the name, or accept its conditions and set HF_TOKEN, or give a local folder"
        ) from error
    except Exception as error:
        raise _unavailable(repo, "found", error) from error
    return str(info.sha), [file.rfilename for file in info.siblings or ()]


def _unavailable(repo: str, what: str, error: Exception) -> ModelUnavailable:
    # The error's own words can hold an address with a token in it.
    return ModelUnavailable(
        f"'{repo}' should be {what} on the hub, but that failed ({type(error).__name__}) and it was not downloaded "
        "before; check the network and the free space, or download the model elsewhere and give its folder"
    )
