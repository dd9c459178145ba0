"""The JSON documents: their keys, and what stands in them."""

from __future__ import annotations

import pytest

from tests.shell import TIME


def test_sync_json_has_its_keys(shell):
    shell.note("a.md", "a")
    document = shell.json("sync")
    counts = {
        "scanned": 1,
        "unchanged": 0,
        "added": 1,
        "updated": 0,
        "moved": 0,
        "deleted": 0,
        "unreadable": 0,
        "admitted": 1,
        "chunks_embedded": 0,
        "chunks_reused": 0,
        "embeddings_pending": 0,
    }
    assert {key: document[key] for key in counts} == counts
    assert set(document["seconds"]) == {"scan", "plan", "lexical", "dense", "total"}
    assert all(value >= 0 for value in document["seconds"].values())


def test_status_json_has_its_keys(shell):
    shell.note("a.md", "a")
    shell.note("b.md", "", name="x")
    assert shell.json("status")["state"] == "never_synced"
    shell("sync")
    document = shell.json("status")
    assert (document["root"], document["state_dir"]) == (str(shell.root), str(shell.state_dir))
    assert document["state"] == "idle"
    assert [document[key] for key in ("notes", "admitted", "deprecated", "conflicts")] == [2, 1, 0, 0]
    assert document["diagnostics"] == {"missing_id": 1}
    assert document["lexical"]["documents"] == 1
    assert {"engine", "model", "chunks", "pending"} <= document["dense"].keys()
    assert document["writer"] == {"pid": None, "alive": False}
    assert TIME.fullmatch(document["last_scan_at"])
    assert document["watcher"] == "off"


def test_doctor_json_has_its_keys(shell):
    shell.note("a.md", "a", tags="")
    document = shell.json("doctor", code=1)
    assert document["healthy"] is False
    assert all(set(check) == {"name", "ok", "detail"} for check in document["checks"])
    (found,) = document["diagnostics"]
    assert (found["code"], found["severity"], found["path"], found["id"]) == (
        "no_tags",
        "warning",
        "a.md",
        "a",
    )
    assert found["message"] and found["fix"]


def test_notes_json_has_its_keys(shell):
    shell.note("2026/a.md", "a", updated_at="2026-05-14T10:30:00+08:00")
    (note,) = shell.json("notes")
    assert note == {
        "path": "2026/a.md",
        "id": "a",
        "name": "Note a",
        "description": "about a",
        "tags": ["t"],
        "status": "active",
        "admitted": True,
        "indexed": True,
        "created_at": "2026-05-14T00:00:00.000Z",
        "updated_at": "2026-05-14T02:30:00.000Z",
        "diagnostics": [],
    }


def test_recall_json_has_its_keys_and_its_signals_add_up(shell):
    shell.note("a.md", "a")
    document = shell.json("recall", "alpha beta", "--min-score", "0", "--explain")
    assert document["query"] == "alpha beta"
    (hint,) = document["hints"]
    assert set(hint) == {"id", "score", "name", "description", "path"}
    (candidate,) = document["candidates"]
    assert {"id", "score", "verdict", "signals"} <= candidate.keys()
    signals = candidate["signals"]
    names = {"dense_metadata", "dense_body", "dense", "bm25", "bonus", "chunks", "terms"}
    assert names <= signals.keys()
    assert signals["dense"] is None and signals["bm25"] > 0
    total = min(1.0, max(0.0, signals["bm25"] + sum(signals["bonus"].values())))
    assert candidate["score"] == pytest.approx(total, abs=0.001)
    assert "candidates" not in shell.json("recall", "alpha")
