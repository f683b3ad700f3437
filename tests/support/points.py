"""Stops a process at its n-th change of a folder: before that system call happens, or halfway through a write.

The kernel (Linux, seccomp) holds the watched process at each call that could change a file, whichever library makes it
(SQLite, tantivy, FAISS), until the watcher lets it go on. So every place inside a commit can be reached, and reached
again. Elsewhere ``SUPPORTED`` is false.
"""

import ctypes
import fcntl
import os
import platform
import select
import signal
import socket
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

# Numbers of the calls, by machine. The first group takes a file descriptor, the second paths.
_CALLS = {
    "x86_64": {
        1: "write", 18: "pwrite64", 20: "writev", 296: "pwritev", 74: "fsync", 75: "fdatasync", 77: "ftruncate",
        285: "fallocate", 82: "rename", 264: "renameat", 316: "renameat2", 87: "unlink", 263: "unlinkat",
        83: "mkdir", 258: "mkdirat", 84: "rmdir",
    },
    "aarch64": {
        64: "write", 68: "pwrite64", 66: "writev", 70: "pwritev", 82: "fsync", 83: "fdatasync", 46: "ftruncate",
        47: "fallocate", 38: "renameat", 276: "renameat2", 35: "unlinkat", 34: "mkdirat",
    },
}.get(platform.machine(), {})  # fmt: skip
_BY_PATH = ("rename", "renameat", "renameat2", "unlink", "unlinkat", "mkdir", "mkdirat", "rmdir")
_SECCOMP = {"x86_64": 317, "aarch64": 277}.get(platform.machine(), -1)

_NO_NEW_PRIVILEGES = 38
_SET_FILTER, _NEW_LISTENER = 1, 8
_LOAD, _JUMP_IF_EQUAL, _RETURN = 0x20, 0x15, 0x06
_ASK_THE_WATCHER, _ALLOW = 0x7FC00000, 0x7FFF0000
_RECEIVE, _SEND = 0xC0502100, 0xC0182101
_NOTICE = struct.Struct("<QIIiIQ6Q")
_GO_ON = struct.Struct("<QqiI")


class _Instruction(ctypes.Structure):
    _fields_ = (("code", ctypes.c_ushort), ("yes", ctypes.c_ubyte), ("no", ctypes.c_ubyte), ("k", ctypes.c_uint))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("first", ctypes.POINTER(_Instruction)))


@dataclass(frozen=True)
class Point:
    """A call that is about to change the folder: its name, and the file it is for (relative; empty for a path call)."""

    call: str
    file: str
    process: int
    arguments: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.call} {self.file}".strip()


def let_watch(channel: socket.socket) -> None:
    """Puts this process, and the threads it starts from now on, under the watch of the other end of ``channel``."""
    libc = ctypes.CDLL(None, use_errno=True)
    lines = [(_LOAD, 0, 0, 0)]
    lines += [(_JUMP_IF_EQUAL, len(_CALLS) - place, 0, number) for place, number in enumerate(_CALLS)]
    lines += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _ASK_THE_WATCHER)]
    program = _Program(len(lines), (_Instruction * len(lines))(*(_Instruction(*line) for line in lines)))
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    listener = libc.syscall(_SECCOMP, _SET_FILTER, _NEW_LISTENER, ctypes.byref(program))
    if listener < 0:
        raise OSError(ctypes.get_errno(), "this system does not let one process watch another's calls")
    socket.send_fds(channel, [b"x"], [listener])
    os.close(listener)


def watch(channel: socket.socket, folder: Path, is_here: Callable[[Point], bool], process: int) -> None:
    """Follows a process until it ends. ``is_here`` is asked before each change of ``folder``: True kills it there."""
    _, received, _, _ = socket.recv_fds(channel, 1, 1)
    if not received:  # it ended before it came to be watched
        return
    listener = received[0]
    waiting = select.poll()
    waiting.register(listener, select.POLLIN)
    try:
        while (notice := _next(waiting, listener)) is not None:
            identity, point = _understood(notice, folder)
            if point and is_here(point):
                os.kill(process, signal.SIGKILL)
                return
            _go_on(listener, identity)
    finally:
        os.close(listener)


def tear(point: Point) -> None:
    """Does the first half of a write that is about to happen, as a kill in its midst may."""
    if point.call not in ("write", "pwrite64") or point.arguments[2] < 2:
        return
    descriptor, address, length, offset = point.arguments[:4]
    try:
        with open(f"/proc/{point.process}/mem", "rb", buffering=0) as memory:
            memory.seek(address)
            half = memory.read(length // 2)
        if point.call == "write":
            place = Path(f"/proc/{point.process}/fdinfo/{descriptor}").read_text().split()
            offset = int(place[place.index("pos:") + 1])
        target = os.open(f"/proc/{point.process}/fd/{descriptor}", os.O_WRONLY)
        try:
            os.pwrite(target, half, offset)
        finally:
            os.close(target)
    except OSError:  # not everything that is written to can be opened again
        return


def _next(waiting: select.poll, listener: int) -> bytearray | None:
    while True:
        ((_, event),) = waiting.poll()
        if not event & select.POLLIN:
            return None
        notice = bytearray(_NOTICE.size)
        try:
            fcntl.ioctl(listener, _RECEIVE, notice, True)
        except (FileNotFoundError, InterruptedError):  # the caller was killed meanwhile
            continue
        return notice


def _understood(notice: bytearray, folder: Path) -> tuple[int, Point | None]:
    identity, process, _, number, _, _, *arguments = _NOTICE.unpack(notice)
    call = _CALLS[number]
    if call in _BY_PATH:
        return identity, Point(call, "", process, tuple(arguments))
    try:
        file = os.readlink(f"/proc/{process}/fd/{arguments[0]}")
    except OSError:
        return identity, None
    inside = file == str(folder) or file.startswith(f"{folder}/")
    return identity, Point(call, file[len(str(folder)) + 1 :], process, tuple(arguments)) if inside else None


def _go_on(listener: int, identity: int) -> None:
    try:
        fcntl.ioctl(listener, _SEND, bytearray(_GO_ON.pack(identity, 0, 0, 1)), True)
    except FileNotFoundError:  # the caller was killed meanwhile
        return


SUPPORTED = sys.platform == "linux" and bool(_CALLS)
