"""The systems that are measured, the versions they are measured in, and the environments they run in."""

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class System:
    """``driver`` is its module and class below ``benchmarks.peers``. It is measured where it ``lives``: in the process
    that built it, or in a new one that opened it. Without ``requirements`` it runs where the benchmark itself does.
    """

    name: str
    title: str
    driver: str
    lives: Literal["memory", "disk"]
    requirements: tuple[str, ...] = ()


# By hand comes first: it is the reference for the others' overlap.
SYSTEMS = (
    System(
        "by-hand",
        "bm25s (numba) + FAISS flat, by hand",
        "bm25s_faiss:ByHand",
        "memory",
        ("bm25s==0.3.16", "faiss-cpu==1.15.1", "numba==0.68.1", "numpy==2.4.6"),
    ),
    System("selfright", "**Selfright**", "selfright_store:Store", "disk"),
    System(
        "lancedb",
        "LanceDB (IVF_HNSW_SQ + its FTS)",
        "lancedb_hybrid:Hybrid",
        "disk",
        ("lancedb==0.40.0", "numpy==2.4.6", "pyarrow==26.0.1"),
    ),
    System(
        "llamaindex",
        "LlamaIndex QueryFusionRetriever (bm25s + FAISS flat)",
        "llamaindex_fusion:QueryFusion",
        "memory",
        (
            "bm25s==0.3.16",
            "faiss-cpu==1.15.1",
            "llama-index-core==0.14.25",
            "llama-index-retrievers-bm25==0.8.0",
            "llama-index-vector-stores-faiss==0.7.0",
            "numpy==2.4.6",
        ),
    ),
    System(
        "langchain",
        "LangChain EnsembleRetriever (rank_bm25 + FAISS flat)",
        "langchain_ensemble:Ensemble",
        "memory",
        (
            "faiss-cpu==1.15.1",
            "langchain-classic==1.0.8",
            "langchain-community==0.4.2",
            "langchain-core==1.7.2",
            "numpy==2.4.6",
            "rank-bm25==0.2.2",
        ),
    ),
    System(
        "haystack",
        "Haystack in-memory + RRF joiner",
        "haystack_joiner:Joiner",
        "memory",
        ("haystack-ai==3.4.0", "numpy==2.4.6"),
    ),
)


def python_of(system: System, environments: Path) -> Path:
    """The interpreter of the system's environment, which is made when it is not there in these versions."""
    if not system.requirements:
        return Path(sys.executable)
    folder = environments / system.name
    python, marker, wanted = folder / "bin" / "python", folder / "requirements.txt", "\n".join(system.requirements)
    if not (marker.exists() and marker.read_text() == wanted and python.exists()):
        _install(folder, python, system.requirements)
        marker.write_text(wanted)
    return python


def _install(folder: Path, python: Path, requirements: tuple[str, ...]) -> None:
    """By uv where there is one, else by pip, from the index they are configured with."""
    shutil.rmtree(folder, ignore_errors=True)
    if uv := _uv():
        subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, folder], check=True)
        subprocess.run([uv, "pip", "install", "--quiet", "--python", python, *requirements], check=True)
        return
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", *requirements], check=True)


def _uv() -> str | None:
    own = ROOT / ".uv" / "bin" / "uv"
    return str(own) if own.exists() else shutil.which("uv")
