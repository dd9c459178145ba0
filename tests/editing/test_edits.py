"""Edits change the entry that was asked for and no other byte."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence

import frontmatter
import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from vaultmem.editing.edits import (
    compose_note,
    diff,
    set_fields,
    set_id,
    set_status,
    set_tags,
    without_own_block,
)
from vaultmem.editing.entries import write_scalar
from vaultmem.errors import EditRefusedError
from vaultmem.notes.block import find_block
from vaultmem.notes.metadata import Status
from vaultmem.notes.parse import parse_note
from vaultmem.notes.problems import Code
from vaultmem.notes.tags import normalise_tags

BLOCK = """\
---
# do not touch the id
id: mem_01hx_sample
name: "Sample: memory"
description: 缓存层顺序的说明 😀 astral
{tags}status: 'active'   # reviewed

zeta: {{b: 1, a: [x, y]}}
date: 2026-05-14
---
# Title

正文 body text.
tags: nor this
"""


def note(tags: str = "tags:\n  - cache\n  - project/march-cli\n") -> bytes:
    return BLOCK.format(tags=tags).encode()


def entry(data: bytes) -> str:
    """The lines of the block between the description and the status."""
    text = data.decode()
    return text[text.index("astral\n") + len("astral\n") : text.index("status:")]


def retagged(tags: str, wanted: Sequence[str]) -> str:
    before = note(tags)
    after = set_tags(before, wanted)
    assert parse_note("n.md", after).tags == tuple(wanted)
    assert after.replace(entry(after).encode(), b"", 1) == before.replace(entry(before).encode(), b"", 1)
    return entry(after)


STYLES = {
    "block": ("tags:\n  - cache\n  - layer\n", "tags:\n  - cache\n  - layer\n  - new\n"),
    "block without indent": ("tags:\n- cache\n- layer\n", "tags:\n- cache\n- layer\n- new\n"),
    "block with four blanks": (
        "tags:\n    - cache\n    - layer\n",
        "tags:\n    - cache\n    - layer\n    - new\n",
    ),
    "flow": ("tags: [cache, layer]\n", "tags: [cache, layer, new]\n"),
    "flow without blanks": ("tags: [cache,layer]\n", "tags: [cache,layer,new]\n"),
    "flow with padding": ("tags: [ cache, layer ]\n", "tags: [ cache, layer, new ]\n"),
    "flow over lines": ("tags: [\n  cache,\n  layer,\n]\n", "tags: [\n  cache,\n  layer,\n  new,\n]\n"),
    "flow on the next line": ("tags:\n  [cache, layer]\n", "tags:\n  [cache, layer, new]\n"),
    "own spelling": ("tags: [\"Cache\", '#layer']\n", "tags: [\"Cache\", '#layer', new]\n"),
    "text with commas": ("tags: cache, Layer\n", "tags: cache, Layer, new\n"),
    "text with blanks": ("tags: cache layer\n", "tags: cache layer new\n"),
    "quoted text": ('tags: "cache, layer"\n', 'tags: "cache, layer, new"\n'),
    "text over lines": ("tags: cache,\n  layer\n", "tags: cache, layer, new\n"),
    "text below a bar": ("tags: |\n  cache\n  layer\n", "tags: [cache, layer, new]\n"),
    "singular key": ("tag: [cache, layer]\n", "tag: [cache, layer, new]\n"),
    "quoted key": ('"tags": [cache, layer]\n', '"tags": [cache, layer, new]\n'),
    "comment behind": ("tags: [cache, layer] # mine\n", "tags: [cache, layer, new] # mine\n"),
    "comment behind an item": (
        "tags:\n  - cache # why\n  - layer\n  # more to come\n",
        "tags:\n  - cache # why\n  - layer\n  - new\n  # more to come\n",
    ),
    "an item below its dash": (
        "tags:\n  -\n    cache\n  - layer\n",
        "tags:\n  -\n    cache\n  - layer\n  - new\n",
    ),
    "nulls among them": (
        "tags:\n  -\n  - cache\n  - ~\n  - layer\n",
        "tags:\n  -\n  - cache\n  - ~\n  - layer\n  - new\n",
    ),
}


@pytest.mark.parametrize("style", STYLES)
def test_a_list_keeps_its_style_when_a_tag_is_added(style: str) -> None:
    before, after = STYLES[style]
    assert retagged(before, ["cache", "layer", "new"]) == after


@pytest.mark.parametrize("style", STYLES)
def test_taking_the_added_tag_away_again_gives_tags_that_read_the_same(style: str) -> None:
    before, _ = STYLES[style]
    added = set_tags(note(before), ["cache", "layer", "new"])
    removed = set_tags(added, ["cache", "layer"])
    assert parse_note("n.md", removed).tags == ("cache", "layer")
    if not style.startswith("text"):
        assert removed == note(before)


@pytest.mark.parametrize("style", STYLES)
def test_tags_that_are_there_already_leave_the_bytes_alone(style: str) -> None:
    before = note(STYLES[style][0])
    assert set_tags(before, ["cache", "layer"]) == before


@pytest.mark.parametrize(
    ("written", "wanted", "result"),
    [
        ("", ["a", "b"], "tags:\n  - a\n  - b\n"),
        ("", [], ""),
        ("tags:\n", ["a"], "tags:\n  - a\n"),
        ("tags:\n", [], "tags:\n"),
        ("tags: ~\n", ["a"], "tags:\n  - a\n"),
        ("tags: #cache\n", ["cache"], "tags: #cache\n  - cache\n"),
        ("tags: [] # none yet\n", ["a", "b"], "tags: [a, b] # none yet\n"),
        ("tags: [a]\n", [], "tags: []\n"),
        ("tags: [a, b, c]\n", ["b"], "tags: [b]\n"),
        ("tags: a\n", ["b"], "tags: b\n"),
        ("tags: a\n", [], "tags: []\n"),
        ("tags: Cache Layer, b\n", ["cache-layer"], "tags: [Cache Layer]\n"),
        ("tags:\n  - a\n  - b\n", [], "tags: []\n"),
        ("tags: # mine\n  - a\n", [], "tags: [] # mine\n"),
        ("tags:\n  - a # why\n  - b\n", ["b"], "tags:\n  # why\n  - b\n"),
        ("tags:\n  - a\n  # on b\n  - b\n  - c\n", ["a", "c"], "tags:\n  - a\n  # on b\n  - c\n"),
        ("tags:\n  - a\n  - b\n", ["z", "b"], "tags:\n  - z\n  - b\n"),
        ("tags:\n  - a\n  - b\n", ["b", "a"], "tags:\n  - b\n  - a\n"),
        ("tags:\n  - a\n  - A\n  - b\n", ["a"], "tags:\n  - a\n  - A\n"),
        (
            "tags:\n  - keep\n  - 42\n  - {m: x}\n",
            ["keep", "42", "new"],
            "tags:\n  - keep\n  - 42\n  - {m: x}\n  - new\n",
        ),
        ("tags: [a]\n", ["no", "123", "缓存", "y"], 'tags: ["no", "123", 缓存, "y"]\n'),
        ("tags:\n- a\n", ["a", "null", "1e3"], 'tags:\n- a\n- "null"\n- "1e3"\n'),
    ],
)
def test_tags_are_written_where_and_as_they_belong(written: str, wanted: list[str], result: str) -> None:
    assert retagged(written, wanted) == result


def test_a_missing_tags_entry_goes_to_its_usual_place() -> None:
    before = b"---\nid: x\nstatus: active\nother: 1\n---\n"
    assert set_tags(before, ["a"]) == b"---\nid: x\ntags:\n  - a\nstatus: active\nother: 1\n---\n"
    assert set_tags(b"---\nother: 1\n---\n", ["a"]) == b"---\nother: 1\ntags:\n  - a\n---\n"
    assert set_tags(b"---\n---\nbody", ["a"]) == b"---\ntags:\n  - a\n---\nbody"


def test_an_indented_block_gets_an_indented_entry() -> None:
    before = b"---\n  id: x\n  description: |\n    text\n\n  other: 1\n---\n"
    after = b"---\n  id: x\n  description: |\n    text\n\n  tags:\n    - a\n  other: 1\n---\n"
    assert set_tags(before, ["a"]) == after


def test_line_ends_mark_and_final_blanks_stay() -> None:
    before = b"\xef\xbb\xbf---  \r\nid: x\r\ntags:\r\n  - a\r\nstatus: active\r\n---\t\r\nbody\nmixed\r\n   "
    after = set_tags(before, ["a", "b"])
    assert after == before.replace(b"  - a\r\n", b"  - a\r\n  - b\r\n")
    assert set_tags(b"---\r\nid: x\r\n---\r\n", ["b"]) == b"---\r\nid: x\r\ntags:\r\n  - b\r\n---\r\n"
    assert set_tags(b"---\r\ntags: # c\r\n---\r\n", ["b"]) == b"---\r\ntags: # c\r\n  - b\r\n---\r\n"


def test_separators_that_are_no_line_ends_move_nothing() -> None:
    before = "---\nname: a\u2028b\x85c\rd\nid: x\ntags: [a]\n---\n\u2028 body".encode()
    assert set_tags(before, ["a", "b"]) == before.replace(b"[a]", b"[a, b]")


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("tags: &t [cache]\nrelated: *t\n", "used in another place"),
        ("tags:\n  - &t cache\nrelated: *t\n", "no anchor"),
        ("tags: {a: b}\n", "mapping"),
        ("tags: [a, # why\n  b]\n", "comment"),
        ("? tags\n: a\n", "cannot be edited safely"),
        ("tags:\n  - - nested\n    - list\n  - a # x\n  -\n    # inside\n    b\n", "comment"),
    ],
)
def test_what_cannot_be_kept_is_refused_with_the_reason(written: str, reason: str) -> None:
    with pytest.raises(EditRefusedError, match=reason):
        set_tags(note(written), ["new"])


def test_an_alias_for_the_tags_is_replaced_and_its_anchor_keeps_its_value() -> None:
    before = note("base: &t [Cache, layer]\ntags: *t\n")
    assert entry(set_tags(before, ["cache", "new"])) == "base: &t [Cache, layer]\ntags: [Cache, new]\n"


@pytest.mark.parametrize(
    "data",
    [
        b"---\nid: x\n",
        b'---\nid: "x\n---\n',
        b"---\nid: x\nid: y\n---\n",
        b"---\nid: x\n<<<<<<< HEAD\ntags: [a]\n=======\n>>>>>>> b\n---\n",
        "---\nid: 缓存\n---\n".encode("gbk"),
        "---\nid: x\n---\n".encode("utf-16"),
        b"---\n- a\n---\n",
        b"---\njust text\n---\n",
        b"---\n{id: x, tags: [a]}\n---\n",
        b"no block",
        b"\n---\nid: x\n---\n",
        b"",
    ],
)
def test_a_note_that_is_wrong_is_not_edited(data: bytes) -> None:
    with pytest.raises(EditRefusedError):
        set_tags(data, ["a"])
    with pytest.raises(EditRefusedError):
        set_status(data, Status.DEPRECATED)


def test_a_word_that_is_no_tag_is_refused() -> None:
    with pytest.raises(EditRefusedError, match="no valid tag"):
        set_tags(note(), ["🧠"])


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


def test_invalid_is_no_status_to_set() -> None:
    with pytest.raises(EditRefusedError):
        set_status(note(), Status.INVALID)


@pytest.mark.parametrize(
    ("data", "result"),
    [
        (b"# Title\n", b"---\nid: new\n---\n# Title\n"),
        (b"a\r\nb\r\n", b"---\r\nid: new\r\n---\r\na\r\nb\r\n"),
        (b"\xef\xbb\xbfbody", b"\xef\xbb\xbf---\nid: new\n---\nbody"),
        (b"---\nname: n\n---\nbody", b"---\nid: new\nname: n\n---\nbody"),
        (b"---\n# first\nname: n\n---\nbody", b"---\n# first\nid: new\nname: n\n---\nbody"),
        (b"---\n---\nbody", b"---\nid: new\n---\nbody"),
        (b"---\nid: old\n---\n", b"---\nid: new\n---\n"),
        (b"---\nid:\n---\n", b"---\nid: new\n---\n"),
        (b"---\nname: n\nid: 'old' # mine\n---\n", b"---\nname: n\nid: 'new' # mine\n---\n"),
    ],
)
def test_an_id_is_given_with_or_without_a_block(data: bytes, result: bytes) -> None:
    assert set_id(data, "new") == result


@pytest.mark.parametrize(
    "data", [b"\n---\nname: n\n---\n", b"---\nx: 1\n---\n\n---\nid: a\n---\n", b"---\nbody"]
)
def test_an_id_is_not_given_to_a_note_whose_block_is_in_doubt(data: bytes) -> None:
    with pytest.raises(EditRefusedError):
        set_id(data, "new")


def test_several_fields_and_a_body_are_set_at_once() -> None:
    before = b"---\r\nid: 5\r\nname: old\r\nextra: 1\r\n---\r\n\r\n# Old\r\n"
    fields = {"id": "5", "name": "new: name", "tags": ["A b"], "updated_at": "2026-05-14T10:30:00.000Z"}
    after = set_fields(before, fields, body="# New\n\ntext")
    assert after == (
        b'---\r\nid: 5\r\nname: "new: name"\r\ntags:\r\n  - a-b\r\nupdated_at: 2026-05-14T10:30:00.000Z\r\n'
        b"extra: 1\r\n---\r\n\r\n# New\r\n\r\ntext\r\n"
    )


def test_the_same_values_and_body_leave_the_bytes_alone() -> None:
    before = note()
    read = parse_note("n.md", before)
    fields = {"name": read.name, "description": read.description, "tags": read.tags}
    assert set_fields(before, fields, body=read.body) == before


@pytest.mark.parametrize(
    ("data", "result"),
    [
        (b"---\nid: x\n---", b"---\nid: x\n---\n\nnew\n"),
        (b"---\r\nid: x\r\n---", b"---\r\nid: x\r\n---\r\n\r\nnew\r\n"),
        (b"---\nid: x\n---\n", b"---\nid: x\n---\n\nnew\n"),
        (b"---\nid: x\n---\nold", b"---\nid: x\n---\nnew\n"),
        (b"---\nid: x\n---\n\n \nold\n", b"---\nid: x\n---\n\n \nnew\n"),
    ],
)
def test_a_new_body_stands_where_the_old_one_stood(data: bytes, result: bytes) -> None:
    assert set_fields(data, {}, body="new") == result


def test_a_body_may_look_like_a_block() -> None:
    body = "---\nid: not_me\n---\ntext\n"
    assert set_fields(b"---\nid: x\n---\nold\n", {}, body=body) == b"---\nid: x\n---\n" + body.encode()


def test_a_memorys_own_block_is_dropped_from_a_body_and_any_other_stays() -> None:
    assert without_own_block("---\nid: x\n---\n\n# Title\n") == "\n# Title\n"
    assert without_own_block("\ufeff---\r\nname: n\r\ndescription: d\r\n---\r\ntext") == "text"
    for body in (
        "---\ntitle: x\n---\n",
        "---\n",
        "---\nid: [\n---\n",
        "text\n---\nid: x\n---\n",
        "",
        "---\nname: n\n---\n",
    ):
        assert without_own_block(body) == body


def test_a_list_of_another_name_is_not_replaced() -> None:
    with pytest.raises(EditRefusedError, match="only tags"):
        set_fields(b"---\naliases: [a]\n---\n", {"aliases": ["b"]})


def test_half_a_character_is_refused() -> None:
    with pytest.raises(EditRefusedError, match="a lone surrogate, half of a UTF-16 pair"):
        set_fields(note(), {"name": "a\ud800"})
    with pytest.raises(EditRefusedError, match="a lone surrogate, half of a UTF-16 pair"):
        compose_note({"id": "x"}, "a\ud800")


def test_a_new_note_has_the_usual_form() -> None:
    fields = {"status": "active", "tags": ["a", "B c"], "description": "d", "name": "Name", "id": "mem_x"}
    written = compose_note(fields | {"created_at": "2026-05-14T10:30:00.000Z"}, "# Title")
    assert written.decode() == (
        "---\nid: mem_x\nname: Name\ndescription: d\ntags:\n  - a\n  - b-c\nstatus: active\n"
        "created_at: 2026-05-14T10:30:00.000Z\n---\n\n# Title\n"
    )


def test_a_diff_shows_the_changed_lines() -> None:
    lines = diff(note(), set_tags(note(), ["cache"]), "a/n.md").splitlines()
    assert lines[:2] == ["--- a/a/n.md", "+++ b/a/n.md"]
    assert [line for line in lines[2:] if line[0] in "+-"] == ["-  - project/march-cli"]
    assert diff(note(), note(), "n.md") == ""


# --- laws

AWKWARD = """a: b|it's "q"|x #y|- d|{{t}}|🧠| lead|%p|`t`|注意: 半角|0123|C:\\dir|no|~|null|12:30|1_000|2026-05-14
|---|...|a\nb|\u2028|\ufeff|#x|a:|'|"|\\|!x|&x|*x|[x]|x, y|<<|=|.inf|0x1F|1e3|+1|-|?|true|Yes|OFF|0o17|1.|190:20:30"""
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.sampled_from(
    re.split(r"\n?\|", AWKWARD)
)


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


@given(
    name=TEXTS.filter(str.strip),
    description=TEXTS.filter(str.strip),
    tags=st.lists(TEXTS, max_size=4),
    body=TEXTS,
)
@settings(max_examples=150, deadline=None)
@example(name="a", description="b", tags=["🧠"], body="---\nid: y\n---\n")
def test_a_composed_note_reads_back_by_every_reader(
    name: str, description: str, tags: list[str], body: str
) -> None:
    fields = {"id": "x", "name": name, "description": description, "tags": tags}
    try:
        data = compose_note(fields, body)
    except EditRefusedError:
        assert tags and not normalise_tags(tags)
        return
    read = parse_note("n.md", data)
    assert (read.id, read.name, read.description) == (
        "x",
        " ".join(name.split()),
        " ".join(description.split()),
    )
    assert read.body.strip() == body.strip() or "\0" in body
    block = find_block(data)
    assert block is not None
    text = data[block.start : block.end].decode()
    for reading in (
        yaml.safe_load(text),
        YAML(typ="safe").load(text),
        frontmatter.loads(f"---\n{text}---\n").metadata,
    ):
        assert (reading["name"], reading["description"]) == (name, description)
        assert tuple(reading["tags"]) == read.tags


VALUES = st.sampled_from(
    [
        "a",
        "'q'",
        '"d: x"',
        "0123",
        "yes",
        "[x, y]",
        "{k: v}",
        "|\n  text\n\n  more\n",
        ">-\n  folded\n",
        "\n  - 1\n  - 2",
        "~",
        "",
    ]
)
TAG_ENTRIES = st.sampled_from(
    [style[0] for style in STYLES.values()] + ["", "tags:\n", "tags: ~ # c\n", "tags: []\n"]
)
NEW_TAGS = st.lists(
    st.sampled_from(["cache", "layer", "new", "缓存", "no", "1e3", "a/b"]), unique=True, max_size=5
)


@given(
    before=st.lists(VALUES, max_size=3),
    tags=TAG_ENTRIES,
    after=st.lists(VALUES, max_size=3),
    wanted=NEW_TAGS,
    has_crlf=st.booleans(),
    comment=st.booleans(),
)
@settings(max_examples=400, deadline=None)
def test_an_edit_changes_only_the_tags_entry(
    before: list[str], tags: str, after: list[str], wanted: list[str], has_crlf: bool, comment: bool
) -> None:
    head = "".join(f"k{number}: {value}\n" for number, value in enumerate(before))
    tail = "".join(f"l{number}: {value}\n" for number, value in enumerate(after))
    remark = "# a remark\n\n" if comment else ""
    text = f"---\n{head}{tags}{remark}{tail}---\nbody\n"
    data = (text.replace("\n", "\r\n") if has_crlf else text).encode()
    if any(problem.code is Code.BAD_YAML for problem in parse_note("n.md", data).problems):
        return
    edited = set_tags(data, wanted)
    assert parse_note("n.md", edited).tags == tuple(wanted)
    assert has_crlf == (b"\r\n" in edited) and (not has_crlf or edited.count(b"\n") == edited.count(b"\r\n"))
    assert edited.endswith(data[data.rindex(b"---") :])
    lines, kept = data.split(b"\n"), edited.split(b"\n")
    for line in lines:
        if line[:1] in (b"k", b"l", b"#"):
            assert line in kept


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
