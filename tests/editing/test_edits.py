"""Edits change the entry that was asked for and no other byte."""

from __future__ import annotations

import frontmatter
import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from tests.editing.samples import TEXTS, note
from vaultmem.editing.edits import (
    compose_note,
    diff,
    set_fields,
    set_id,
    set_status,
    set_tags,
    without_own_block,
)
from vaultmem.errors import EditRefusedError
from vaultmem.notes.block import ODD_FENCES, find_block
from vaultmem.notes.metadata import Status
from vaultmem.notes.parse import parse_note
from vaultmem.notes.problems import Code, Problem
from vaultmem.notes.tags import normalise_tags
from vaultmem.text.visible import is_anything_seen


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
        set_tags(note(), ["→"])


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


def test_a_notes_own_block_is_dropped_from_a_body_and_any_other_stays() -> None:
    assert without_own_block("---\nid: x\n---\n\n# Title\n", "x") == "\n# Title\n"
    assert without_own_block("\ufeff---\r\nname: n\r\nid: 'x '\r\n---\r\ntext", "x") == "text"
    assert without_own_block("\n---\nid: x\n---\n---\nid: x\n---\n", "x") == "---\nid: x\n---\n"
    for body in (
        "---\nname: n\ndescription: d\n---\n",
        "---\nid: intro\n---\n",
        "---\nid: X\n---\n",
        "---\nid: [x]\n---\n",
        "---\nid: x\n",
        "---\ntitle: x\n---\n",
        "---\n",
        "---\nid: [\n---\n",
        "text\n---\nid: x\n---\n",
        "",
        "---\nname: n\n---\n",
    ):
        assert without_own_block(body, "x") == body


@pytest.mark.parametrize(
    "head",
    [
        "----\nid: x\n----\n",
        "----\nid: x\n---\n",
        "--\nname: n\nid: x\n--\n",
        " ---\nid: x\n---\n",
        "\n \n---- \r\nid: x\r\n----\r\n",
        "———\nid: x\n———\n",
        "--- yaml\n# mine\n'id': x\n---\n",
        "+++\nid = 'x'\n+++\n",
        "-----\nfoo: 1\ntags: [a]\n",
        "\ufeff----\nid: [\n----\n",
    ],
)
def test_a_block_between_odd_lines_is_told_and_never_adopted(head: str) -> None:
    data = f"{head}text\n".encode()
    read = parse_note("a.md", data)
    assert read.id is None
    assert [(problem.code, problem.detail) for problem in read.problems] == [(Code.MISSING_ID, ODD_FENCES)]
    with pytest.raises(EditRefusedError, match="lines of exactly ---"):
        set_id(data, "fresh")
    below = b"---\nother: 1\n---\n" + data.removeprefix(b"\xef\xbb\xbf")
    if not head.startswith("\ufeff"):
        with pytest.raises(EditRefusedError, match="a second metadata block"):
            set_id(below, "fresh")


@pytest.mark.parametrize(
    "text",
    [
        "----\ntext\n----\n",
        "----\n\nid: x\n",
        "-- a dash\nid: x\n",
        "text\n----\nid: x\n----\n",
        "----\nidea: x\n",
    ],
)
def test_a_line_of_dashes_above_text_is_no_block(text: str) -> None:
    data = text.encode()
    assert parse_note("a.md", data).problems == (Problem(Code.MISSING_ID),)
    assert set_id(data, "fresh").endswith(data)


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


@given(
    name=TEXTS.filter(is_anything_seen),
    description=TEXTS.filter(is_anything_seen),
    tags=st.lists(TEXTS, max_size=4),
    body=TEXTS,
)
@settings(max_examples=150, deadline=None)
@example(name="a", description="b", tags=["→"], body="---\nid: y\n---\n")
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
