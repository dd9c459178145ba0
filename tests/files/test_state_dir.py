"""The state dir as a folder of one user: who may look in, what is refused, what is closed."""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from vaultmem.files import beneath, state_dir

NOBODY = 65_534
LOCKS = Path("/proc/locks")


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def loose(folder: Path, *names: str) -> Path:
    """A folder that everybody may write in, with files that everybody may read."""
    folder.mkdir()
    for name in names:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(b"x")
        (folder / name).chmod(0o666)
    for inner in (folder, *(path for path in folder.rglob("*") if path.is_dir())):
        inner.chmod(0o777)
    return folder


def test_it_is_made_for_this_user_alone_with_what_is_missing_above_it(
    tmp_path: Path, open_umask: None
) -> None:
    state_dir.make_own(tmp_path / "a" / "b" / "state")
    state_dir.make_own(tmp_path / "a" / "b" / "state")
    assert [mode_of(tmp_path / path) for path in ("a", "a/b", "a/b/state")] == [0o700] * 3
    assert state_dir.complaint(tmp_path / "a" / "b" / "state") == ""


def test_one_that_others_may_enter_is_closed_with_all_that_is_in_it(tmp_path: Path) -> None:
    folder = loose(tmp_path / "state", "catalog.sqlite", "lexical-1/meta.json")
    assert "others may look" in state_dir.complaint(folder)
    state_dir.make_own(folder)
    assert mode_of(folder) == mode_of(folder / "lexical-1") == 0o700
    assert mode_of(folder / "catalog.sqlite") == mode_of(folder / "lexical-1" / "meta.json") == 0o600
    assert state_dir.complaint(folder) == ""


def test_links_that_others_put_into_a_store_go_when_it_is_closed(tmp_path: Path) -> None:
    folder = loose(tmp_path / "state", "catalog.sqlite", "dense-1/store.json")
    outside = loose(tmp_path / "outside", "file")
    (folder / "dense-1" / "data").symlink_to(outside)
    (folder / "dense-1" / "file").symlink_to(outside / "file")
    state_dir.make_own(folder)
    assert sorted(path.name for path in (folder / "dense-1").iterdir()) == ["store.json"]
    assert mode_of(outside) == 0o777 and mode_of(outside / "file") == 0o666


@pytest.mark.skipif(not LOCKS.exists(), reason="the system does not list its locks")
def test_closing_it_ends_no_lock_of_this_process(tmp_path: Path) -> None:
    """POSIX locks of a process end when it closes any descriptor of the file: a worker has the catalog open."""
    file = loose(tmp_path / "state", "catalog.sqlite") / "catalog.sqlite"
    with file.open("r+b") as held:
        fcntl.lockf(held, fcntl.LOCK_EX)
        assert f":{file.stat().st_ino} " in LOCKS.read_text()
        state_dir.make_own(file.parent)
        assert mode_of(file) == 0o600
        assert f":{file.stat().st_ino} " in LOCKS.read_text()


def test_the_modes_of_a_folder_with_other_things_are_not_ours_to_change(tmp_path: Path) -> None:
    folder = loose(tmp_path / "projects", "script.sh")
    with pytest.raises(PermissionError, match="holds other things"):
        state_dir.make_own(folder)
    assert (mode_of(folder), mode_of(folder / "script.sh")) == (0o777, 0o666)
    empty = loose(tmp_path / "empty")
    empty.chmod(0o555)
    state_dir.make_own(empty)
    assert mode_of(empty) == 0o500  # the user may have meant it
    empty.chmod(0o777)
    state_dir.make_own(empty)
    assert mode_of(empty) == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_one_of_another_user_is_refused(tmp_path: Path) -> None:
    folder = loose(tmp_path / "state", "catalog.sqlite")
    os.chown(folder, NOBODY, NOBODY)
    with pytest.raises(PermissionError, match=f"another user \\(uid {NOBODY}\\)"):
        state_dir.make_own(folder)
    assert "another user" in state_dir.complaint(folder)
    assert mode_of(folder / "catalog.sqlite") == 0o666


def test_a_link_in_it_is_refused_and_what_it_leads_to_stays_as_it_is(tmp_path: Path) -> None:
    outside = loose(tmp_path / "outside", "secret")
    folder = loose(tmp_path / "state", "catalog.sqlite")
    (folder / "sessions").symlink_to(outside)
    with pytest.raises(beneath.LinkOnTheWayError) as refused:
        state_dir.make_own(folder)
    assert refused.value.filename == str(folder) and "sessions is a symbolic link" in refused.value.strerror
    assert (mode_of(outside), mode_of(outside / "secret")) == (0o777, 0o666)
    assert "sessions is a symbolic link" in state_dir.complaint(folder)


def test_the_way_to_it_may_pass_links(tmp_path: Path) -> None:
    loose(tmp_path / "real")
    (tmp_path / "alias").symlink_to("real")
    state_dir.make_own(tmp_path / "alias")
    assert mode_of(tmp_path / "real") == 0o700


def test_a_file_in_its_place_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    for call in (state_dir.make_own, lambda path: state_dir.make_own(path / "below")):
        with pytest.raises(OSError):
            call(tmp_path / "file")
    assert state_dir.complaint(tmp_path / "file") and not state_dir.complaint(tmp_path / "gone")
