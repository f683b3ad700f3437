"""A lock on an open file, which the system frees when its holder's process dies."""

import os
import sys

if sys.platform == "win32":
    import msvcrt

    def try_lock(descriptor: int, at: int = 0) -> bool:
        """Whether the file was free and is now held; ``at`` is the byte to lock, which others cannot read then."""
        os.lseek(descriptor, at, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            os.lseek(descriptor, 0, os.SEEK_SET)
        return True

else:
    import fcntl

    def try_lock(descriptor: int, at: int = 0) -> bool:
        """Whether the file was free and is now held, all of it."""
        del at
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
