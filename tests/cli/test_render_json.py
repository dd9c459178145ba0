"""The JSON documents: their keys, and what stands in them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.shell import TIME
from vaultmem.cli.render_json import (
    copies_json,
    event_json,
    moment,
    recall_json,
    signals_json,
    written_moment,
)
from vaultmem.events import (
    EmbeddingProgress,
    LockChanged,
    SyncFinished,
    SyncReport,
    WatcherChanged,
    WatcherMode,
)
from vaultmem.recall.answer import Hint, Mode, Recall
from vaultmem.recall.scoring import ChunkSignal, Signals
from vaultmem.views import NoteCopy


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


AT = datetime(2026, 5, 14, 10, 30, 0, 123_456, tzinfo=timezone(timedelta(hours=8)))


def test_a_moment_is_utc_to_the_millisecond():
    assert moment(AT) == "2026-05-14T02:30:00.123Z" and moment(None) is None


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (None, None),
        ("2026-05-14", "2026-05-14T00:00:00.000Z"),
        (" 2026-05-14T10:30:00+08:00\n", "2026-05-14T02:30:00.000Z"),
        ("2026-05-14T10:30:00", "2026-05-14T10:30:00.000Z"),
        ("0001-01-01T00:00:00+14:00", "0001-01-01T00:00:00+14:00"),
        ("14 May", "14 May"),
        ("", ""),
    ],
    ids=["none", "date", "zone", "no zone", "before all time", "words", "empty"],
)
def test_a_time_that_a_person_wrote_is_a_moment_where_it_can_be_one(written, said):
    assert written_moment(written) == said


@given(st.datetimes(timezones=st.sampled_from([None, UTC])) | st.text())
def test_what_was_made_a_moment_once_stays_that_moment(value):
    once = written_moment(value if isinstance(value, str) else value.isoformat())
    assert written_moment(once) == once


def test_a_recall_tells_its_mode_and_its_trouble_where_there_is_one():
    hint = Hint("a", 0.123_456_789, "A", "about", "a.md")
    well = Recall("q", (hint,), mode=Mode.HYBRID)
    assert recall_json(well, explain=False) == {
        "query": "q",
        "hints": [{"id": "a", "score": 0.123457, "name": "A", "description": "about", "path": "a.md"}],
        "mode": "hybrid",
    }
    badly = Recall("q", mode=Mode.LEXICAL, trouble="no model")
    assert recall_json(badly, explain=True) == {
        "query": "q",
        "hints": [],
        "mode": "lexical",
        "trouble": "no model",
        "candidates": [],
    }


def test_signals_name_every_chunk_and_leave_out_what_was_not_measured():
    chunk = ChunkSignal("text", "H", 3, 9, 0.123_456_789, likeness=1.0, weight=0.25)
    document = signals_json(Signals(dense_body=0.5, bonus={"project": 0.05}, chunks=(chunk,), terms=("t",)))
    assert (document["bm25"], document["dense_body"], document["bonus"]) == (None, 0.5, {"project": 0.05})
    assert document["chunks"] == [
        {
            "text": "text",
            "heading": "H",
            "line_start": 3,
            "line_end": 9,
            "cosine": 0.123457,
            "likeness": 1.0,
            "weight": 0.25,
        }
    ]


def test_a_copy_tells_when_how_large_and_whether_a_sync_made_it():
    copies = [NoteCopy("a 1.md", AT, 12, looks_like_sync_copy=True)]
    assert copies_json(copies)["conflict"] == [
        {"path": "a 1.md", "mtime": "2026-05-14T02:30:00.123Z", "size": 12, "looks_like_sync_copy": True}
    ]


@pytest.mark.parametrize(
    ("event", "fields"),
    [
        (EmbeddingProgress(AT, 1, 2, None), {"done": 1, "total": 2, "seconds_left": None}),
        (LockChanged(AT, is_writer=False, pid=42), {"is_writer": False, "pid": 42}),
        (WatcherChanged(AT, WatcherMode.POLLING, "why"), {"mode": "polling", "reason": "why"}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_event_is_its_fields_and_which_it_is(event, fields):
    document = json.loads(json.dumps(event_json(event)))
    assert document == {"event": type(event).__name__, "at": "2026-05-14T02:30:00.123Z", **fields}


def test_the_report_of_a_sync_is_in_its_event():
    assert event_json(SyncFinished(AT, SyncReport(added=1, paths=("a.md",))))["report"]["added"] == 1
