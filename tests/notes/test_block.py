"""Where a block lies, its text as a tree of texts, and what is wrong with one that cannot be read."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import example, given, settings

from tests.notes.reading import BLOCKISH, codes, note, place
from vaultmem.notes.parse import parse_note
from vaultmem.notes.problems import Code
from vaultmem.notes.tags import normalise_tags

# --- where it lies


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf---\nid: x\n---\nbody",
        b"---\r\nid: x\r\n---\r\nbody",
        b"---  \nid: x\n---\t \nbody",
        b"---\nid: x # comment\n---\nbody",
        b"---\nid: ' x '\n---\nbody",
        b"---\nbase: &b {id: x}\n<<: *b\n---\nbody",
        b"---\nother: &x x\nid: *x\n---\nbody",
        b"---\nid: !!str x\n---\nbody",
    ],
)
def test_marks_line_ends_blanks_and_anchors_do_not_matter(data: bytes) -> None:
    read = parse_note("n.md", data)
    assert (read.id, read.body) == ("x", "body")


def test_a_block_may_end_the_file() -> None:
    assert parse_note("n.md", b"---\nid: x\n---").id == "x"
    assert parse_note("n.md", b"---\r\nid: x\r\n---\r\n").id == "x"


def test_only_the_first_block_counts_and_rules_in_the_body_are_body() -> None:
    body = "intro\n\n---\n\nid: not_me\n\n---\nend"
    assert note("id: x\n", body).body == body


def test_only_line_feeds_end_lines() -> None:
    read = note(
        "name: a\u2028b\x85c\rd\nid: x\ndescription: z\u2029\n", "one\u2028two\x85three\x0cfour\nlast\n"
    )
    assert (read.id, read.name, read.body_line) == ("x", "a b c d", 6)
    assert place(note("a: \u2028\nid: @\n")) == (Code.BAD_YAML, 3, 5)


# --- what it says


@pytest.mark.parametrize(
    "word", ["0123", "123", "12:30:45", "1_000", "1e3", "2026-05-14", "0x1F", "no", "true", "=", "1.50"]
)
def test_every_scalar_is_the_text_that_was_written(word: str) -> None:
    read = note(f"id: {word}\nname: {word}\ndescription: {word}\ntags: [{word}]\n")
    assert (read.id, read.name, read.description) == (word, word, word)
    assert read.tags == normalise_tags([word])


@given(BLOCKISH)
@example("\ufefftags: [a]")
@settings(max_examples=200, deadline=None)
def test_what_both_yaml_parsers_can_read_they_read_alike(text: str) -> None:
    data = f"---\nid: x\n{text}\n---\nbody".encode()
    fast = parse_note("n.md", data)
    with pytest.MonkeyPatch.context() as patch:
        patch.delattr(yaml, "CSafeLoader")
        slow = parse_note("n.md", data)
    if Code.BAD_YAML not in codes(fast) + codes(slow):
        assert (fast.id, fast.name, fast.tags, codes(fast)) == (slow.id, slow.name, slow.tags, codes(slow))


# --- what is wrong with it


@pytest.mark.parametrize(
    ("fields", "line", "column"),
    [
        ("id: x\ndescription: 注意: y\n", 3, 16),
        ("id: x\ntags:\n\t- a\n", 4, 1),
        ("id: x\nname: @y\n", 3, 7),
        ("id: x\nname: `y`\n", 3, 7),
        ("id: x\nname: %y\n", 3, 7),
        ("id: x\nname: *y\n", 3, 7),
        ("id: x\nname: | y\n", 3, 7),
        ("id: x\nname: [y] z\n", 3, 11),
        ('id: x\nname: "y\nstatus: active\n', 3, 7),
        ("id: x\ntags: [#a, b]\nstatus: active\n", 3, 7),
        ("id: {{title}}\n", 2, 6),
        ("id: x\ny: !foo 1\n", 3, 4),
        ("id: x\ny: !!python/object/apply:os.system ['true']\n", 3, 4),
        ("id: x\n😀: 'y' z\n", 3, 8),
        ("id: x\nname: a\x01b\n", 3, 8),
        ("id: x\nloose line\nname: y\n", 3, 1),
        ("id: x\n" + "y: " + "[" * 70 + "]" * 70 + "\n", 3, 67),
        ("id: &a [*a]\n", 2, 9),
        ("%YAML 1.1\nid: x\n", 3, 1),
        ("a: &a [x]\nb: {<<: *a, <<: *a}\n", 3, 13),
    ],
)
@pytest.mark.parametrize("has_libyaml", [True, False])
def test_bad_yaml_is_told_with_its_place_in_the_file(
    fields: str, line: int, column: int, has_libyaml: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not has_libyaml:
        monkeypatch.delattr(yaml, "CSafeLoader")
    read = note(fields)
    expected = Code.DUPLICATE_KEY if fields.count("<<") == 2 else Code.BAD_YAML
    assert place(read) == (expected, line, column)
    assert (read.id, read.is_readable, read.name, len(read.problems)) == (None, True, "Title", 1)


def test_an_open_bracket_bomb_or_a_wall_of_aliases_is_a_value_not_a_crash() -> None:
    assert codes(note("x: " + "[" * 5000 + "\n")) == [Code.BAD_YAML]
    bomb = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 50))
    assert note(f"{bomb}id: x\ntags: *a49\n").id == "x"
    merges = "m0: &m0 {k: v}\n" + "".join(
        f"m{n}: &m{n} {{<<: [*m{n - 1}, *m{n - 1}]}}\n" for n in range(1, 50)
    )
    assert codes(note(f"{merges}<<: *m49\n")) == [Code.MISSING_ID]


def test_a_block_longer_than_any_metadata_is_refused() -> None:
    assert codes(note("x: " + "y" * 300_000 + "\n")) == [Code.BAD_YAML]


@pytest.mark.parametrize("fields", ["id: x\nid: y\n", "id: x\nnested: {a: 1, a: 2}\n", 'id: x\n"id": y\n'])
def test_a_key_twice_makes_the_note_wrong(fields: str) -> None:
    read = note(fields)
    assert (codes(read), read.id, read.is_readable) == ([Code.DUPLICATE_KEY], None, True)


def test_an_unfinished_merge_is_told_as_one() -> None:
    read = note("id: x\n<<<<<<< HEAD\ntags: [a]\n=======\ntags: [b]\n>>>>>>> main\n")
    assert place(read) == (Code.MERGE_CONFLICT, 3, 1)
    assert codes(parse_note("n.md", b"<<<<<<< HEAD\n---\nid: x\n=======\n")) == [Code.MERGE_CONFLICT]
    assert note("id: x\n", "<<<<<<< HEAD\nexample\n").id == "x"
