"""The same in words: a fact a line, and nothing of a note that a terminal would obey."""

from __future__ import annotations

import re

from vaultmem.engine import doctor


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
