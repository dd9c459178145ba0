"""The notes below a root and their bytes, however they are written."""

from __future__ import annotations

import contextlib
import errno
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.search.folders import put
from vaultmem.files.beneath import LinkOnTheWayError
from vaultmem.search.sources import NoteFile, Source, note_files

LIMIT = 1_000


def test_notes_come_last_path_first_with_their_size(tmp_path: Path) -> None:
    for name in ("a.md", "b/a.md", "b/c.MD", "b.md", "c.txt", ".d/a.md", "e/.a.md"):
        put(tmp_path, name, "12345")
    (tmp_path / "z.md").symlink_to(tmp_path / "a.md")
    (tmp_path / "y").symlink_to(tmp_path / "b")
    os.mkfifo(tmp_path / "pipe.md")
    notices: list[str] = []
    found = list(note_files(tmp_path, notices))
    assert found == [NoteFile(path, 5) for path in ("b.md", "b/c.MD", "b/a.md", "a.md")] and notices == []
    assert list(note_files(tmp_path / "none", notices)) == [] and notices == [".: No such file or directory"]


@pytest.fixture
def deep(tmp_path: Path) -> Iterator[str]:
    """The path of a note in a folder so deep that pytest itself cannot take it away again."""
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(1_100):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open("a.md", os.O_CREAT, dir_fd=here))
    os.close(here)
    yield "d/" * 1_100 + "a.md"
    subprocess.run(["rm", "-rf", tmp_path / "d"], check=True)


def test_deep_folders_are_walked(tmp_path: Path, deep: str) -> None:
    notices: list[str] = []
    assert list(note_files(tmp_path, notices)) == [NoteFile(deep, 0)] and notices == []
    with contextlib.closing(Source(tmp_path, deep, LIMIT)) as source:
        assert source.at(0, 5) == b""


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16-le", "utf-16-be"])
def test_lines_and_places_are_those_of_the_text_in_utf8(tmp_path: Path, encoding: str) -> None:
    mark = "\ufeff" if encoding.startswith("utf-16") else ""
    put(tmp_path, "a.md", f"{mark}eins\n缓存\u2028x\r\n\ndrei".encode(encoding))
    with contextlib.closing(Source(tmp_path, "a.md", LIMIT)) as source:
        assert list(source.lines()) == ["eins", "缓存\u2028x\r", "", "drei"]
        assert source.at(5, 6).decode() == "缓存" and source.at(100, 5) == b""


def test_what_is_no_note_to_be_read_is_not_opened(tmp_path: Path) -> None:
    put(tmp_path, "a.md", "x" * (LIMIT + 1))
    (tmp_path / "link.md").symlink_to(tmp_path / "a.md")
    os.mkfifo(tmp_path / "pipe.md")
    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0
    with pytest.raises(OSError) as error:
        Source(tmp_path, "a.md", LIMIT)
    assert error.value.errno == errno.EFBIG
    with pytest.raises(LinkOnTheWayError):
        Source(tmp_path, "link.md", LIMIT)
    for name in ("pipe.md", "none.md", "../a.md"):
        with pytest.raises(FileNotFoundError):
            Source(tmp_path, name, LIMIT)
    assert before == (len(os.listdir("/proc/self/fd")) if before else 0)
