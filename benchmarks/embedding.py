"""Embedding passages beside other libraries: passages a second on two cores, the same weights in all of them.

    python -m benchmarks.embedding --data DIR [--set korquad ...] [--passages 400] [--repeat 3] [--envs DIR]

``DIR`` holds data sets in BEIR layout. The others get the weights of the encoder that ships as floats (a folder in the
form of a hub's, and an ONNX file), which is what they run multilingual-e5-small with by default; Selfright computes in
whole numbers of eight bits. Each library runs in a process of its own, and all take turns. The others are installed by
pip, at the versions below. The cosine is that of the first passage's vector to Selfright's.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.retrieval_quality import documents
from selfright.ingest.splitting import split
from selfright.models.encoder import E5
from selfright.models.files import BEGIN, END, FOLDER, PAD, piece_numbers
from selfright.retrieval.preparing import text_to_index
from training.network_weights import NetworkWeights

LIBRARIES: Mapping[str, tuple[str, ...]] = {
    "sentence-transformers": ("torch==2.13.0", "sentence-transformers==6.2.0", "onnx==1.23.2", "gguf==0.19.0"),
    "fastembed": ("fastembed==0.9.1",),
    "llama.cpp": ("xllamacpp==2026.10.11549",),
}
_LAYERS, _HEADS, _INNER, _PLACES = 12, 12, 1536, 512
_LONGEST = 500  # pieces
_EXPORT = Path(__file__).with_name("embedding_export.py")
Measured = tuple[float, float, list[float]]


def texts(data: Path, sets: Sequence[str], passages: int) -> list[str]:
    """As many passages of each set, as they are indexed; none that is too long for the network: some refuse it."""
    found: list[str] = []
    for name in sets:
        cut = chain.from_iterable(split(document) for document in documents(data / name / "corpus.jsonl", name))
        indexed = (f"passage: {text_to_index(passage)}" for passage in cut)
        found += islice((text for text in indexed if len(piece_numbers([text])[0]) < _LONGEST), passages)
    return found


def environment(folder: Path, requirements: Sequence[str]) -> Path:
    """The interpreter of an environment with these packages; made where it is not there."""
    python, marker = folder / "bin" / "python", folder / "requirements.txt"
    if not (marker.exists() and marker.read_text() == "\n".join(requirements)):
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        for one in requirements:  # one by one: the first decides which build of PyTorch the others take
            subprocess.run([python, "-m", "pip", "install", "--quiet", one], check=True)
        marker.write_text("\n".join(requirements))
    return python


def write_model(folder: Path, environments: Path) -> None:
    """The encoder's weights as floats, in the two forms that the libraries read."""
    folder.mkdir(parents=True, exist_ok=True)
    weights = NetworkWeights(FOLDER)
    words = weights.words(np.arange(weights.pieces))
    np.savez(folder / "weights.npz", words=words, positions=weights.positions(), **weights.encoder())
    shape = {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "vocab_size": len(words),
        "hidden_size": words.shape[1],
        "num_hidden_layers": _LAYERS,
        "num_attention_heads": _HEADS,
        "intermediate_size": _INNER,
        "max_position_embeddings": _PLACES,
        "type_vocab_size": 1,
        "pad_token_id": PAD,
    }
    (folder / "config.json").write_text(json.dumps(shape))
    marks = {"single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]}
    marks["single"].append({"SpecialToken": {"id": "</s>", "type_id": 0}})
    special = {
        text: {"id": text, "ids": [number], "tokens": [text]} for text, number in (("<s>", BEGIN), ("</s>", END))
    }
    tokenizer = json.loads((FOLDER / "tokenizer.json").read_text(encoding="utf-8"))
    tokenizer["post_processor"] = {
        "type": "TemplateProcessing",
        "pair": marks["single"],
        "special_tokens": special,
    } | marks
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    python = environment(environments / "sentence-transformers", LIBRARIES["sentence-transformers"])
    subprocess.run([python, _EXPORT, folder], check=True)


class Peer:
    """A library in its process."""

    def __init__(self, library: str, python: Path, model: Path) -> None:
        worker = Path(__file__).with_name("embedding_peer.py")
        command = [str(python), str(worker), library, str(model)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._line()

    def __call__(self, passages: Sequence[str]) -> Measured:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(passages) + "\n")
        self._process.stdin.flush()
        seconds, busy, vector = json.loads(self._line())
        return seconds, busy, vector

    def _line(self) -> str:
        assert self._process.stdout
        if line := self._process.stdout.readline():
            return line
        raise SystemExit(f"{self._process.args!r} ended; its message stands above")


def ours() -> Callable[[Sequence[str]], Measured]:
    """Selfright's encoder in this process, new for each measurement so that it remembers no passage."""

    def measure(passages: Sequence[str]) -> Measured:
        encoder = E5()
        encoder.embed(["first"])
        plain = [text.removeprefix("passage: ") for text in passages]
        started, busy = time.perf_counter(), time.process_time()
        vectors = encoder.embed(plain)
        return time.perf_counter() - started, time.process_time() - busy, vectors[0].tolist()

    return measure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--set", nargs="+", default=["korquad", "bioasq"])
    parser.add_argument("--passages", type=int, default=400, help="of each set")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--envs", type=Path, default=Path(tempfile.gettempdir()) / "selfright-embedding")
    options = parser.parse_args()
    passages = texts(options.data, options.set, options.passages)
    model = options.envs / "model"
    if not (model / "model.gguf").exists():
        write_model(model, options.envs)
    systems: dict[str, Callable[[Sequence[str]], Measured]] = {"Selfright": ours()}
    for library, requirements in LIBRARIES.items():
        systems[library] = Peer(library, environment(options.envs / library, requirements), model)
    found = {name: [measure(passages) for _ in [0]] for name, measure in systems.items()}
    for _ in range(options.repeat - 1):
        for name, measure in systems.items():
            found[name].append(measure(passages))
    report(found, len(passages), sum(map(len, passages)))


def report(found: Mapping[str, Sequence[Measured]], passages: int, characters: int) -> None:
    """A table in Markdown, by the median of the clock."""
    print(f"{passages:,} passages, {characters // passages} characters on average, two threads\n")
    print("| library | passages a second (runs) | ms of a core each | Selfright is | cosine |\n|---|---|---|---|---|")
    own = statistics.median(seconds for seconds, _, _ in found["Selfright"])
    first: NDArray[np.float64] = np.array(found["Selfright"][0][2])
    for name, runs in found.items():
        seconds = statistics.median(one for one, _, _ in runs)
        busy = statistics.median(one for _, one, _ in runs)
        low, high = (passages / edge(one for one, _, _ in runs) for edge in (max, min))
        speed, each = f"{passages / seconds:.0f} ({low:.0f} to {high:.0f})", 1e3 * busy / passages
        cosine = float(first @ np.array(runs[0][2]))
        print(f"| {name} | {speed} | {each:.1f} | {seconds / own:.2f} × as fast | {cosine:.4f} |")


if __name__ == "__main__":
    main()
