"""Seals: what somebody else did to a file is seen, what we did not see happen is read, and nothing more is."""

from __future__ import annotations

import os

import pytest

from vaultmem.files import seals


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.bin").write_bytes(b"a" * 5_000)
    (tmp_path / "meta.json").write_bytes(b"{}")
    (tmp_path / ".writer.lock").write_bytes(b"")
    return tmp_path


def test_a_seal_holds_every_file_but_locks(folder):
    assert sorted(seals.take(folder, {})) == ["data/a.bin", "meta.json"]


def test_untouched_files_are_as_they_were(folder):
    sealed = seals.take(folder, {})
    (folder / ".writer.lock").write_bytes(b"1")
    assert seals.compare(folder, sealed) == seals.Tampering()
    assert seals.is_untouched(folder, sealed)


def test_damage_loss_and_strangers_are_told_apart(folder):
    sealed = seals.take(folder, {})
    (folder / "data" / "a.bin").write_bytes(b"a" * 4_999 + b"b")
    (folder / "meta.json").unlink()
    (folder / "new").write_bytes(b"")
    found = seals.compare(folder, sealed)
    assert (found.damaged, found.vanished, found.strange) == (("data/a.bin",), ("meta.json",), ("new",))
    assert not found.is_none and str(found) == "damaged: data/a.bin; missing: meta.json; unknown: new"
    assert not seals.is_untouched(folder, sealed)


def test_the_same_bytes_under_other_times_are_no_damage(folder):
    sealed = seals.take(folder, {})
    os.utime(folder / "meta.json", ns=(1, 1))
    found = seals.compare(folder, sealed)
    assert found.is_none and found.restamped == ("meta.json",)
    assert seals.compare(folder, seals.take(folder, sealed)) == seals.Tampering()


def test_rot_that_leaves_every_stat_value_is_found_when_every_byte_is_read(folder):
    sealed = seals.take(folder, {})
    rotten = {**sealed, "data/a.bin": sealed["data/a.bin"]._replace(digest="of other bytes")}
    assert seals.compare(folder, rotten) == seals.Tampering()
    assert seals.compare(folder, rotten, every_byte=True).damaged == ("data/a.bin",)


def test_a_seal_reads_only_what_changed(folder, monkeypatch):
    sealed = seals.take(folder, {})
    (folder / "new").write_bytes(b"n")
    read: list[str] = []
    digest = seals._digest
    monkeypatch.setattr(seals, "_digest", lambda place, name: read.append(name) or digest(place, name))
    assert set(seals.take(folder, sealed)) == {*sealed, "new"}
    assert read == ["new"]


def test_a_seal_survives_as_text_and_another_text_is_none(folder):
    sealed = seals.take(folder, {})
    assert seals.of_text(seals.to_text(sealed)) == sealed
    assert seals.of_text(None) is None
    assert seals.of_text("{") is None
    assert seals.of_text('["x"]') is None


def test_a_link_in_a_files_place_is_damage(folder, tmp_path_factory):
    sealed = seals.take(folder, {})
    outside = tmp_path_factory.mktemp("outside") / "meta.json"
    outside.write_bytes(b"{}")
    (folder / "meta.json").unlink()
    (folder / "meta.json").symlink_to(outside)
    assert seals.compare(folder, sealed).damaged == ("meta.json",)


def test_a_database_is_as_it_was_left_until_somebody_writes_to_it(folder):
    database = folder / "a.sqlite"
    assert not seals.is_as_left(database)
    seals.note_left(database)
    assert not seals.is_as_left(database)
    database.write_bytes(b"x")
    seals.note_left(database)
    assert seals.is_as_left(database)
    database.write_bytes(b"yy")
    assert not seals.is_as_left(database)
