"""A value as YAML writes it, and an entry replaced or put in its place."""

from __future__ import annotations

import io

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from tests.editing.samples import TEXTS
from vaultmem.editing.edits import (
    set_fields,
    set_status,
    set_tags,
)
from vaultmem.editing.entries import line_after, replace_value, write_scalar, write_time
from vaultmem.errors import EditRefusedError
from vaultmem.notes.block import read_tree
from vaultmem.notes.metadata import Status
from vaultmem.notes.tree import Fields

# --- a value as it is written


@given(TEXTS, st.booleans(), st.sampled_from(["", "'", '"']))
@settings(max_examples=300, deadline=None)
def test_every_text_is_written_so_that_all_readers_see_it(text: str, in_flow: bool, style: str) -> None:
    written = write_scalar(text, style=style, in_flow=in_flow)
    document = f"key: [{written}, {written}]\n" if in_flow else f"key: {written}\nother: 1\n"
    expected = [text, text] if in_flow else text
    assert yaml.safe_load(document)["key"] == expected
    assert YAML(typ="safe", pure=True).load(io.StringIO(document))["key"] == expected
    assert YAML(typ="rt").load(io.StringIO(document))["key"] == expected
    assert "\n" not in written


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Plain words", "Plain words"),
        ("a, b", "a, b"),
        ("no", '"no"'),
        ("1_000", '"1_000"'),
        ("", '""'),
        (" a", '" a"'),
        ('say "x": y', "'say \"x\": y'"),
        ("it's: so", '"it\'s: so"'),
        ("two\nlines", '"two\\nlines"'),
        ("\u2028", '"\\u2028"'),
        ("{{title}}", '"{{title}}"'),
    ],
)
def test_a_text_is_quoted_only_where_a_reader_would_not_see_it(text: str, written: str) -> None:
    assert write_scalar(text) == written


def test_a_new_value_keeps_the_quotes_of_the_old_one_where_it_can() -> None:
    assert write_scalar("a", style="'") == "'a'"
    assert write_scalar("it's", style="'") == "'it''s'"
    assert write_scalar("a", style='"') == '"a"'
    assert write_scalar("two\nlines", style="'") == '"two\\nlines"'


def test_what_has_a_meaning_between_brackets_is_quoted_there() -> None:
    assert [write_scalar("a, b", in_flow=flow) for flow in (False, True)] == ["a, b", '"a, b"']


@pytest.mark.parametrize("time", ["2026-05-14", "2026-05-14T10:30:00.000Z", "2026-05-14 10:30 +08:00"])
def test_a_point_in_time_stays_unquoted_and_anything_else_is_a_text(time: str) -> None:
    assert write_time(time) == time
    assert write_time("12:30") == '"12:30"'
    assert write_time(f"{time} or so: later") == f'"{time} or so: later"'


# --- places


def fields(text: str) -> Fields:
    tree = read_tree(text)
    assert isinstance(tree, Fields)
    return tree


@pytest.mark.parametrize(
    ("value", "rest"),
    [
        (" a # why\n", ""),
        (" [a,\n  b] # why\n", ""),
        ("\n  - a\n  - b # why\n", "# more\n"),
        (" |\n  text\n\n", ""),
    ],
)
def test_the_line_behind_a_value_is_below_all_that_belongs_to_it(value: str, rest: str) -> None:
    text = f"k:{value}{rest}z: 1\n"
    assert text[line_after(text, fields(text).entries[0].value) :] == f"{rest}z: 1\n"


# --- an entry replaced, or put in


@pytest.mark.parametrize(
    ("written", "result"),
    [
        ("k: old # why\nz: 1\n", "k: new # why\nz: 1\n"),
        ("k: # why\nz: 1\n", "k: new # why\nz: 1\n"),
        ("k:\n  old\nz: 1\n", "k: new\nz: 1\n"),
        ("k: |\n  old\n\nz: 1\n", "k: new\n\nz: 1\n"),
        ("k: [old]\nz: 1\n", "k: new\nz: 1\n"),
    ],
)
def test_a_value_of_any_form_is_replaced_by_one_line(written: str, result: str) -> None:
    assert replace_value(written, fields(written).entries[0], "new") == result


@pytest.mark.parametrize(
    ("written", "result"),
    [
        ("status: active", "status: deprecated"),
        ("status: 'active'  # why", "status: 'deprecated'  # why"),
        ('status: "Active"', 'status: "deprecated"'),
        ("status:", "status: deprecated"),
        ("status: # todo", "status: deprecated # todo"),
        ("status: [active]", "status: deprecated"),
        ("status:\n  - active", "status: deprecated"),
        ("status:\n  active", "status: deprecated"),
        ("status: |\n  active\n", "status: deprecated\n"),
        ("status: ~", "status: deprecated"),
    ],
)
def test_the_status_is_set_whatever_form_it_had(written: str, result: str) -> None:
    before = f"---\nid: x\n{written}\nname: n\n---\nbody\n"
    assert set_status(before.encode(), Status.DEPRECATED).decode() == before.replace(written, result)


def test_a_missing_status_is_put_behind_the_tags() -> None:
    before = b"---\nid: x\ntags:\n  - a\n\n# note\nother: 1\n---\n"
    after = b"---\nid: x\ntags:\n  - a\nstatus: active\n\n# note\nother: 1\n---\n"
    assert set_status(before, Status.ACTIVE) == after


def test_a_missing_tags_entry_goes_to_its_usual_place() -> None:
    before = b"---\nid: x\nstatus: active\nother: 1\n---\n"
    assert set_tags(before, ["a"]) == b"---\nid: x\ntags:\n  - a\nstatus: active\nother: 1\n---\n"
    assert set_tags(b"---\nother: 1\n---\n", ["a"]) == b"---\nother: 1\ntags:\n  - a\n---\n"
    assert set_tags(b"---\n---\nbody", ["a"]) == b"---\ntags:\n  - a\n---\nbody"


def test_an_indented_block_gets_an_indented_entry() -> None:
    before = b"---\n  id: x\n  description: |\n    text\n\n  other: 1\n---\n"
    after = b"---\n  id: x\n  description: |\n    text\n\n  tags:\n    - a\n  other: 1\n---\n"
    assert set_tags(before, ["a"]) == after


@pytest.mark.parametrize(
    ("key", "field"),
    [("Tags", "tags"), ("TAG", "tags"), ("Status", "status"), ("ID", "id"), ("Description", "description")],
)
def test_a_field_is_not_put_beside_one_that_differs_in_case_alone(key: str, field: str) -> None:
    data = f"---\nzeta: 1\n{key}: x\n---\nBody\n".encode()
    with pytest.raises(EditRefusedError, match=f"line 3 has `{key}:`") as refused:
        set_fields(data, {field: ["a"] if field == "tags" else "active"})
    assert f"`{field}:`" in refused.value.advice
    there = data.replace(b"zeta: 1", f"{field}: old".encode())
    assert f"\n{key}: x\n" in set_fields(there, {field: ["a"] if field == "tags" else "active"}).decode()
