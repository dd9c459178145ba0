"""A file's bytes replaced while others save: whose version gets the name, and that no other one vanishes."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.files.disk import ANOTHER_USER, as_another_user, needs_root
from vaultmem.files import beneath, exchange, leases, replacement
from vaultmem.files.replacement import UNTOUCHED, replace

OLD, NEW = b"old", b"new"


def tells_of_writers() -> bool:
    with tempfile.TemporaryFile() as made, open(f"/dev/fd/{made.fileno()}", "rb") as own:
        made.close()
        return leases.is_answering(own.fileno())


needs_leases = pytest.mark.skipif(not tells_of_writers(), reason="this file system tells nothing of writers")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "n.md").write_bytes(OLD)
    return tmp_path / "folder" / "n.md"


@pytest.fixture
def folder(file: Path) -> Iterator[int]:
    with beneath.folder(file.parent) as descriptor:
        yield descriptor


@pytest.fixture
def before_swap(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let something happen right before each exchange, in turn."""

    def arrange(*acts: Callable[[], object]) -> None:
        real, pending = exchange.swap, list(acts)

        def swap(folder: int, one: str, other: str) -> bool:
            if pending:
                pending.pop(0)()
            return real(folder, one, other)

        monkeypatch.setattr(exchange, "swap", swap)

    return arrange


@pytest.fixture
def without_exchange(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "_system_call", lambda: None)


def save_by_rename(file: Path, data: bytes) -> Callable[[], object]:
    def save() -> None:
        (file.parent / "editor.tmp").write_bytes(data)
        (file.parent / "editor.tmp").replace(file)

    return save


def save_in_place(file: Path, data: bytes) -> Callable[[], object]:
    return lambda: file.write_bytes(data)


def others(file: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in file.parent.iterdir() if path != file}


def test_the_new_bytes_take_the_place_of_the_old_and_nothing_is_left_beside(file: Path, folder: int) -> None:
    file.chmod(0o640)
    done = replace(folder, "n.md", OLD, NEW)
    assert done.status is not None and done.aside is None
    assert (file.read_bytes(), file.stat().st_mode & 0o777, others(file)) == (NEW, 0o640, {})
    assert os.path.samestat(done.status, file.stat())


def test_a_file_that_holds_something_else_is_untouched(file: Path, folder: int) -> None:
    assert replace(folder, "n.md", b"older", NEW) == UNTOUCHED
    assert (file.read_bytes(), others(file)) == (OLD, {})


@pytest.mark.parametrize("save", [save_by_rename, save_in_place])
def test_a_save_between_the_last_look_and_the_exchange_stands(
    file: Path, folder: int, before_swap: Callable[..., None], save: Callable[..., Callable[[], object]]
) -> None:
    before_swap(save(file, b"saved"))
    assert replace(folder, "n.md", OLD, NEW) == UNTOUCHED
    assert (file.read_bytes(), others(file)) == (b"saved", {})


@pytest.mark.parametrize("save", [save_by_rename, save_in_place])
@pytest.mark.parametrize("second", [save_by_rename, save_in_place])
def test_of_two_saves_the_newer_has_the_name_and_the_other_is_left_aside(
    file: Path,
    folder: int,
    before_swap: Callable[..., None],
    save: Callable[..., Callable[[], object]],
    second: Callable[..., Callable[[], object]],
) -> None:
    before_swap(save(file, b"saved"), second(file, b"saved again"))
    done = replace(folder, "n.md", OLD, NEW)
    assert done.status is None and done.aside is not None
    assert (file.read_bytes(), others(file)) == (b"saved again", {done.aside: b"saved"})
    assert not replacement.is_superfluous(folder, done.aside)
    assert replacement.is_aside_of(done.aside, "n.md") and not replacement.is_aside_of(done.aside, "m.md")


def test_a_save_of_what_was_deleted_right_after_is_left_aside(
    file: Path, folder: int, before_swap: Callable[..., None]
) -> None:
    before_swap(save_by_rename(file, b"saved"), file.unlink)
    done = replace(folder, "n.md", OLD, NEW)
    assert done.status is None and others(file) == {done.aside: b"saved"}


def test_a_link_or_a_folder_that_takes_the_name_keeps_it(
    file: Path, folder: int, before_swap: Callable[..., None], tmp_path: Path
) -> None:
    (tmp_path / "outside").write_bytes(b"outside")

    def link() -> None:
        file.unlink()
        file.symlink_to(tmp_path / "outside")

    before_swap(link)
    assert replace(folder, "n.md", OLD, NEW) == UNTOUCHED
    assert file.is_symlink() and (tmp_path / "outside").read_bytes() == b"outside"


def test_a_saver_that_holds_the_old_file_open_is_waited_for(
    file: Path, folder: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An editor opens the file, the exchange comes, then it writes: into what is no longer the note."""
    program = (
        "import os, sys\n"
        "descriptor = os.open(sys.argv[1], os.O_WRONLY)\n"
        "print('open', flush=True); sys.stdin.readline()\n"
        "os.ftruncate(descriptor, 0); os.write(descriptor, b'saved')\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, file], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as saver:
        assert saver.stdin is not None and saver.stdout is not None
        assert saver.stdout.readline() == "open\n"

        real, turns = replacement._Attempt._is_at_rest, iter((saver.communicate,))

        def wait(attempt: replacement._Attempt, descriptor: int) -> bool:
            for let_it_write in turns:
                let_it_write("\n")
            return real(attempt, descriptor)

        monkeypatch.setattr(replacement._Attempt, "_is_at_rest", wait)
        done = replace(folder, "n.md", OLD, NEW)
    assert done == UNTOUCHED and (file.read_bytes(), others(file)) == (b"saved", {})


@needs_leases
def test_what_somebody_keeps_open_for_writing_is_not_taken_from_them(
    file: Path, folder: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replacement, "SETTLING_S", 0.05)
    with file.open("ab", buffering=0) as held:
        with pytest.raises(OSError, match="open for writing"):
            replace(folder, "n.md", OLD, NEW)
        held.write(b" and more")
    assert (file.read_bytes(), others(file)) == (b"old and more", {})


@needs_leases
def test_what_somebody_opens_at_the_instant_of_the_exchange_is_given_back(
    file: Path, folder: int, before_swap: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replacement, "SETTLING_S", 0.05)
    held = list[Any]()
    before_swap(lambda: held.append(file.open("ab", buffering=0)))
    assert replace(folder, "n.md", OLD, NEW) == UNTOUCHED
    held[0].write(b" and more")
    held[0].close()
    assert (file.read_bytes(), others(file)) == (b"old and more", {})


# --- without an exchange


def test_without_an_exchange_a_save_before_the_last_look_stands(
    file: Path, folder: int, without_exchange: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert replace(folder, "n.md", OLD, NEW).status is not None
    assert (file.read_bytes(), others(file)) == (NEW, {})
    real = exchange.swap

    def save_first(*arguments: object) -> bool:
        file.write_bytes(b"saved")
        return False

    monkeypatch.setattr(exchange, "swap", save_first)
    assert replace(folder, "n.md", NEW, OLD) == UNTOUCHED
    assert (file.read_bytes(), others(file)) == (b"saved", {})
    monkeypatch.setattr(exchange, "swap", real)


def test_without_an_exchange_a_late_save_is_left_aside(
    file: Path, folder: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = list[Any]()
    monkeypatch.setattr(exchange, "swap", lambda *_: late.append(file.open("r+b", buffering=0)))
    real = replacement._Attempt._is_at_rest

    def save_late(attempt: replacement._Attempt, descriptor: int) -> bool:
        for editor in late:
            editor.write(b"late")
            editor.close()
        return real(attempt, descriptor)

    monkeypatch.setattr(replacement._Attempt, "_is_at_rest", save_late)
    done = replace(folder, "n.md", OLD, NEW)
    assert done.status is not None and file.read_bytes() == NEW
    assert others(file) == {done.aside: b"late"}


# --- failures


def test_a_failure_at_any_call_leaves_a_whole_file_and_no_byte_of_it_is_lost(
    file: Path, folder: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each call to the system fails in turn, until none is left to fail."""
    calls = ("open", "write", "fsync", "rename", "fchmod", "unlink", "pread", "fstat")
    for name in calls:
        for turn in range(50):
            file.write_bytes(OLD)
            for left in others(file):
                (file.parent / left).unlink()
            with monkeypatch.context() as patch:
                failed = _fail_at(patch, name, turn)
                try:
                    replace(folder, "n.md", OLD, NEW)
                except OSError as error:
                    assert error.errno == errno.EIO
            held = [file.read_bytes(), *others(file).values()]
            assert held[0] in (OLD, NEW)
            assert set(held) <= {OLD, NEW, b""}
            if not failed:
                break
        else:
            pytest.fail(f"{name} is called without end")


def _fail_at(patch: pytest.MonkeyPatch, name: str, turn: int) -> list[int]:
    real, count, failed = getattr(os, name), iter(range(10_000)), list[int]()

    def call(*arguments: object, **options: object) -> object:
        if next(count) == turn:
            failed.append(turn)
            raise OSError(errno.EIO, "Input/output error")
        return real(*arguments, **options)

    patch.setattr(os, name, call)
    return failed


@needs_root
def test_a_file_of_another_user_is_refused_where_its_owner_cannot_stay(file: Path, folder: int) -> None:
    os.chown(file, ANOTHER_USER, ANOTHER_USER)
    assert replace(folder, "n.md", OLD, NEW).status is not None  # root may give it back
    assert (file.stat().st_uid, file.read_bytes()) == (ANOTHER_USER, NEW)
    os.chown(file, 0, 0)
    file.parent.chmod(0o777)
    said = as_another_user(lambda: replace(folder, "n.md", NEW, OLD))
    assert said.startswith("PermissionError") and "another user" in said
    assert (file.stat().st_uid, file.read_bytes(), others(file)) == (0, NEW, {})


def test_a_plain_path_is_replaced_the_same_way(file: Path, before_swap: Callable[..., None]) -> None:
    assert replacement.replace_file(file, OLD, NEW)
    assert not replacement.replace_file(file, OLD, NEW)
    before_swap(save_by_rename(file, b"one"), save_by_rename(file, b"two"))
    with pytest.raises(OSError, match="kept as"):
        replacement.replace_file(file, NEW, OLD)
    assert file.read_bytes() == b"two"


def test_a_file_system_whose_refusals_say_nothing_stops_no_edit(
    file: Path, folder: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A network drive may refuse every lease."""
    monkeypatch.setattr(leases, "_is_refused", lambda _: True)
    assert replace(folder, "n.md", OLD, NEW).status is not None
    assert (file.read_bytes(), others(file)) == (NEW, {})
