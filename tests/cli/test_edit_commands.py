"""The commands that change a note: the diff they print, what they refuse, and that all else keeps its bytes."""

from __future__ import annotations

import re

import pytest

from tests.shell import UNDECODABLE


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


@pytest.mark.parametrize("body", ["", " \n", "\ufeff\u200b", "---\nid: a\n---\n"])
def test_an_empty_body_is_wrong_usage_and_the_old_one_stays(shell, body):
    file = shell.note("a.md", "a")
    before = file.read_bytes()
    answers = (
        shell("save", "--id", "a", "--description", "new", "--body", "-", stdin=body.encode()),
        shell("save", "--id", "a", f"--body={body}"),
    )
    for answer in answers:
        assert answer.code == 2 and "the body is empty" in answer.complaint
    assert file.read_bytes() == before


def test_emoji_are_written_as_tags_and_leave_nothing_unseen_in_an_id(shell):
    fields = ("--description", "d", "--body", "x", "--tag", "⭐\ufe0f", "emoji/👍🏽", "1\ufe0f\u20e3")
    made = shell.json("save", "--name", "⚠\ufe0f Warning: disk pressure", *fields)
    assert made["tags"] == ["⭐", "emoji/👍🏽", "1"]
    assert (made["id"] + made["path"]).isascii() and made["id"].endswith("_warning_disk_pressure")
    refused = shell("save", "--name", "N", "--description", "d", "--body", "x", "--tag", "\ufe0f")
    assert refused.code == 2 and "emoji" in refused.complaint
    assert [note["id"] for note in shell.json("notes", "--tag", "emoji")] == [made["id"]]
    assert shell("notes", "--tag", "→").code == 2


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
