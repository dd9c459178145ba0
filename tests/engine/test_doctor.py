"""Doctor: what is wrong is seen and named by the right check; what is not wrong is left alone."""

from __future__ import annotations

import os
from collections import namedtuple
from dataclasses import replace
from pathlib import Path

import pytest

from tests.engine.asking import detail, failing, open_plain
from tests.engine.damage import drop_documents
from vaultmem.engine import doctor
from vaultmem.engine.engine import Engine
from vaultmem.errors import RootMissingError, WriterBusyError
from vaultmem.stores import access

INTEGRITY = (
    "root",
    "catalog",
    "notes_on_record",
    "lexical_agrees",
    "dense_agrees",
    "lexical_intact",
    "dense_intact",
    "dense_answers",
    "calibration",
)


# --- all well, and what is not about the caches


def test_a_fresh_vault_is_healthy_and_every_check_is_named(synced):
    with synced.engine() as engine:
        report = engine.doctor()
    assert report.healthy and report.caches_agree and report.diagnostics == ()
    names = [check.name for check in report.checks]
    assert set(INTEGRITY) <= set(names) and {"lock", "disk", "state_dir", "model", "versions"} <= set(names)
    assert "alpha" not in detail(report, "model") and "16 dimensions" in detail(report, "model")


def test_doctor_needs_no_sync_before_it(world):
    world.note("a.md", "a")
    with Engine.open(world.root, world.state_dir, "none") as engine:
        assert engine.doctor().healthy


def test_notes_that_need_attention_are_no_fault_of_the_caches(synced):
    synced.note("a.md", "a", tags="")
    with synced.engine() as engine:
        report = engine.doctor()
    assert not report.healthy and report.caches_agree
    assert [(str(d.code), d.path, d.id) for d in report.diagnostics] == [("no_tags", "a.md", "a")]
    assert report.diagnostics[0].message and report.diagnostics[0].fix


def test_info_alone_is_well(synced):
    synced.note("a.md", "a", status="deprecated")
    with synced.engine() as engine:
        report = engine.doctor()
    assert [str(d.severity) for d in report.diagnostics] == ["info"]
    assert report.healthy


def test_caches_inside_what_sync_tools_copy_are_warned_of(world):
    world.state_dir = world.folder / "vault" / ".caches"
    world.note("a.md", "a")
    with Engine.open(world.root, world.state_dir, "none") as engine:
        report = engine.doctor()
    assert failing(report) == ["state_dir"]
    assert "vault" in detail(report, "state_dir") and "--state-dir" in detail(report, "state_dir")
    assert report.caches_agree and not report.healthy


def test_a_full_disk_is_warned_of(synced, monkeypatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda _: usage(10, 9, 1_000_000))
    with synced.engine() as engine:
        report = engine.doctor()
    assert failing(report) == ["disk"] and report.caches_agree


def test_a_model_that_fails_is_named_and_does_not_keep_repair_from_mending_the_rest(synced):
    synced.embedder.is_failing = True
    drop_documents(synced, "a")
    with synced.engine() as engine:
        assert set(failing(engine.doctor())) == {"lexical_agrees", "model"}
        report = engine.doctor(repair=True)
    assert failing(report) == ["model"]
    assert report.caches_agree and not report.healthy


def test_a_missing_root_fails_what_it_must_and_nothing_is_repaired(synced):
    synced.root.rename(synced.folder / "away")
    with synced.engine() as engine:
        report = engine.doctor()
        assert "root" in failing(report) and not report.caches_agree
        assert [str(d.code) for d in report.diagnostics] == ["root_missing"]
        with pytest.raises(RootMissingError):
            engine.doctor(repair=True)
        with engine.parts.access.reader() as caches:
            assert caches.catalog.counts().notes == 3


def test_repair_needs_the_lock(synced, monkeypatch):
    monkeypatch.setattr(access, "WRITER_WAIT_S", 0.1)
    with synced.engine(hold=True), synced.engine() as beside:
        assert beside.doctor().healthy
        with pytest.raises(WriterBusyError):
            beside.doctor(repair=True)


def test_a_disagreement_that_a_writer_is_about_to_end_is_none(synced, monkeypatch):
    """The check runs while rows are there that no digest vouches for yet."""
    difference = doctor.integrity.find_disagreement
    answers = []

    def in_the_middle(caches, store):
        found = difference(caches, store)
        answers.append(store)
        is_first = answers.count(store) == 1
        return replace(found, leftovers=frozenset({(99, "digest")})) if is_first else found

    monkeypatch.setattr(doctor.integrity, "find_disagreement", in_the_middle)
    with synced.engine(hold=True) as engine:
        assert engine.doctor().healthy
    answers.clear()
    with synced.engine() as engine:  # nobody writes: what disagrees stays so
        assert failing(engine.doctor()) == ["lexical_agrees", "dense_agrees"]


# --- notes that cannot be read


def test_a_note_that_cannot_be_read_is_a_finding_and_no_disagreement(synced):
    (synced.root / "a.md").write_text("---\nid: a\nnever closed\n")
    os.utime(synced.root / "a.md", (1, 1))
    synced.sync()
    with synced.engine() as engine:
        report = engine.doctor()
        assert report.caches_agree and [str(d.code) for d in report.diagnostics] == ["bad_yaml"]
        engine.reindex()
        assert engine.doctor().caches_agree
        assert engine.doctor(repair=True).caches_agree


def test_a_note_whose_name_is_not_utf8_is_told_of(world):
    world.note("a.md", "a")
    Path(os.fsdecode(os.fsencode(world.root) + b"/caf\xe9.md")).write_text("---\nid: lost\n---\n")
    with Engine.open(world.root, world.state_dir, "none") as engine:
        report = engine.doctor()
        assert [(str(d.code), d.path) for d in report.diagnostics] == [("unreadable", "caf\\xe9.md")]
        assert report.caches_agree
        assert engine.sync().changed == 0


def test_a_link_in_the_place_of_our_folder_in_the_vault_is_told_of(synced, tmp_path):
    (tmp_path / "outside").mkdir()
    (synced.root / ".vaultmem").symlink_to(tmp_path / "outside")
    with open_plain(synced) as engine:
        (check,) = (check for check in engine.doctor().checks if check.name == "own_folders")
    assert not check.ok and ".vaultmem/events cannot be used: a symbolic link" in check.detail
    (synced.root / ".vaultmem").unlink()
    (synced.root / ".vaultmem").mkdir()
    (synced.root / ".vaultmem" / "turn").symlink_to(tmp_path / "outside")
    with open_plain(synced) as engine:
        (check,) = (check for check in engine.doctor().checks if check.name == "own_folders")
    assert not check.ok and "hint" not in check.detail and "do not wait for each other" in check.detail


def test_an_event_file_that_is_a_link_is_told_of(synced, tmp_path):
    events = synced.root / ".vaultmem" / "events"
    events.mkdir(parents=True)
    (events / "s.jsonl").touch()
    (events / "t.jsonl").symlink_to(tmp_path / "outside")
    with open_plain(synced) as engine:
        (check,) = (check for check in engine.doctor().checks if check.name == "own_folders")
    assert not check.ok and "t.jsonl in it is a symbolic link" in check.detail


def test_a_state_dir_that_others_may_enter_is_told_of_and_closed_by_the_next_sync(synced):
    synced.state_dir.chmod(0o755)
    (synced.state_dir / "catalog.sqlite").chmod(0o644)
    with open_plain(synced) as engine:
        assert "state_dir" in failing(engine.doctor())
    synced.sync()
    with open_plain(synced) as engine:
        assert "state_dir" not in failing(engine.doctor())
    assert (synced.state_dir / "catalog.sqlite").stat().st_mode & 0o777 == 0o600
