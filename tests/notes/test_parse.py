"""How the bytes of a file are read as a note."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.notes.reading import BLOCKISH, codes, note
from vaultmem.notes.metadata import Status
from vaultmem.notes.parse import BODY_LIMIT_BYTES, digest_of, parse_note, unknown_note
from vaultmem.notes.problems import Code

# --- the block


def test_a_whole_memory_is_read() -> None:
    data = (
        b"---\nid: mem_1\nname: Context  cache\ndescription: |\n  first\n  - second\ntags:\n  - Cache\n"
        b"status: Active\ncreated_at: 2026-05-14T10:30:00.000Z\nupdated_at: 2026-05-14 10:30:00 +08:00\n---\n\nbody\n"
    )
    read = parse_note("a/n.md", data)
    assert (read.id, read.name, read.description) == ("mem_1", "Context cache", "first - second")
    assert (read.tags, read.status) == (("cache",), Status.ACTIVE)
    assert (read.created_at, read.updated_at) == ("2026-05-14T10:30:00.000Z", "2026-05-14 10:30:00 +08:00")
    assert (read.body, read.body_line) == ("\nbody\n", 13)
    assert (read.problems, read.is_readable, read.digest) == ((), True, digest_of(data))


@pytest.mark.parametrize(
    ("data", "detail"),
    [
        (b"just text", ""),
        (b"\n---\nid: x\n---\n", "line 1"),
        (b"----\nid: x\n----\n", "exactly ---"),
        (b"---\n---\nbody", "empty"),
        (b"---\n# comment\n---\nbody", "empty"),
        (b"---\n- a\n- b\n---\nbody", "key: value"),
        (b"---\nplain text\n---\nbody", "key: value"),
        (b"---\nname: n\n---\nbody", ""),
        (b"---\nid:\n---\nbody", "empty"),
        (b"---\nid: ~\n---\nbody", "empty"),
        (b"---\nid: null\n---\nbody", "empty"),
        (b'---\nid: "  "\n---\nbody', "empty"),
        (b"---\npermalink: x\n---\n\n---\nid: y\n---\nbody", "line 5"),
        (b"---\n---\n---\nname: y\n---\nbody", "line 3"),
    ],
)
def test_a_note_without_an_id_carries_that_one_code(data: bytes, detail: str) -> None:
    read = parse_note("n.md", data)
    assert (read.id, codes(read), read.is_readable) == (None, [Code.MISSING_ID], True)
    assert detail in read.problems[0].detail
    assert (not detail) == (not read.problems[0].detail)


def test_an_empty_file_says_so() -> None:
    for data in (b"", b"\xef\xbb\xbf", b" \n\n"):
        assert codes(parse_note("n.md", data)) == [Code.EMPTY_FILE]


@pytest.mark.parametrize(
    "data", [b"---\nid: x\n", b"---\nid: x\n...\nbody\n", b"---\nid: x\n --- \n", b"---\n"]
)
def test_an_open_fence_is_a_half_written_note(data: bytes) -> None:
    read = parse_note("n.md", data)
    assert (codes(read), read.is_readable, read.id) == ([Code.BAD_YAML], False, None)


# --- encodings and sizes


@pytest.mark.parametrize(
    ("data", "line"),
    [
        ("---\nid: x\nname: 缓存\n---\n".encode("gbk"), 3),
        ("---\nid: x\n---\n".encode("utf-16"), 1),
        ("---\nid: x\n---\n".encode("utf-16-le"), 1),
        ("---\nid: x\n---\n".encode("utf-16-be"), 1),
        (b"---\nid: x\n---\nbody \xff", 4),
        (b"---\nid: x\n---\nbody\n\xe7\xbc", 5),
        (b"---\nid: x\n---\n" + b"a" * (BODY_LIMIT_BYTES - 14) + b"\n\xe7\xbc\x93\xed\xa0\x80", 5),
    ],
)
def test_other_encodings_are_not_guessed(data: bytes, line: int) -> None:
    read = parse_note("n.md", data)
    assert (codes(read), read.is_readable, read.id, read.body) == ([Code.BAD_ENCODING], False, None, "")
    assert read.problems[0].line == line


def test_a_nul_in_the_body_is_body() -> None:
    assert note("id: x\n", "a\0b").body == "a\0b"


def test_of_a_large_body_the_first_mib_is_kept_up_to_a_character_border() -> None:
    whole, large = "缓" * 349_525, "缓" * 349_526  # 1,048,575 and 1,048,578 bytes
    assert note("id: x\nstatus: active\nname: n\n", whole).problems == ()
    read = note("id: x\nstatus: active\nname: n\n", large)
    assert (codes(read), read.body, read.id) == ([Code.TOO_LARGE], whole, "x")


def test_a_note_that_cannot_be_read_is_unknown() -> None:
    read = unknown_note("a/b.md", Code.UNREADABLE, "permission denied")
    assert (read.digest, read.name, read.is_readable, codes(read)) == ("", "b", False, [Code.UNREADABLE])


# --- laws


@given(
    st.binary(max_size=80)
    | BLOCKISH.map(lambda text: text.encode())
    | BLOCKISH.map(lambda t: f"---\n{t}\n---\n".encode())
)
@settings(max_examples=600, deadline=None)
@example(b"---\n\xef\xbb\xbf\n---\n")
@example(b"---\n\xee\x80\x80\xc2\x85: \r\n---\n")
def test_no_bytes_make_parsing_raise(data: bytes) -> None:
    read = parse_note("a/n.md", data)
    assert read.digest == digest_of(data)
    assert read.is_readable or read.problems
    assert read.id is None or (read.id == read.id.strip() and "\n" not in read.id)
    assert read.name and "\n" not in read.name + read.description
    if read.is_readable and Code.EMPTY_FILE not in codes(read):
        assert data.decode().endswith(read.body)
