"""The only hand on the notes: how they are read, and how they are written without harm."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.files.disk import as_another_user, deep_chain, needs_root, open_to_all, put, refuse
from vaultmem.errors import (
    ConcurrentChangeError,
    EditRefusedError,
    NoteNotFoundError,
    RefusedError,
    RootMissingError,
)
from vaultmem.files import exchange, lock, replacement, vault
from vaultmem.files.replacement import Replaced
from vaultmem.files.snapshot import NO_FILE, FileStat
from vaultmem.files.vault import Vault
from vaultmem.notes.parse import digest_of
from vaultmem.notes.problems import Code


def names(root: Path) -> list[str]:
    """What lies in the root beside our own folder."""
    return sorted(name for name in os.listdir(root) if name != ".vaultmem")


KILLED_WRITE = Path(__file__).parent / "programs" / "killed_write.py"


# --- reading


def test_a_note_is_read_with_the_state_of_its_bytes(root: Path) -> None:
    file = put(root, "a/n.md", "---\nid: mem_1\n---\nbody")
    reading = Vault(root).read_note("a/n.md")
    note, state = reading.note, reading.stat
    assert (note.id, note.path, state) == ("mem_1", "a/n.md", FileStat.of(file.stat()))
    assert note.digest == digest_of(file.read_bytes())
    assert Vault(root).stat("a/n.md") == state


def test_a_note_that_is_gone_is_not_found(root: Path) -> None:
    (root / "dir.md").mkdir()
    os.mkfifo(root / "pipe.md")
    put(root, "file.md")
    for path in ("gone.md", "no/such/n.md", "dir.md", "pipe.md", "file.md/n.md"):
        with pytest.raises(NoteNotFoundError):
            Vault(root).read_note(path)
        assert Vault(root).stat(path) is None


def test_a_cloud_stub_is_an_unknown_note(root: Path) -> None:
    put(root, ".n.md.icloud")
    reading = Vault(root).read_note("n.md")
    note, state = reading.note, reading.stat
    assert ([p.code for p in note.problems], note.is_readable, state) == (
        [Code.CLOUD_PLACEHOLDER],
        False,
        NO_FILE,
    )


def test_a_note_that_vanished_since_it_was_seen_is_none(root: Path) -> None:
    put(root, "n.md", "text")
    seen = FileStat(1, 2, 3, 4)
    found = Vault(root).note_at("n.md", seen)
    assert found is not None and (found.note.body, found.stat) == ("text", Vault(root).stat("n.md"))
    (root / "n.md").unlink()
    assert Vault(root).note_at("n.md", seen) is None
    put(root, ".n.md.icloud")
    stub = Vault(root).note_at("n.md", seen)
    assert stub is not None and (stub.note.is_readable, stub.stat) == (False, seen)


def test_a_notes_file_is_read_and_nothing_else_is(root: Path, tmp_path: Path) -> None:
    put(root, "a/n.md", "text")
    put(tmp_path / "outside", "o.md", "secret")
    (root / "ext").symlink_to(tmp_path / "outside")
    (root / "o.md").symlink_to(tmp_path / "outside" / "o.md")
    os.mkfifo(root / "pipe.md")
    assert Vault(root).read("a/n.md")[0] == b"text"
    before = len(os.listdir("/dev/fd"))
    for path in ("ext/o.md", "o.md", "pipe.md", "a", "gone.md", ".x/n.md", "../outside/o.md"):
        with pytest.raises(NoteNotFoundError):
            Vault(root).read(path)
    with pytest.raises(RefusedError, match="too long"):
        Vault(root).read("x" * 300 + ".md")
    assert len(os.listdir("/dev/fd")) == before


def test_an_unreadable_note_is_an_unknown_note(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(root, "n: odd.md")
    refuse(monkeypatch, "open", "odd.md")
    reading = Vault(root).read_note("n: odd.md")
    note, state = reading.note, reading.stat
    assert (note.problems[0].code, note.problems[0].detail) == (Code.UNREADABLE, "permission denied")
    assert (note.is_readable, state) == (False, NO_FILE)


def test_a_note_beyond_all_measure_is_unreadable(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(root, "n.md", "x" * 100)
    monkeypatch.setattr(vault, "NOTE_LIMIT_BYTES", 99)
    assert Vault(root).read_note("n.md").note.problems[0].code is Code.UNREADABLE


def changing_reads(monkeypatch: pytest.MonkeyPatch, file: Path, times: int) -> list[int]:
    """Let the file grow while it is read, so many times."""
    real, reads = vault._read_once, list[int]()

    def read(*arguments: Any) -> tuple[Any, FileStat, FileStat]:
        made, before, _ = real(*arguments)
        if len(reads) < times:
            file.write_text(f"{len(reads)}" * (len(reads) + 50), "utf-8")
        reads.append(before.size)
        return made, before, FileStat.of(file.stat())

    monkeypatch.setattr(vault, "_read_once", read)
    monkeypatch.setattr(vault, "READ_PAUSE_S", 0.0)
    return reads


def test_a_file_that_changes_under_the_reader_is_read_again(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = put(root, "n.md")
    reads = changing_reads(monkeypatch, file, times=2)
    data, state = Vault(root).read("n.md")
    assert (data, state) == (b"1" * 51, FileStat.of(file.stat()))
    assert len(reads) == 3


def test_the_digest_is_that_of_the_bytes_in_however_many_pieces(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = put(root, "n.md")
    file.write_bytes(b"---\nid: a\n---\n" + "缓存".encode() * 500)
    whole = Vault(root).read_note("n.md").note
    monkeypatch.setattr(vault, "PIECE_BYTES", 7)
    assert Vault(root).digest("n.md") == digest_of(file.read_bytes()) == whole.digest
    assert Vault(root).read_note("n.md").note == whole
    with pytest.raises(NoteNotFoundError):
        Vault(root).digest("none.md")


def test_a_file_that_does_not_come_to_rest_is_unknown(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changing_reads(monkeypatch, put(root, "n.md"), times=99)
    reading = Vault(root).read_note("n.md")
    note, state = reading.note, reading.stat
    assert (note.problems[0].code, note.is_readable, state) == (Code.UNREADABLE, False, NO_FILE)


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/etc/passwd",
        "../x.md",
        "a/../../x.md",
        "a//b.md",
        "a/./b.md",
        "a\0b.md",
        ".trash/x.md",
        "a/.b/x.md",
    ],
)
def test_a_path_cannot_leave_the_root_or_enter_what_is_hidden(root: Path, path: str) -> None:
    for act in (Vault(root).read, Vault(root).trash):
        with pytest.raises(NoteNotFoundError):
            act(path)
    with pytest.raises(RefusedError):
        Vault(root).create(path, b"x")
    with pytest.raises(NoteNotFoundError):
        Vault(root).replace(path, b"", b"x")


def test_a_path_cannot_pass_a_link(root: Path, tmp_path: Path) -> None:
    outside = put(tmp_path / "outside", "o.md", "secret")
    (root / "ext").symlink_to(tmp_path / "outside", target_is_directory=True)
    (root / "file.md").symlink_to(outside)
    for path in ("ext/o.md", "file.md"):
        with pytest.raises(NoteNotFoundError, match="link"):
            Vault(root).read(path)
        with pytest.raises(EditRefusedError, match="link"):
            Vault(root).replace(path, b"secret", b"changed")
        with pytest.raises(EditRefusedError, match="link"):
            Vault(root).create(path, b"changed")
    assert outside.read_text() == "secret"


# --- replacing


def test_a_replace_keeps_the_mode_and_leaves_nothing_behind(root: Path) -> None:
    file = put(root, "n.md", "old")
    file.chmod(0o640)
    state = Vault(root).replace("n.md", b"old", b"new")
    assert (file.read_bytes(), file.stat().st_mode & 0o777, state) == (
        b"new",
        0o640,
        FileStat.of(file.stat()),
    )
    assert names(root) == ["n.md"]


def test_a_replace_refuses_when_the_file_is_no_longer_what_was_read(root: Path) -> None:
    file = put(root, "n.md", "edited by someone")
    with pytest.raises(ConcurrentChangeError):
        Vault(root).replace("n.md", b"old", b"new")
    assert file.read_text() == "edited by someone"
    file.unlink()
    with pytest.raises(NoteNotFoundError):
        Vault(root).replace("n.md", b"old", b"new")
    assert names(root) == []


def test_an_edit_at_the_last_moment_wins(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = put(root, "n.md", "old")
    real = replacement._take_after

    def edited_meanwhile(descriptor: int, old: int) -> None:
        real(descriptor, old)
        file.write_text("edited meanwhile")

    monkeypatch.setattr(replacement, "_take_after", edited_meanwhile)
    with pytest.raises(ConcurrentChangeError):
        Vault(root).replace("n.md", b"old", b"new")
    assert (file.read_text(), names(root)) == ("edited meanwhile", ["n.md"])


def test_a_write_protected_note_is_not_replaced(root: Path) -> None:
    put(root, "n.md", "old").chmod(0o444)
    with pytest.raises(RefusedError, match="write-protected"):
        Vault(root).replace("n.md", b"old", b"new")


def test_a_full_disk_leaves_the_note_alone(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = put(root, "n.md", "old")

    def full(descriptor: int, data: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(RefusedError, match="no space left"):
        Vault(root).replace("n.md", b"old", b"new")
    assert (file.read_text(), names(root)) == ("old", ["n.md"])


def test_writers_of_one_note_wait_for_each_other(root: Path) -> None:
    put(root, "n.md", "0")
    outcomes: list[str] = []

    def count_up() -> None:
        for _ in range(20):
            while True:
                before, _ = Vault(root).read("n.md")
                try:
                    Vault(root).replace("n.md", before, str(int(before) + 1).encode())
                    break
                except ConcurrentChangeError:
                    outcomes.append("again")

    threads = [threading.Thread(target=count_up) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (root / "n.md").read_text() == "80"


def test_a_stuck_writer_is_not_waited_for_without_end(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(root, "n.md", "old")
    monkeypatch.setattr(vault, "TURN_WAIT_S", 0.0)
    with lock.turn(root, vault.TURN_FOLDER, 0.0), pytest.raises(RefusedError, match="another process"):
        Vault(root).replace("n.md", b"old", b"new")


def test_a_killed_write_leaves_the_old_text_and_a_leftover_that_is_swept(root: Path) -> None:
    put(root, "n.md", "old")
    killed = subprocess.run([sys.executable, KILLED_WRITE, root], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert (root / "n.md").read_text() == "old"
    assert len(names(root)) == 2
    assert set(Vault(root).scan().files) == {"n.md"}
    assert Vault(root).sweep_leftovers() == 0  # it could be a write that is under way
    assert Vault(root).sweep_leftovers(older_than_s=0) == 1
    assert names(root) == ["n.md"]


# --- creating


def test_a_new_note_never_takes_a_name_that_is_taken(root: Path) -> None:
    paths = [Vault(root).create("2026/05/week2/n.md", text) for text in (b"1", b"2", b"3")]
    assert paths == [f"2026/05/week2/{name}.md" for name in ("n", "n-2", "n-3")]
    assert [(root / path).read_bytes() for path in paths] == [b"1", b"2", b"3"]
    assert len(os.listdir(root / "2026/05/week2")) == 3


def test_a_cloud_stub_takes_its_name_as_well(root: Path) -> None:
    put(root, "a/.n.md.icloud")
    assert Vault(root).create("a/n.md", b"x") == "a/n-2.md"


def test_a_new_note_is_made_whole_where_hard_links_are_missing(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    assert [Vault(root).create("n.md", text) for text in (b"1", b"2")] == ["n.md", "n-2.md"]
    assert names(root) == ["n-2.md", "n.md"]


def test_a_new_note_needs_a_root_and_a_notes_name(root: Path, tmp_path: Path) -> None:
    with pytest.raises(RootMissingError):
        Vault(tmp_path / "gone").create("n.md", b"x")
    with pytest.raises(RefusedError, match="no name for a note"):
        Vault(root).create("n.txt", b"x")
    put(root, "file.md")
    with pytest.raises(RefusedError, match="not a folder"):
        Vault(root).create("file.md/n.md", b"x")
    with pytest.raises(RefusedError, match="too long"):
        Vault(root).create("x" * 300 + ".md", b"x")


# --- trash


def test_a_note_goes_to_the_trash_of_its_vault_and_back(root: Path) -> None:
    put(root, "a/n.md", "text")
    trashed = Vault(root).trash("a/n.md")
    assert trashed == root.parent / ".trash" / "n.md"
    assert (trashed.read_text(), Vault(root).scan().files) == ("text", {})
    (root / "a").rmdir()
    Vault(root).restore(trashed, "a/n.md")
    assert ((root / "a/n.md").read_text(), trashed.exists()) == ("text", False)


def test_the_trash_keeps_both_of_two_notes_of_one_name(root: Path) -> None:
    for folder in ("a", "b"):
        put(root, f"{folder}/n.md", folder)
        Vault(root).trash(f"{folder}/n.md")
    trash = root.parent / ".trash"
    assert {path.name: path.read_text() for path in trash.iterdir()} == {"n.md": "a", "n 2.md": "b"}


def test_nothing_is_overwritten_by_a_restore(root: Path) -> None:
    put(root, "n.md", "old")
    trashed = Vault(root).trash("n.md")
    put(root, "n.md", "new")
    with pytest.raises(RefusedError, match="another file"):
        Vault(root).restore(trashed, "n.md")
    trashed.unlink()
    with pytest.raises(NoteNotFoundError):
        Vault(root).restore(trashed, "m.md")
    assert (root / "n.md").read_text() == "new"


def test_without_a_vault_there_is_no_trash(tmp_path: Path) -> None:
    put(tmp_path, "n.md")
    with pytest.raises(RefusedError, match="no Obsidian vault"):
        Vault(tmp_path).trash("n.md")
    assert (tmp_path / "n.md").exists()


def test_what_is_gone_cannot_be_trashed(root: Path) -> None:
    with pytest.raises(NoteNotFoundError):
        Vault(root).trash("gone.md")


def test_a_trash_that_is_a_link_takes_no_note(root: Path, tmp_path: Path) -> None:
    file = put(root, "n.md", "text")
    (tmp_path / "outside").mkdir()
    trash = root.parent / ".trash"
    trash.symlink_to(tmp_path / "outside")
    with pytest.raises(EditRefusedError, match=r"\.trash is a symbolic link"):
        Vault(root).trash("n.md")
    put(tmp_path, "outside/m.md", "foreign")
    with pytest.raises(EditRefusedError, match="symbolic link"):
        Vault(root).restore(trash / "m.md", "m.md")
    assert (file.read_text(), os.listdir(tmp_path / "outside"), names(root)) == ("text", ["m.md"], ["n.md"])


def test_only_notes_go_to_the_trash_and_only_what_lies_there_comes_back(root: Path, tmp_path: Path) -> None:
    (root / "folder.md").mkdir()
    outside = put(tmp_path, "o.md", "foreign")
    (root / "link.md").symlink_to(outside)
    for path, refusal in (("folder.md", NoteNotFoundError), ("link.md", EditRefusedError)):
        with pytest.raises(refusal):
            Vault(root).trash(path)
    with pytest.raises(RefusedError, match="not in the trash"):
        Vault(root).restore(outside, "o.md")
    (root.parent / ".trash" / "planted.md").symlink_to(outside)
    with pytest.raises(EditRefusedError, match="symbolic link"):
        Vault(root).restore(root.parent / ".trash" / "planted.md", "o.md")
    assert outside.read_text() == "foreign" and names(root) == ["folder.md", "link.md"]


def test_a_save_at_the_instant_of_the_move_goes_to_the_trash_with_it(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = put(root, "n.md", "old")
    real = exchange.move_to_free_name

    def save_first(*arguments: Any) -> bool:
        (root / "editor.tmp").write_text("saved")
        (root / "editor.tmp").replace(file)
        return real(*arguments)

    monkeypatch.setattr(exchange, "move_to_free_name", save_first)
    assert (Vault(root).trash("n.md").read_text(), names(root)) == ("saved", [])
    put(root, "n.md", "old")
    monkeypatch.setattr(exchange, "move_to_free_name", lambda *_: False)  # a system without it
    assert (Vault(root).trash("n.md").read_text(), names(root)) == ("old", [])


def test_the_loser_of_two_saves_is_kept_and_told(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = put(root, "a/n.md", "old")
    real, saves = exchange.swap, ["first", "second"]

    def save_first(*arguments: Any) -> bool:
        if saves:
            (root / "editor.tmp").write_text(saves.pop(0))
            (root / "editor.tmp").replace(file)
        return real(*arguments)

    monkeypatch.setattr(exchange, "swap", save_first)
    with pytest.raises(ConcurrentChangeError, match=r"kept as \.vaultmem/lost/.*-n\.md") as refused:
        Vault(root).replace("a/n.md", b"old", b"new")
    assert (root / refused.value.kept).read_text() == "first"
    assert (file.read_text(), os.listdir(root / "a")) == ("second", ["n.md"])


def test_a_loser_that_cannot_be_kept_apart_stays_beside_its_note(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = put(root, "n.md", "old")
    (root / ".vaultmem").symlink_to(tmp_path)
    monkeypatch.setattr(replacement, "replace", lambda *_: Replaced(None, "kept.old"))
    (root / "kept.old").write_bytes(b"late")
    with pytest.raises(ConcurrentChangeError) as refused:
        Vault(root).replace("n.md", b"old", b"new")
    assert (refused.value.kept, file.read_bytes(), (root / "kept.old").read_bytes()) == (
        "kept.old",
        b"old",
        b"late",
    )


@needs_root
def test_a_note_of_another_user_is_not_taken_over(root: Path) -> None:
    file = put(root, "n.md", "old")
    open_to_all(root)
    root.chmod(0o777)
    said = as_another_user(lambda: Vault(root).replace("n.md", b"old", b"new"))
    assert said.startswith("RefusedError: cannot write n.md: it belongs to another user"), said
    assert (file.read_text(), file.stat().st_uid) == ("old", 0)


def test_a_chain_of_folders_beyond_any_path_is_read_and_written(root: Path) -> None:
    with deep_chain(root, 50, "d" * 100):  # longer than the system takes as one path
        path = Vault(root).create("/".join(["d" * 100] * 50) + "/n.md", b"old")
        assert set(Vault(root).scan().files) == {path} == set(Vault(root).scan([path]).files)
        Vault(root).replace(path, b"old", b"new")
        assert Vault(root).read(path)[0] == b"new" and Vault(root).stat(path) is not None


def test_a_root_has_an_identity_of_its_own(root: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    assert Vault(root).identity() == Vault(root).identity() != Vault(other).identity()
