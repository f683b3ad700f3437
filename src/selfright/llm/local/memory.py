"""How much memory a model may take here."""

import contextlib
import os
from pathlib import Path

_CGROUPS = (
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"), Path("/sys/fs/cgroup/memory/memory.usage_in_bytes")),
)
_MEMINFO = Path("/proc/meminfo")
_MOST_READ = 10_000


def free_memory() -> int | None:
    """Bytes that can be had now, within what a container allows; None where the system does not tell."""
    known = [
        value for value in (_available(), _total(), *(_bytes_left(*pair) for pair in _CGROUPS)) if value is not None
    ]
    return min(known, default=None)


def _available() -> int | None:
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in _read(_MEMINFO).splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1_024
    return None


def _total() -> int | None:
    """All that is built in: an upper bound where nobody tells what is free."""
    with contextlib.suppress(AttributeError, OSError, ValueError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def _bytes_left(limit: Path, used: Path) -> int | None:
    with contextlib.suppress(OSError, ValueError):
        return max(0, int(_read(limit)) - int(_read(used)))
    return None


def _read(path: Path) -> str:
    with path.open(encoding="ascii") as file:
        return file.read(_MOST_READ)
