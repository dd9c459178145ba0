"""How each field of a block is read, and what is said of what stands there."""

from __future__ import annotations

import pytest

from tests.notes.reading import codes, note, place
from vaultmem.notes.metadata import Status
from vaultmem.notes.problems import Code

# --- the id


@pytest.mark.parametrize("written", ["x" * 129, '"a\\nb"', '"a\\tb"', '"\\x85b\\x9f"', "[x]", "{a: b}"])
def test_an_id_must_be_one_line_of_at_most_128_characters(written: str) -> None:
    read = note(f"id: {written}\nname: n\nstatus: active\n")
    assert (read.id, place(read)) == (None, (Code.INVALID_ID, 2, 5))


@pytest.mark.parametrize(
    "odd", ["\u200b", "\ufeff", "\u202e", "\u2066", "\u00ad", "\u2060", "\u2028", "\u2029", "\U000e0041"]
)
def test_an_id_holds_nothing_that_cannot_be_seen_or_that_breaks_its_line(odd: str) -> None:
    for written in (f"mem{odd}a", odd, f'"mem{odd}a"', f'"{odd}"'):
        read = note(f"id: {written}\nname: n\nstatus: active\n")
        assert read.id is None and codes(read) in ([Code.INVALID_ID], [Code.MISSING_ID])


@pytest.mark.parametrize("alone", ["\u200c", "\u200d\u200d", "\ufe0f", "\u0301", "\u3164"])
def test_an_id_holds_something_that_can_be_seen(alone: str) -> None:
    assert codes(note(f"id: {alone}\nname: n\nstatus: active\n")) == [Code.INVALID_ID]
    assert note(f"id: می{alone}خواهم\n").id == f"می{alone}خواهم"


def test_an_id_keeps_its_case_and_its_script() -> None:
    assert note(f"id: {'x' * 128}\n").id == "x" * 128
    assert note("id: ' Mem_记忆 A '\n").id == "Mem_记忆 A"


def test_a_note_without_an_id_is_not_asked_for_more() -> None:
    assert codes(note("status: nonsense\ntags: ['!']\n")) == [Code.MISSING_ID]


# --- name and status


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ("# First  one #\n# Second\n", "First one"),
        ("text\n\n   ## Deep\r\n", "Deep"),
        ("```\n# code\n```\n# Real\n", "Real"),
        ("~~~~\n~~~\n# code\n~~~~\n### Real", "Real"),
        ("# C#\n", "C#"),
        ("#  ##\n## # \n", "n"),
        ("# a" + " " * 100_000 + "b\n", "a b"),
        ("#tag\n#\n", "n"),
        ("", "n"),
    ],
)
def test_a_missing_name_is_the_first_heading_or_the_stem(body: str, name: str) -> None:
    read = note("id: x\nstatus: active\n", body)
    assert (read.name, codes(read)) == (name, [Code.MISSING_NAME])


def test_a_text_of_which_nothing_can_be_seen_is_missing() -> None:
    read = note("id: x\nname: \u3164\ndescription: \u200b\u0301\nstatus: active\n")
    assert (read.description, codes(read)) == ("", [Code.MISSING_NAME])
    assert read.name != "\u3164"


@pytest.mark.parametrize("word", ["active", "Active", '" ACTIVE "', "'active'"])
def test_case_and_blanks_of_a_status_do_not_matter(word: str) -> None:
    read = note(f"id: x\nname: n\nstatus: {word}\n")
    assert (read.status, read.problems) == (Status.ACTIVE, ())
    assert (
        note(f"id: x\nstatus: {word.lower().replace('active', 'deprecated')}\n").status is Status.DEPRECATED
    )


@pytest.mark.parametrize("word", ["archived", "off", "停用", "[active]", "{a: b}", '"act\\nive"', "invalid"])
def test_another_status_is_invalid(word: str) -> None:
    read = note(f"id: x\nname: n\nstatus: {word}\n")
    assert (read.status, place(read)) == (Status.INVALID, (Code.INVALID_STATUS, 4, 9))


@pytest.mark.parametrize("line", ["", "status:\n", "status: ~\n", "status: ''\n"])
def test_a_missing_status_is_active(line: str) -> None:
    read = note(f"id: x\nname: n\n{line}")
    assert (read.status, codes(read)) == (Status.ACTIVE, [Code.MISSING_STATUS])


# --- tags


@pytest.mark.parametrize(
    ("written", "tags"),
    [
        ("tags: [Cache, layer]", ("cache", "layer")),
        ("tags: Cache Layer, project/march-cli,  cache-layer ,", ("cache-layer", "project/march-cli")),
        ("tags: 缓存，架构、设计", ("缓存", "架构", "设计")),
        ("tags: cache architecture", ("cache", "architecture")),
        ("tags: #cache", ()),
        ("tags:", ()),
        ("tag: cache", ("cache",)),
        ("tags:\ntag: [cache]", ("cache",)),
        ("tags:\n  -\n  - cache\n  - ''\n  - ~\n  - '  '", ("cache",)),
        ("tags: [no, on, Yes, y, null-safe]", ("no", "on", "yes", "y", "null-safe")),
        (
            "tags:\n- Project/March CLI\n- ' project/march-cli '\n- Snake_Case",
            ("project/march-cli", "snake_case"),
        ),
        ("base: &t [a, b]\ntags: *t", ("a", "b")),
        ("tags: ['⭐\ufe0f', 📥/📘, \"1\ufe0f\u20e3\", emoji/👍🏽, ⭐]", ("⭐", "📥/📘", "1", "emoji/👍🏽")),
    ],
)
def test_tags_are_read_in_every_form(written: str, tags: tuple[str, ...]) -> None:
    read = note(f"id: x\nname: n\nstatus: active\n{written}\n")
    assert (read.tags, read.problems) == (tags, ())


@pytest.mark.parametrize(
    ("written", "tags", "line"),
    [
        ("tags: [a, '→']", ("a",), 5),
        ("tags: ['\ufe0f', a]", ("a",), 5),
        ("tags: [a, \u0301/\u0301]", ("a",), 5),
        ("tags: [a, -/_]", ("a",), 5),
        ("tags:\n  - a\n  - {m: x}", ("a",), 7),
        ("tags:\n  - [a]\n  - b", ("b",), 6),
        ("tags: {a: b}", (), 5),
        ("tags: a, !", ("a",), 5),
        ("tags: [a]\ntag: b", ("a",), 6),
    ],
)
def test_what_is_no_tag_is_told(written: str, tags: tuple[str, ...], line: int) -> None:
    read = note(f"id: x\nname: n\nstatus: active\n{written}\n")
    assert (read.tags, codes(read), read.problems[0].line) == (tags, [Code.TAG_INVALID], line)


@pytest.mark.parametrize("key", ["Tags", "TAGS", "Tag"])
def test_tags_under_a_key_in_other_letters_are_named_and_not_read(key: str) -> None:
    read = note(f"id: x\nname: n\nstatus: active\n{key}: [a]\n")
    assert (read.tags, place(read)) == ((), (Code.TAG_INVALID, 5, 1))
    assert f"`{key}:`" in read.problems[0].detail
    both = note(f"id: x\nname: n\nstatus: active\n{key}: [a]\ntags: [b]\n")
    assert (both.tags, codes(both)) == (("b",), [Code.TAG_INVALID])


# --- placeholders


@pytest.mark.parametrize(
    "line",
    [
        'description: "{{description}}"',
        "description: 会议 {{date:YYYY-MM-DD}}",
        "name: About {{title}}",
        "created_at: <% tp.date.now() %>",
        'tags: ["{{anything}}"]',
    ],
)
def test_a_placeholder_that_was_never_filled_in_is_told(line: str) -> None:
    fields = f"id: x\nstatus: active\n{line}\n" + ("" if line.startswith("name") else "name: n\n")
    assert (
        codes(note(fields)) == [Code.TEMPLATE_PLACEHOLDER]
        or codes(note(fields))[-1] is Code.TEMPLATE_PLACEHOLDER
    )


def test_a_text_about_templates_is_no_placeholder() -> None:
    assert note("id: x\nname: n\nstatus: active\ndescription: use {{ var }} in Jinja\n").problems == ()
