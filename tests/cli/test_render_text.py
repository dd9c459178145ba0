"""The same in words: a fact a line, and nothing of a note that a terminal would obey."""

from __future__ import annotations

import re

import pytest

from vaultmem.cli.render_text import doctor_text, explained, matches_text, sync_text, waiting
from vaultmem.engine import doctor
from vaultmem.events import SyncReport, SyncSeconds
from vaultmem.recall.answer import Candidate
from vaultmem.recall.scoring import ChunkSignal, Signals, Verdict
from vaultmem.views import Check, DoctorReport, SearchMatch


def test_status_in_words_is_a_fact_a_line(shell):
    shell("sync")
    lines = shell("status").out.splitlines()
    assert lines[0] == f"memory root  {shell.root}"
    assert len(lines) == 11


def test_doctor_in_words_names_every_check_and_finding(shell):
    shell.note("a.md", "a", tags="")
    out = shell("doctor").out
    assert "ok   lexical_agrees" in out and "warning no_tags  a.md" in out
    assert out.endswith("1 warning; caches agree with the notes\n")


def test_doctor_says_in_its_last_line_why_it_is_not_all_well(shell, monkeypatch):
    shell.note("a.md", "a")
    assert shell("doctor").out.endswith("\nno diagnostics; caches agree with the notes\n")
    monkeypatch.setattr(doctor, "FREE_BYTES_WANTED", 1 << 80)
    answer = shell("doctor")
    assert answer.code == 1
    assert answer.out.endswith("\nno diagnostics; caches agree with the notes; see above: disk\n")


def test_doctor_puts_the_gravest_first(shell):
    shell.note("a.md", "a", status="deprecated")
    shell.note("b.md", "b", description="")
    (shell.root / "c.md").write_text("---\nid: [\n---\n")
    out = shell("doctor").out
    places = [out.index(word) for word in ("bad_yaml  c.md", "missing_description  b.md", "deprecated  a.md")]
    assert places == sorted(places)


def test_notes_in_words_is_a_note_a_line(shell):
    shell.note("a.md", "a", name="Bar | and \x1b[31m red")
    shell.note("b.md", "", name="none")
    lines = shell("notes", "--all").out.splitlines()
    assert len(lines) == 2 and "\x1b" not in lines[0]
    assert lines[1].startswith("○ (no id) | none") and "[missing_id]" in lines[1]


def test_recall_gives_hint_lines_as_an_agent_sees_them(shell):
    shell.note("a.md", "a", name="Cache | order", description="'高频变化层 | 不能放前面'")
    answer = shell("recall", "alpha beta", "--min-score", "0")
    assert answer.code == 0
    assert re.fullmatch(r"- a \| score=0\.\d\d \| Cache ¦ order \| 高频变化层 ¦ 不能放前面\n", answer.out)


@pytest.mark.parametrize(
    ("number", "in_words"),
    [
        (0, "0 notes wait for vectors"),
        (1, "1 note waits for vectors"),
        (12_345, "12,345 notes wait for vectors"),
    ],
)
def test_one_waits_and_all_others_wait(number, in_words):
    assert waiting(number) == in_words


@pytest.mark.parametrize(
    ("report", "lines"),
    [
        (SyncReport(), ["nothing changed", "0 can be hinted (0.00 s)"]),
        (
            SyncReport(scanned=9, added=1, updated=2, moved=3, deleted=4, unreadable=5, admitted=8),
            ["9 notes: 1 added, 2 updated, 3 moved, 4 deleted; 5 cannot be read", "8 can be hinted (0.00 s)"],
        ),
        (
            SyncReport(
                scanned=1,
                chunks_embedded=1,
                chunks_reused=7,
                embeddings_pending=1,
                seconds=SyncSeconds(total=1.5),
            ),
            [
                "1 note: nothing changed",
                "0 can be hinted; 1 chunk embedded, 7 reused; 1 note waits for vectors (1.50 s)",
            ],
        ),
    ],
    ids=["empty", "changes", "vectors"],
)
def test_a_sync_names_what_there_was_of_and_nothing_else(report, lines):
    assert sync_text(report).splitlines() == lines


def test_a_check_of_the_caches_fails_and_one_of_what_is_around_warns():
    checks = (Check("agree", False, "no\x1b[31m"), Check("disk", False, "full", is_of_caches=False))
    lines = doctor_text(DoctorReport(False, checks, ())).splitlines()
    assert lines[:2] == ["FAIL agree            no[31m", "WARN disk             full"]
    assert lines[-1] == "no diagnostics; caches disagree with the notes: --repair; see above: disk"


def test_matches_stand_below_their_note_and_notes_apart():
    found = [("a", "a.md", 1), ("a", "a.md", 2), (None, "b.md", 3)]
    matches = [SearchMatch(note_id, path, line, "x\x1b[31m\r", (), ()) for note_id, path, line in found]
    assert matches_text(matches) == "a | a.md\n  1: x[31m\n  2: x[31m\n\n(no id) | b.md\n  3: x[31m"
    assert matches_text([]) == ""


def test_a_score_is_explained_by_its_parts_its_chunks_and_its_words():
    chunk = ChunkSignal("t" * 99, "H", 3, 9, 0.5, likeness=0.75, weight=0.5)
    signals = Signals(bm25=0.25, bonus={"project": 0.05}, chunks=(chunk,), terms=("one", "two"))
    lines = explained(Candidate("a", 0.3, Verdict.DEPRECATED, signals, "a.md", "A", "about", 1))
    assert lines == [
        "",
        "0.300 not_active       a | A",
        "      bm25 0.250 · project 0.050",
        "      0.50 × 0.750  lines 3–9  " + "t" * 80,
        "      words: one two",
    ]


def test_doctor_shows_how_a_lost_version_differs_as_far_as_there_is_room(shell):
    shell.note("a.md", "a")
    file = shell.root / ".vaultmem" / "lost" / "2026-05-14T120000.000Z-a.md"
    file.parent.mkdir(parents=True)
    file.write_text((shell.root / "a.md").read_text() + "lost \x1b]0;line\n" * 60)
    shell("sync")
    said = shell("doctor")
    assert said.code == 1 and "warning lost_version  a.md" in said.out
    assert "        +lost ]0;line" in said.out and " more lines" in said.out and "\x1b" not in said.out
    (found,) = [d for d in shell.json("doctor", code=1)["diagnostics"] if d["code"] == "lost_version"]
    assert found["diff"].count("+lost") == 60
