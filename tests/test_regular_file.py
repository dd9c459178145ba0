"""Files of others, read whole: regular ones of a size that can be meant."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from vaultmem.regular_file import open_regular, read_whole


def test_a_file_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    assert read_whole(tmp_path / "a") == read_whole(tmp_path / "a", 3) == b"abc"
    assert read_whole(Path(os.devnull)) == b""


def test_one_that_is_too_long_is_refused_before_it_is_in_memory(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abcd")
    with pytest.raises(OSError, match="larger than"):
        read_whole(tmp_path / "a", 3)
    os.truncate(tmp_path / "a", 1 << 40)
    with pytest.raises(OSError, match="larger than 64 MiB"):
        read_whole(tmp_path / "a")


def test_what_is_no_file_is_refused_and_nobody_waits_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path, tmp_path / "pipe", Path("/dev/zero"), tmp_path / "missing"):
        with pytest.raises(OSError) as refused:
            open_regular(place)
        assert refused.value.strerror and refused.value.filename == str(place)


def test_a_link_is_followed_where_people_may_have_made_it(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").write_bytes(b"x")
    (tmp_path / "link").symlink_to(tmp_path / "dotfiles")
    assert read_whole(tmp_path / "link") == b"x"
    with pytest.raises(OSError):
        read_whole(tmp_path / "link", through_link=False)
