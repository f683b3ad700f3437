"""One embedding library in an environment of its own: ``python embedding_peer.py LIBRARY MODEL`` (see ``embedding``).

It reads a line of JSON, a list of texts, and answers with a line: the seconds of the clock and of the processor that
their vectors took, and the first vector. It ends with its input. The model is a folder in the form of a hub's.
"""

import importlib
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

THREADS = 2
Embed = Callable[[list[str]], Any]


def sentence_transformers(folder: Path) -> Embed:
    """As its page says, in batches of 32 (its default)."""
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(THREADS)
    model = SentenceTransformer(str(folder), device="cpu")
    return lambda texts: model.encode(texts, normalize_embeddings=True)


def fastembed(folder: Path) -> Embed:
    """As its page says for a model of your own, in batches of 32: at its default of 256 it is slower here."""
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    TextEmbedding.add_custom_model(
        model="e5",
        pooling=PoolingType.MEAN,
        normalization=True,
        sources=ModelSource(hf="local/e5"),
        dim=384,
        model_file="model.onnx",
    )
    model = TextEmbedding("e5", specific_model_path=str(folder), threads=THREADS)
    return lambda texts: list(model.embed(texts, batch_size=32))


def llama_cpp(folder: Path) -> Embed:
    """Its server, in this process; all texts in one request, which it puts into batches of 2,048 pieces."""
    xllamacpp: Any = importlib.import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = str(folder / "model.gguf")
    params.embedding, params.pooling_type = True, xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    params.n_ctx, params.n_parallel, params.kv_unified = 8192, 16, True
    params.n_batch = params.n_ubatch = 2048
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = THREADS
    params.offline, params.verbosity = True, 0
    server = xllamacpp.Server(params)

    def embed(texts: list[str]) -> Any:
        reply = server.handle_embeddings({"input": texts})
        if "data" not in reply:
            raise SystemExit(f"llama.cpp embedded nothing: {str(reply)[:500]}")
        return [row["embedding"] for row in reply["data"]]

    return embed


LIBRARIES = {"sentence-transformers": sentence_transformers, "fastembed": fastembed, "llama.cpp": llama_cpp}


def main() -> None:
    embed = LIBRARIES[sys.argv[1]](Path(sys.argv[2]))
    embed(["passage: first"])
    print("ready", flush=True)
    for line in sys.stdin:
        texts = json.loads(line)
        started, busy = time.perf_counter(), time.process_time()
        vectors = embed(texts)
        spent = (time.perf_counter() - started, time.process_time() - busy)
        print(json.dumps([*spent, [float(number) for number in vectors[0]]]), flush=True)


if __name__ == "__main__":
    main()
