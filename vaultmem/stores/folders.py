"""What the stores that live in a folder have in common: where they may be made, how they fail, what they take."""

from __future__ import annotations

import errno
import os
import resource
import shutil
import stat as stat_modes
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from vaultmem.errors import StoreError

T = TypeVar("T")

REBUILD_ADVICE = "run `vaultmem doctor --repair`; the store is rebuilt from the notes"
ROOM_ADVICE = (
    "There is no room left in {}: free some. Notes are safe, and the caches go on from where they are."
)
ROOM_WANTED_BYTES = 4 << 20
"""A disk with less free than this is full: a back end that stumbles there has stumbled over it."""

FILES_WANTED = 48
"""So many files a store, its back end and a look at the notes have open at once, with some to spare."""
FILES_ADVICE = (
    "Raise the limit (`ulimit -n`), or end what holds so many files open. The caches stay as they are."
)


def advice_for(folder: Path, otherwise: str) -> str:
    """What to do about a failure in `folder`: on a full disk, make room."""
    return ROOM_ADVICE.format(folder) if is_full(folder) else otherwise


def is_full(folder: Path) -> bool:
    """Whether the disk of `folder` is too full to make or mend anything there."""
    with suppress(OSError):
        return shutil.disk_usage(folder).free < ROOM_WANTED_BYTES
    return False


def demand_means(folder: Path) -> None:
    """Raises StoreError on a full disk, or where this process has no files left that it may open.

    What fails there looks damaged and is not, and nothing can take its place.
    """
    if is_full(folder):
        raise StoreError(f"the disk of {folder} is full", advice=ROOM_ADVICE.format(folder))
    if _is_short_of_files():
        raise StoreError(f"{folder} cannot be used: too many open files", advice=FILES_ADVICE)


def _is_short_of_files() -> bool:
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        return limit != resource.RLIM_INFINITY and limit - len(list(Path("/dev/fd").iterdir())) < FILES_WANTED
    except OSError as error:
        return error.errno in (errno.EMFILE, errno.ENFILE)


def close_to_others(path: Path) -> None:
    """Let nobody else read a file of SQLite's, which makes its own as the umask says, and its journals after them.

    Where that cannot be, opening the file says why. The file is not opened here: closing it again would end the locks
    of every connection that this process has to it.
    """
    with suppress(OSError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    for file in (path, *(path.with_name(f"{path.name}-{journal}") for journal in ("wal", "shm"))):
        with suppress(OSError):
            mode = file.lstat().st_mode
            if stat_modes.S_ISREG(mode) and mode & 0o077:
                file.chmod(stat_modes.S_IMODE(mode) & ~0o077)


@contextmanager
def failures_of(store: str, folder: Path) -> Iterator[None]:
    """Turn every failure inside into a StoreError that names the store and its folder."""
    try:
        yield
    except StoreError as error:
        error.store = error.store or store
        raise
    except BaseException as error:
        # A panic in the back end arrives as a BaseException that is no Exception; interrupts must go through.
        if isinstance(error, Exception) or type(error).__name__ == "PanicException":
            message = f"the {store} store {folder} cannot be used: {error}"
            raise StoreError(message, store=store, advice=advice_for(folder, REBUILD_ADVICE)) from error
        raise


def is_vacant(folder: Path) -> bool:
    """Whether a store may be made here: nothing is there, or an empty folder."""
    return not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))


def folder_bytes(folder: Path) -> int:
    """The summed size of all files under `folder`; one that vanishes meanwhile counts nothing."""
    return sum(_size(path) for path in folder.rglob("*"))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size if path.is_file() else 0
    except FileNotFoundError:
        return 0


def in_parts(values: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """The values in parts of at most `size`: as many as one query takes. (`itertools.batched`, from Python 3.12 on.)"""
    for start in range(0, len(values), size):
        yield values[start : start + size]
