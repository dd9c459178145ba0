"""Files that people and their programs wrote for us to read: settings, golden sets, profiles, a client's own settings.

A name may lead to anything: a device that never ends, a pipe that nobody writes into, a film.
"""

from __future__ import annotations

import errno
import os
import stat as stat_modes
from pathlib import Path
from typing import BinaryIO

MOST_BYTES = 64 << 20
"""Far more than any such file holds: the largest known, an assistant's own state, has a few MiB."""
_MIB = 1 << 20


def read_whole(path: Path, most_bytes: int = MOST_BYTES, *, through_link: bool = True) -> bytes:
    """The bytes of a regular file of at most `most_bytes`. Raises OSError as `open_regular`, and for a longer one."""
    with open_regular(path, through_link=through_link) as file:
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise OSError(errno.EFBIG, f"it is larger than {most_bytes / _MIB:g} MiB", str(path))
    return data


def open_regular(path: Path, *, through_link: bool = True) -> BinaryIO:
    """A regular file, open for reading; the null device counts as an empty one.

    Raises OSError, with the reason in `strerror`, for anything else; never waits for the other end of a pipe.
    """
    flags = os.O_NONBLOCK | os.O_NOCTTY | (0 if through_link else os.O_NOFOLLOW)
    file = open(path, "rb", opener=lambda name, mode: os.open(name, mode | flags))  # noqa: SIM115
    try:
        _check_regular(os.fstat(file.fileno()), path)
    except OSError:
        file.close()
        raise
    return file


def _check_regular(status: os.stat_result, path: Path) -> None:
    is_null = os.path.samestat(status, Path(os.devnull).stat())
    if not (stat_modes.S_ISREG(status.st_mode) or is_null):
        raise OSError(errno.EINVAL, "it is no file, but a device or a pipe", str(path))
