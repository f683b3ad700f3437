"""Small files that are either the old ones or the new ones, whenever the process or the machine stops."""

import json
import os
import shutil
from pathlib import Path
from typing import Any


def write_atomically(path: Path, content: bytes) -> None:
    """Replaces ``path`` in one step, after its content is safe on disk."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    with temporary.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Makes renames in ``folder`` lasting, on systems that need to be told."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def sync_file(path: Path) -> None:
    """Makes a file's content lasting that something else has written."""
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_json(path: Path) -> dict[str, Any] | None:
    """The JSON object in ``path``; None when there is none that can be read."""
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None


def folder_bytes(folder: Path) -> int:
    """Size of all files under ``folder``, some of which may vanish meanwhile."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(place, name)).st_size
            except FileNotFoundError:
                continue
    return total


def erase(path: Path) -> None:
    """Removes a file or a folder, as far as that is possible now; what stays is tried again by the next writer."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        try:
            path.unlink(missing_ok=True)
        except PermissionError:  # a reader on Windows has it open
            return
