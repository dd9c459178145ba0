"""What only the real lexical store can break: its folder, Tantivy's lock, and other processes beside it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vaultmem.errors import StoreError
from vaultmem.stores import lexical
from vaultmem.stores.lexical import LexicalStore
from vaultmem.stores.lexical_documents import LexicalDoc


def doc(key: int, digest: str = "aa", **terms: int) -> LexicalDoc:
    return LexicalDoc(key, digest, terms or {"alpha": 1, "beta": 2})


def filled(folder: Path, docs: int) -> LexicalStore:
    store = LexicalStore(folder, writable=True)
    store.add([doc(key) for key in range(docs)])
    return store


# --- opening


def test_a_reader_does_not_make_a_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError):
        LexicalStore(tmp_path / "lexical", writable=False)
    assert not (tmp_path / "lexical").exists()


def test_a_reader_refuses_to_write(tmp_path: Path) -> None:
    filled(tmp_path, 1)
    reader = LexicalStore(tmp_path, writable=False)
    for write in (
        lambda: reader.add([doc(2)]),
        lambda: reader.delete([(0, "aa")]),
        lambda: reader.delete_keys([0]),
        lambda: reader.maintain(),
    ):
        with pytest.raises(StoreError, match="reading only"):
            write()


def test_a_folder_of_someone_else_is_refused_and_untouched(tmp_path: Path) -> None:
    (tmp_path / "theirs.txt").write_text("keep me")
    with pytest.raises(StoreError):
        LexicalStore(tmp_path, writable=True)
    assert [path.name for path in tmp_path.iterdir()] == ["theirs.txt"]


def test_another_version_is_refused(tmp_path: Path) -> None:
    filled(tmp_path, 1)
    stamp = json.loads((tmp_path / "store.json").read_text())
    (tmp_path / "store.json").write_text(json.dumps(stamp | {"version": 0}))
    with pytest.raises(StoreError, match="version"):
        LexicalStore(tmp_path, writable=True)


def test_an_index_with_other_fields_is_refused(tmp_path: Path) -> None:
    import tantivy

    filled(tmp_path / "ours", 1)
    other = tmp_path / "other"
    other.mkdir()
    tantivy.Index(tantivy.SchemaBuilder().add_text_field("theirs").build(), path=str(other))
    shutil.copy(tmp_path / "ours" / "store.json", other)
    with pytest.raises(StoreError, match="version"):
        LexicalStore(other, writable=True)


def test_an_open_store_is_used_again_after_closing(tmp_path: Path) -> None:
    store = filled(tmp_path, 3)
    store.close()
    store.add([doc(3)])
    assert store.count() == 4


# --- damage


def remove_meta(folder: Path) -> None:
    (folder / "meta.json").unlink()


def tear_meta(folder: Path) -> None:
    os.truncate(folder / "meta.json", 40)


def empty_meta(folder: Path) -> None:
    os.truncate(folder / "meta.json", 0)


def other_meta(folder: Path) -> None:
    (folder / "meta.json").write_text("[1]")


def remove_segments(folder: Path) -> None:
    for path in folder.glob("*.*"):
        if path.suffix in (".idx", ".term", ".store", ".fast"):
            path.unlink()


def tear_segments(folder: Path) -> None:
    for path in folder.glob("*.*"):
        if path.suffix in (".idx", ".term", ".store", ".fast", ".fieldnorm", ".pos"):
            os.truncate(path, path.stat().st_size // 2)


def scramble_segments(folder: Path) -> None:
    for path in folder.glob("*.*"):
        if path.suffix in (".idx", ".term", ".store", ".fast", ".fieldnorm", ".pos"):
            path.write_bytes(os.urandom(path.stat().st_size))


def remove_stamp(folder: Path) -> None:
    (folder / "store.json").unlink()


def scramble_stamp(folder: Path) -> None:
    (folder / "store.json").write_bytes(os.urandom(50))


DAMAGES = [
    remove_meta,
    tear_meta,
    empty_meta,
    other_meta,
    remove_segments,
    tear_segments,
    scramble_segments,
    remove_stamp,
    scramble_stamp,
]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("writable", [True, False])
def test_every_damage_is_a_store_error_and_nothing_else(
    tmp_path: Path, damage: Callable[[Path], None], writable: bool
) -> None:
    filled(tmp_path, 30).close()
    damage(tmp_path)
    asks: list[Callable[[LexicalStore], Any]] = [
        lambda store: store.count(),
        lambda store: store.versions(),
        lambda store: store.statistics(),
        lambda store: store.document_frequencies(["alpha"]),
        lambda store: store.search(["alpha"], 5),
        lambda store: store.read([1], ["alpha"]),
        lambda store: store.size_bytes(),
    ]
    failures = 0
    for ask in asks:
        try:
            ask(LexicalStore(tmp_path, writable=writable))
        except StoreError as error:
            failures += 1
            assert str(tmp_path) in str(error)
            assert error.advice
    assert failures


@pytest.mark.parametrize("damage", [remove_meta, empty_meta, shutil.rmtree])
def test_damage_under_an_open_store_is_a_store_error(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    store = filled(tmp_path / "lexical", 3)
    store.count()
    damage(tmp_path / "lexical")
    with pytest.raises(StoreError):
        store.versions()
    with pytest.raises(StoreError):
        store.add([doc(9)])


def test_a_failing_add_adds_nothing(tmp_path: Path) -> None:
    store = filled(tmp_path, 1)
    with pytest.raises(StoreError):
        store.add([doc(1), LexicalDoc(-1, "aa", {"alpha": 1})])
    assert store.versions() == {(0, "aa"): 1}
    store.add([doc(2)])
    assert store.count() == 2


# --- other processes


def test_a_reader_in_another_process_sees_each_commit(tmp_path: Path, peer: Callable) -> None:
    store = filled(tmp_path, 1)
    reader = peer("lexical_reader", tmp_path)
    assert reader.ask("?") == "[(0, 'aa')] 1 (1, 3)"
    store.add([doc(1, "bb")])
    assert reader.ask("?") == "[(0, 'aa'), (1, 'bb')] 2 (2, 6)"
    store.delete([(0, "aa")])
    assert reader.ask("?") == "[(1, 'bb')] 1 (1, 3)"


def test_a_busy_reader_survives_merges_and_the_removal_of_files(tmp_path: Path, peer: Callable) -> None:
    store = filled(tmp_path, 60)
    reader = peer("busy_lexical_reader", tmp_path)
    turn = 0
    while turn < 20:  # a fast reader may be through before the writer has had a turn
        reader.say("go")
        while not reader.has_spoken:
            store.add([doc(turn % 3, f"{turn}")])
            store.delete([(turn % 3, f"{turn - 3}" if turn >= 3 else "aa")])
            store.maintain(force=turn % 5 == 0)
            turn += 1
        assert reader.hear() == "{(10, 10)}"


@pytest.mark.parametrize("moment", ["in a commit", "between commits"])
def test_a_killed_writer_leaves_no_lock_and_whole_commits(
    tmp_path: Path, peer: Callable, moment: str
) -> None:
    writer = peer("lexical_writer", tmp_path, moment)
    while writer.hear() not in ("writing", "4"):
        assert writer.process.poll() is None
    writer.kill()
    store = LexicalStore(tmp_path, writable=True)
    assert set(store.versions().values()) <= {3}
    store.add([doc(777)])
    store.maintain(force=True)
    assert store.versions()[777, "aa"] == 1


# --- disk use


def test_many_single_edits_leave_few_files_and_little_waste(tmp_path: Path) -> None:
    store = filled(tmp_path / "edited", 100)
    most = 0
    for turn in range(60):
        store.add([doc(turn % 20, f"{turn + 1}")])
        store.delete([(turn % 20, f"{turn - 19}" if turn >= 20 else "aa")])
        most = max(most, len(os.listdir(tmp_path / "edited")))
    assert most < 100
    store.maintain(force=True)
    fresh = filled(tmp_path / "fresh", 100)
    assert store.count() == 100
    assert store.size_bytes() < 3 * fresh.size_bytes() + 20_000


def test_leftovers_of_killed_writers_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lexical, "FILES_IN_ORDER", 0)
    filled(tmp_path, 5).close()
    left = leave_a_segment(tmp_path)
    store = LexicalStore(tmp_path, writable=True)
    assert left <= set(os.listdir(tmp_path))
    store.maintain()
    assert not left & set(os.listdir(tmp_path))
    store.add([doc(200)])
    assert store.count() == 6


def leave_a_segment(folder: Path) -> set[str]:
    """What a writer leaves that is killed in a merge: the files of a segment that no commit names. Returns them.

    Whether a merge that is abandoned in fact leaves any is a matter of how far it came.
    """
    managed = folder / ".managed.json"
    names = json.loads(managed.read_text())
    segment = [name for name in names if (folder / name).is_file() and len(name.partition(".")[0]) == 32]
    left = {"f" * 32 + "." + name.partition(".")[2]: name for name in segment}
    for name, like in left.items():
        shutil.copy(folder / like, folder / name)
    managed.write_text(json.dumps([*names, *left]))
    assert len(left) >= 5
    return set(left)


def test_upkeep_after_each_edit_keeps_few_files_and_every_answer(tmp_path: Path) -> None:
    store = filled(tmp_path / "edited", 100)
    most = 0
    for turn in range(30):
        key = turn % 20
        store.delete_keys([key])
        store.add([doc(key, f"{turn}", alpha=1 + turn % 3, gamma=turn + 1)])
        if store.is_untidy:
            store.maintain()
        most = max(most, len(os.listdir(tmp_path / "edited")))
    assert most <= lexical.FILES_IN_ORDER + 10
    fresh = LexicalStore(tmp_path / "fresh", writable=True)
    fresh.add([doc(key) for key in range(20, 100)])
    fresh.add([doc(t % 20, f"{t}", alpha=1 + t % 3, gamma=t + 1) for t in range(10, 30)])
    assert store.versions() == fresh.versions()
    assert store.statistics() == fresh.statistics()
    assert store.document_frequencies(["alpha", "gamma"]) == fresh.document_frequencies(["alpha", "gamma"])
    assert store.read(range(100), ["alpha", "gamma"]) == fresh.read(range(100), ["alpha", "gamma"])
    store.verify()


def test_a_merge_copies_terms_that_are_written_in_an_escaped_way(tmp_path: Path) -> None:
    odd = {"a\\b": 2, "c d": 1, "\ud800": 3}
    store = LexicalStore(tmp_path, writable=True)
    for key in range(4):
        store.add([LexicalDoc(key, "aa", odd)])
    store.maintain(force=True)
    assert [hit.counts for hit in store.read([0, 3], list(odd))] == [odd, odd]
    assert store.document_frequencies(list(odd)) == dict.fromkeys(odd, 4)


def test_what_a_store_may_not_write_is_read_through_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tantivy takes a lock before it reads; a folder that may not be written has no place for one."""
    store = filled(tmp_path / "store", 2)
    monkeypatch.setattr(lexical.os, "access", lambda *_: False)
    reader = LexicalStore(tmp_path / "store", writable=False)
    assert reader.count() == 2
    store.add([doc(7)])
    assert reader.count() == 3, "also what another user's writer commits"
    links = reader._linked_in.path
    del reader
    assert not links.exists()
