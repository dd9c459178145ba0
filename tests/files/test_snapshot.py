"""What a scan sees: every note with its state, and what could not be looked at."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from tests.files.disk import put, refuse
from vaultmem.errors import (
    RootMissingError,
)
from vaultmem.files import snapshot
from vaultmem.files.snapshot import FileStat, check_readable, root_identity, take_snapshot


def test_a_scan_sees_every_note_with_its_state(root: Path) -> None:
    for path in (
        "a.md",
        "2026/05/week2/缓存.MD",
        "-dash.md",
        "new\nline.md",
        "a\\b.md",
        "[x].md",
        "trail .md",
    ):
        put(root, path)
    found = take_snapshot(root)
    assert set(found.files) == {
        "a.md", "2026/05/week2/缓存.MD", "-dash.md", "new\nline.md", "a\\b.md", "[x].md", "trail .md",
    }  # fmt: skip
    assert found.files["a.md"] == FileStat.of((root / "a.md").stat())
    assert (found.unknown, found.placeholders, found.scope) == ({}, (), None)


def test_a_scan_leaves_out_what_is_no_note(root: Path) -> None:
    put(root, "live.md")
    for folder in (".trash", ".obsidian/plugins", ".git", ".stversions/2026", "a/.hidden"):
        put(root, f"{folder}/n.md")
    for name in (
        "~syncthing~live.md.tmp",
        "live.md~",
        ".live.md.swp",
        "live.md.crswap",
        "._live.md",
        "4913",
        "x.txt",
        ".md",
    ):
        put(root, name)
    (root / "folder.md").mkdir()
    os.mkfifo(root / "pipe.md")
    assert set(take_snapshot(root).files) == {"live.md"}


def test_a_scan_follows_no_link(root: Path, tmp_path: Path) -> None:
    put(root, "a/n.md")
    put(tmp_path / "outside", "o.md")
    (root / "a" / "up").symlink_to("..", target_is_directory=True)
    (root / "out").symlink_to(tmp_path / "outside", target_is_directory=True)
    (root / "file.md").symlink_to(tmp_path / "outside" / "o.md")
    (root / "dangling.md").symlink_to("nowhere")
    assert set(take_snapshot(root).files) == {"a/n.md"}
    assert take_snapshot(root, ["out/o.md", "file.md", "a/up/a/n.md", "out"]).files == {}


def test_a_root_may_be_a_link_itself(root: Path, tmp_path: Path) -> None:
    put(root, "n.md")
    (tmp_path / "link").symlink_to(root)
    assert set(take_snapshot(tmp_path / "link").files) == {"n.md"}


def test_a_cloud_stub_is_a_placeholder_until_the_note_is_there(root: Path) -> None:
    put(root, "a/.plan.md.icloud")
    put(root, "a/.photo.jpg.icloud")
    assert take_snapshot(root).placeholders == ("a/plan.md",)
    assert take_snapshot(root, ["a/plan.md"]).placeholders == ("a/plan.md",)
    assert take_snapshot(root, ["a/.plan.md.icloud"]).placeholders == ("a/plan.md",)
    put(root, "a/plan.md")
    assert take_snapshot(root).placeholders == ()


def test_a_name_that_is_not_utf8_is_unknown_and_harms_nothing(root: Path) -> None:
    put(root, "good.md")
    for name in (b"bad\xff.md", b"dir\xfe"):
        path = os.path.join(os.fsencode(root), name)
        if name.endswith(b".md"):
            with open(path, "wb") as file:
                file.write(b"x")
        else:
            os.mkdir(path)
    found = take_snapshot(root)
    assert set(found.files) == {"good.md"}
    assert set(found.unknown) == {"bad\\xff.md", "dir\\xfe"}
    assert all(path.encode() and reason for path, reason in found.unknown.items())
    assert take_snapshot(root, [os.fsdecode(b"bad\xff.md")]).scope == ("bad\\xff.md",)


def test_a_folder_that_cannot_be_listed_is_unknown(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(root, "open/a.md")
    put(root, "locked/b.md")
    refuse(monkeypatch, "open", "locked")
    for found in (take_snapshot(root), take_snapshot(root, ["locked", "open"])):
        assert set(found.files) == {"open/a.md"}
        assert found.unknown == {"locked": "permission denied"}


def test_a_path_that_cannot_be_looked_at_is_unknown(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(root, "locked/b.md")
    refuse(monkeypatch, "stat", "b.md")
    assert take_snapshot(root, ["locked/b.md"]).unknown == {"locked/b.md": "permission denied"}


def test_some_paths_are_looked_at_alone(root: Path) -> None:
    for path in ("a/1.md", "a/b/2.md", "c/3.md", ".trash/4.md", "text.txt"):
        put(root, path)
    found = take_snapshot(
        root, ["a/", "gone.md", ".trash/4.md", "text.txt", "c/../c/3.md", "a/1.md/x.md", "nul\0.md"]
    )
    assert set(found.files) == {"a/1.md", "a/b/2.md"}
    assert found.scope == (".trash/4.md", "a", "a/1.md/x.md", "gone.md", "text.txt")
    assert found.unknown == {}


@pytest.mark.parametrize("paths", [[""], ["."], ["/"], ["a.md", ""]])
def test_the_root_among_the_paths_means_everything(root: Path, paths: list[str]) -> None:
    put(root, "a.md")
    put(root, "b.md")
    found = take_snapshot(root, paths)
    assert (set(found.files), found.scope) == ({"a.md", "b.md"}, None)


def test_a_root_that_is_gone_or_no_folder_is_no_empty_vault(root: Path, tmp_path: Path) -> None:
    with pytest.raises(RootMissingError, match="no such file"):
        take_snapshot(tmp_path / "gone")
    with pytest.raises(RootMissingError, match="not a folder"):
        take_snapshot(put(tmp_path, "file"), ["a.md"])


def test_a_root_that_cannot_be_listed_is_no_empty_vault(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse(monkeypatch, "open", "/Memories")
    with pytest.raises(RootMissingError, match="permission denied"):
        take_snapshot(root)


def test_a_root_that_is_swapped_during_the_scan_is_no_empty_vault(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(root, "a.md")
    real = snapshot._Walk.folder

    def swapping(walk: snapshot._Walk, prefix: str) -> None:
        root.rename(tmp_path / "away")
        root.mkdir()
        real(walk, prefix)

    monkeypatch.setattr(snapshot._Walk, "folder", swapping)
    with pytest.raises(RootMissingError, match="replaced"):
        take_snapshot(root)


def test_a_folder_that_vanishes_during_the_scan_is_gone(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(root, "a/n.md")
    refuse(monkeypatch, "open", "a", errno.ENOENT)
    found = take_snapshot(root)
    assert (found.files, found.unknown) == ({}, {})


def test_what_to_do_about_a_root_that_is_gone_is_said_by_whoever_asks(tmp_path: Path) -> None:
    for look in (take_snapshot, root_identity, check_readable):
        with pytest.raises(RootMissingError) as refused:
            look(tmp_path / "gone", advice="Plug it in.")
        assert refused.value.advice == "Plug it in."


def test_a_change_of_content_changes_the_state_though_size_and_time_stay(root: Path) -> None:
    file = put(root, "n.md", "old")
    before = file.stat()
    time = (before.st_atime_ns, before.st_mtime_ns)
    while file.stat().st_ctime_ns == before.st_ctime_ns:  # a clock that ticks slowly
        file.write_text("new")
        os.utime(file, ns=time)
    assert FileStat.of(file.stat()) != FileStat.of(before)
