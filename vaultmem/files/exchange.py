"""Renames that never destroy: two files that change places in one step, and a file moved to a name that is free.

Neither is in Python. Linux has `renameat2`, macOS `renameatx_np`; both need a file system that takes part.
"""

from __future__ import annotations

import errno
import functools
import os
import sys
from collections.abc import Callable
from typing import Any

_UNSUPPORTED = frozenset(
    {errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EPERM}  # EPERM: of a sandbox
)
_NO_REPLACE, _EXCHANGE = 1, 2
_DARWIN_SWAP, _DARWIN_EXCLUSIVE = 2, 4
_SYSCALLS = {"x86_64": 316, "aarch64": 276, "riscv64": 276, "loongarch64": 276, "armv7l": 382, "i686": 353}
"""The number of `renameat2`, for C libraries without it."""

_Call = Callable[[int, bytes, int, bytes, int], int]


def swap(folder: int, one: str, other: str) -> bool:
    """Let two files of an open folder change places; False where the system cannot. Raises OSError."""
    return _rename(folder, one, folder, other, _DARWIN_SWAP if sys.platform == "darwin" else _EXCHANGE)


def move_to_free_name(folder: int, name: str, target_folder: int, target: str) -> bool:
    """Rename, never over another file; False where the system cannot. Raises FileExistsError, OSError."""
    flag = _DARWIN_EXCLUSIVE if sys.platform == "darwin" else _NO_REPLACE
    return _rename(folder, name, target_folder, target, flag)


def _rename(folder: int, name: str, target_folder: int, target: str, flag: int) -> bool:
    call = _system_call()
    if call is None:
        return False
    import ctypes

    while call(folder, os.fsencode(name), target_folder, os.fsencode(target), flag):
        number = ctypes.get_errno()
        if number in _UNSUPPORTED:
            return False
        if number != errno.EINTR:
            raise OSError(number, os.strerror(number), name, None, target)
    return True


@functools.cache
def _system_call() -> _Call | None:
    """The system's rename with flags; None where there is none."""
    import ctypes  # what only reads does without

    library = ctypes.CDLL(None, use_errno=True)
    arguments: list[Any] = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    found = getattr(library, "renameatx_np" if sys.platform == "darwin" else "renameat2", None)
    if found is not None:
        found.argtypes = arguments
        return found  # type: ignore[no-any-return]
    number = _SYSCALLS.get(os.uname().machine) if sys.platform.startswith("linux") else None
    if number is None:
        return None
    library.syscall.argtypes = [ctypes.c_long, *arguments]
    return functools.partial(library.syscall, number)
