"""Folders and files opened part by part: what is reached, and that no link leads anywhere."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest

from vaultmem.files import beneath


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret.md").write_bytes(b"secret")
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root" / "a" / "b").mkdir(parents=True)
    (tmp_path / "root" / "a" / "b" / "c.md").write_bytes(b"c")
    return tmp_path / "root"


def test_a_file_is_opened_through_its_folders(root: Path) -> None:
    descriptor = beneath.open_file(root, "a/b/c.md")
    try:
        assert os.read(descriptor, 9) == b"c"
    finally:
        os.close(descriptor)
    with beneath.folder(root) as folder, beneath.folder(root, "a/b") as inner:
        assert os.listdir(folder) == ["a"]
        assert os.listdir(inner) == ["c.md"]


def test_missing_folders_are_made_on_request_only(root: Path) -> None:
    with pytest.raises(FileNotFoundError), beneath.folder(root, "a/x/y"):
        pass
    assert not (root / "a" / "x").exists()
    with beneath.folder(root, "a/x/y", make=0o700) as folder:
        assert os.path.samestat(os.fstat(folder), (root / "a" / "x" / "y").stat())
    assert (root / "a" / "x").stat().st_mode & 0o777 == 0o700
    with pytest.raises(FileNotFoundError), beneath.folder(root / "gone", "a", make=0o700):
        pass


@pytest.mark.parametrize("place", ["a", "a/b", "a/b/link"])
def test_a_link_on_the_way_is_an_error_and_nothing_is_made_behind_it(
    root: Path, outside: Path, place: str
) -> None:
    link = root / place
    if link.exists():
        link.rename(root / "away")
    link.symlink_to(outside)
    with pytest.raises(beneath.LinkOnTheWayError), beneath.folder(root, place):
        pass
    with pytest.raises(beneath.LinkOnTheWayError), beneath.folder(root, f"{place}/new", make=0o777):
        pass
    with pytest.raises(beneath.LinkOnTheWayError):
        beneath.open_file(root, f"{place}/secret.md")
    assert os.listdir(outside) == ["secret.md"]


def test_a_link_in_the_place_of_the_file_is_an_error(root: Path, outside: Path) -> None:
    (root / "x.md").symlink_to(outside / "secret.md")
    (root / "y.md").symlink_to(outside / "new.md")
    for name, flags in (("x.md", os.O_RDONLY), ("x.md", os.O_WRONLY), ("y.md", os.O_WRONLY | os.O_CREAT)):
        with pytest.raises(beneath.LinkOnTheWayError), beneath.folder(root) as folder:
            beneath.open_in(folder, name, flags)
    with pytest.raises(beneath.LinkOnTheWayError):
        beneath.open_file(root, "x.md")
    assert os.listdir(outside) == ["secret.md"]


def test_the_way_to_the_root_may_pass_links(root: Path, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(root)
    with beneath.folder(tmp_path / "alias", "a") as folder:
        assert os.listdir(folder) == ["b"]


def test_an_open_folder_stays_the_same_when_a_link_takes_its_place(root: Path, outside: Path) -> None:
    with beneath.folder(root, "a/b") as folder:
        (root / "a").rename(root / "moved")
        (root / "a").symlink_to(outside)
        descriptor = beneath.open_in(folder, "c.md", os.O_RDONLY)
        os.close(descriptor)
        with pytest.raises(FileNotFoundError):
            beneath.open_in(folder, "secret.md", os.O_RDONLY)


@pytest.mark.parametrize("path", ["..", "a/../b", "/etc", "a//b", "a/./b", "a\0b", "a/"])
def test_a_path_that_could_lead_out_reaches_nothing(root: Path, path: str) -> None:
    with pytest.raises(FileNotFoundError), beneath.folder(root, path):
        pass
    with pytest.raises(FileNotFoundError):
        beneath.open_file(root, path)


def test_no_descriptor_is_left_open(root: Path, outside: Path) -> None:
    (root / "a" / "link").symlink_to(outside)
    before = len(os.listdir("/dev/fd"))
    for path in ("a/b", "a/link/x", "a/gone", "a/b/c.md/x"):
        with contextlib.suppress(OSError), beneath.folder(root, path):
            pass
    assert len(os.listdir("/dev/fd")) == before


def test_the_way_to_one_folder_after_another_is_open_a_little_at_a_time(root: Path) -> None:
    deep = "a/" + "/".join("d" * 40)
    (root / deep).mkdir(parents=True)
    before = len(os.listdir("/dev/fd"))
    way = beneath.Way(root)
    for path in ("", "a/b", deep, deep[:-2], "a/b", "", deep, deep[:31]):
        assert os.path.samestat(os.fstat(way.to(path)), (root / path).stat())
        assert len(os.listdir("/dev/fd")) <= before + beneath.KEPT_OPEN + 2
    with pytest.raises(FileNotFoundError):
        way.to("a/gone/x")
    with pytest.raises(NotADirectoryError, match="not a folder"):
        way.to("a/b/c.md")
    assert os.listdir(way.to("a/b")) == ["c.md"]
    way.close()
    assert len(os.listdir("/dev/fd")) == before


def test_a_way_passes_no_link(root: Path, outside: Path) -> None:
    (root / "a" / "link").symlink_to(outside)
    way = beneath.Way(root)
    for path in ("a/link", "a/link/x"):
        with pytest.raises(beneath.LinkOnTheWayError):
            way.to(path)
    way.close()


def test_what_exists_is_told_of_links_too_and_only_files_are_opened(root: Path) -> None:
    (root / "dangling").symlink_to("nowhere")
    os.mkfifo(root / "pipe.md")
    with beneath.folder(root) as folder:
        assert [beneath.exists(folder, name) for name in ("a", "dangling", "gone")] == [True, True, False]
        for name in ("a", "pipe.md", "gone"):
            with pytest.raises(OSError), beneath.opened(folder, name):
                pass


def test_a_link_among_others_is_named(root: Path, outside: Path) -> None:
    with beneath.folder(root, "a") as folder:
        assert beneath.link_in(folder) == ""
        (root / "a" / "link").symlink_to(outside)
        assert beneath.link_in(folder) == "link"


def test_a_pipe_does_not_stop_everything(root: Path) -> None:
    os.mkfifo(root / "pipe.md")
    with pytest.raises(FileNotFoundError, match="not a regular file"):
        beneath.open_file(root, "pipe.md")
    with beneath.folder(root) as folder:
        os.close(beneath.open_in(folder, "pipe.md", os.O_RDONLY))
