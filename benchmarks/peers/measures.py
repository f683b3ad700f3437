"""What is measured of a system, from times, rankings, folders and the process's own account of its memory."""

import ctypes
import gc
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np


def times(seconds: Sequence[float]) -> dict[str, float]:
    """Median and 99th percentile in milliseconds."""
    p50, p99 = np.percentile(np.asarray(seconds) * 1e3, [50, 99])
    return {"p50_ms": round(float(p50), 3), "p99_ms": round(float(p99), 3)}


def shared(found: Sequence[Sequence[str]], expected: Sequence[Sequence[str]]) -> float:
    """The mean share of the expected ids that were found, in any order; queries that expect none are left out."""
    pairs = [(set(one), set(other)) for one, other in zip(found, expected, strict=False) if other]
    if not pairs:
        raise ValueError("expected at least one query with expected ids, but there is none")
    return float(np.mean([len(one & other) / len(other) for one, other in pairs]))


def folder_bytes(folder: Path) -> int:
    """Bytes of all files below ``folder``."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def memory(process: int | str = "self") -> dict[str, float]:
    """Resident memory of a process in MB: all of it now, the part not backed by files, and the highest ever.

    Empty where the system does not tell.
    """
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return {}
    values = {name: rest.split()[0] for name, _, rest in (line.partition(":") for line in lines) if rest.strip()}
    wanted = {"rss_mb": "VmRSS", "anonymous_mb": "RssAnon", "peak_mb": "VmHWM"}
    return {ours: round(int(values[theirs]) / 1024, 1) for ours, theirs in wanted.items() if theirs in values}


def release() -> None:
    """Gives freed memory back to the system, so that what is measured next is what is in use."""
    gc.collect()
    if sys.platform == "linux":
        ctypes.CDLL(None).malloc_trim(0)


def forget_files(folder: Path) -> None:
    """Drops the folder's files from the system's cache, so that opening them reads the disk."""
    for path in folder.rglob("*"):
        if path.is_file() and hasattr(os, "posix_fadvise"):
            with path.open("rb") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def remember_files(folder: Path) -> None:
    """Has another process read the folder's files, so that the system has them in its cache."""
    files = [str(path) for path in folder.rglob("*") if path.is_file()]
    subprocess.run(["cat", *files], stdout=subprocess.DEVNULL, check=True)
