"""What is said about a note that is wrong: what, where, and how to mend it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from vaultmem.notes.diagnostics import (
    SEVERITY,
    WORDINGS,
    Diagnostic,
    Severity,
    diagnose,
    diagnose_lost,
    diagnose_root,
)
from vaultmem.notes.metadata import Metadata, Status
from vaultmem.notes.parse import parse_note, unknown_note
from vaultmem.notes.problems import Code, Problem

ERRORS = """bad_yaml duplicate_key bad_encoding unreadable conflict_id invalid_id invalid_status merge_conflict
root_missing"""
WARNINGS = """missing_description sync_conflict_copy tag_invalid no_tags too_large cloud_placeholder
template_placeholder missing_status lost_version"""
INFOS = "missing_id missing_name deprecated empty_file"

PATH = "a/n.md"
HEALTHY = Metadata("mem_1", "Name", "What it tells", ("cache",))


def found_in(text: str, path: str = PATH) -> tuple[Diagnostic, ...]:
    note = parse_note(path, text.encode())
    return diagnose(path, note.metadata, note.problems)


def codes(found: tuple[Diagnostic, ...]) -> list[str]:
    return [diagnostic.code.value for diagnostic in found]


def test_every_code_of_the_contract_has_its_severity_and_its_words() -> None:
    by_severity = {Severity.ERROR: ERRORS, Severity.WARNING: WARNINGS, Severity.INFO: INFOS}
    for severity, names in by_severity.items():
        assert {code.value for code in WORDINGS if SEVERITY[code] is severity} == set(names.split())
    assert set(WORDINGS) == set(Code)


def test_a_healthy_note_has_no_diagnostic() -> None:
    assert diagnose(PATH, HEALTHY, ()) == ()


def test_what_follows_from_the_facts_is_derived() -> None:
    poor = replace(HEALTHY, description="", tags=(), status=Status.DEPRECATED)
    found = diagnose(PATH, poor, (), ("b/n.md", "c/n.md"))
    assert codes(found) == ["conflict_id", "missing_description", "no_tags", "deprecated"]
    assert "b/n.md, c/n.md" in found[0].message


def test_nothing_is_demanded_of_a_note_without_an_id() -> None:
    assert codes(found_in("# Just a note\n")) == ["missing_id"]
    assert codes(found_in("---\nstatus: deprecated\n---\n")) == ["missing_id"]


def test_errors_come_first() -> None:
    found = found_in("---\nid: x\nstatus: off\ntags: ['!']\n---\n")
    assert codes(found) == ["invalid_status", "missing_description", "tag_invalid", "no_tags", "missing_name"]
    assert [d.severity for d in found] == [Severity.ERROR, *[Severity.WARNING] * 3, Severity.INFO]


@pytest.mark.parametrize(
    ("text", "message", "fix"),
    [
        (
            "---\nid: x\nname: a: b\n---\n",
            "line 3, column 8: an unquoted value holds ': '",
            'line 3 in quotes: `key: "…"`',
        ),
        ("---\nid: x\ntags:\n\t- a\n---\n", "line 4, column 1: a tab", "Indent line 4 with spaces"),
        (
            "---\nid: x\nname: @b\n---\n",
            "line 3, column 7: an unquoted value begins with @",
            "line 3 in quotes",
        ),
        ("---\nid: x\nname: 'it's'\n---\n", "line 3, column 11: text follows", "double the quotes"),
        ("---\nid: x\nname: *b\n---\n", "no anchor for *b", "in quotes"),
        ("---\nid: x\nname: !b c\n---\n", "YAML tag !b", "delete the tag"),
        ("---\nid: {{title}}\n---\n", "line 2, column 6: a key is a list or a mapping", "placeholder"),
        (
            '---\nid: x\nname: "b\n---\n',
            "line 3, column 7: a quote is opened",
            "Close the quote that opens on line 3",
        ),
        ('---\nid: x\nname: "\\q"\n---\n', "no such escape", "backslash"),
        ("---\nid: x\ntags: [#a]\n---\n", "line 3, column 7: the list", "with `]`"),
        ("---\nid: x\nname: {b\n---\n", "line 3, column 7: the mapping", "close it with `}`"),
        (
            "---\nid: x\nloose\nname: y\n---\n",
            "line 3, column 1: this is neither",
            "Write line 3 as `key: value`",
        ),
        ("---\nid: x\n", "line 1, column 1: the opening ---", "Add a line `---`"),
        ("---\nid: x\nname: \x01\n---\n", "U+0001", "invisible character on line 3"),
        (
            "---\nid: x\nid: y\n---\n",
            "line 3, column 1: `id` is already on line 2",
            "Delete one of the two lines",
        ),
        ("---\n- a\n---\n", "no `key: value` lines", "Write the block"),
        ("\n---\nid: x\n---\n", "does not begin on line 1", "Delete the blank lines"),
        ("---\nx: 1\n---\n---\nid: y\n---\n", "begins on line 4", "one block of the two"),
        ("---\nx: 1\n---\n----\nid: y\n----\n", "begins on line 4", "one block of the two"),
        ("----\nid: x\n----\n", "not stand between lines of exactly ---", "three dashes alone"),
        ("plain\n", "no id, so it is no memory.", "`vaultmem adopt a/n.md`"),
        ("---\nid: x\nstatus: 停用\n---\n", "'停用', line 3, column 9", "`status: active`"),
        ("---\nid: [x]\n---\n", "line 2, column 5: it is a list", "1 to 128 characters"),
    ],
)
def test_a_message_says_what_and_where_and_the_fix_says_how(text: str, message: str, fix: str) -> None:
    found = found_in(text)[0]
    assert message in found.message
    assert fix in found.fix


def test_a_place_is_carried_beside_the_words() -> None:
    found = found_in("---\nid: x\nname: @b\n---\n")[0]
    assert (found.line, found.column, found.path, found.id) == (3, 7, "a/n.md", None)


def test_every_message_and_fix_is_one_whole_line() -> None:
    for code in WORDINGS:
        nasty = Problem(code, "\x1b[31m{x}\n|", 3, 4)
        found = diagnose("a\n b.md", replace(HEALTHY, name="{n}\x07", id="x\ty"), (nasty,))[0]
        for text in (found.message, found.fix):
            assert text.isprintable() and text.endswith((".", ")")), text


def test_commands_in_a_fix_can_be_pasted() -> None:
    assert "`vaultmem adopt 'a b/it'\"'\"'s.md'`" in found_in("x", "a b/it's.md")[0].fix
    assert (
        "`vaultmem tag 'id 1' --add TAG`" in diagnose(PATH, replace(HEALTHY, id="id 1", tags=()), ())[0].fix
    )


def test_a_certain_sync_copy_is_told_even_alone() -> None:
    path = "a/n.sync-conflict-20260806-034350-ABCDEF7.md"
    assert codes(diagnose(path, HEALTHY, ())) == ["sync_conflict_copy"]


def test_a_likely_sync_copy_is_told_only_in_a_conflict_with_its_original() -> None:
    copy = "a/n 2.md"
    assert codes(diagnose(copy, HEALTHY, ())) == []
    assert codes(diagnose(copy, HEALTHY, (), ("a/other.md",))) == ["conflict_id"]
    assert codes(diagnose(copy, HEALTHY, (), ("a/n.md",))) == ["conflict_id", "sync_conflict_copy"]


def test_a_note_that_cannot_be_read_tells_the_reason() -> None:
    note = unknown_note("a/n.md", Code.UNREADABLE, "permission denied")
    assert "permission denied" in diagnose(PATH, note.metadata, note.problems)[0].message


def test_a_missing_root_is_an_error_with_its_path() -> None:
    found = diagnose_root("the memory root /vault/March Memories cannot be used: no such file or directory")
    assert (found.code, found.severity, found.path) == (Code.ROOT_MISSING, Severity.ERROR, "")
    assert "/vault/March Memories" in found.message and "--root" in found.fix


def test_a_lost_version_is_told_with_where_it_lies_and_what_differs() -> None:
    place = ".vaultmem/lost/2026-05-14T120000.000Z-my note.md"
    found = diagnose_lost(PATH, "mem_1", place, "+line\n")
    assert (found.code, found.path, found.id, found.diff) == (Code.LOST_VERSION, PATH, "mem_1", "+line\n")
    assert place in found.message and f"cp '{place}' {PATH}" in found.fix and f"rm '{place}'" in found.fix
    assert "Its note is gone" in diagnose_lost(place, None, place, "+line\n").fix
