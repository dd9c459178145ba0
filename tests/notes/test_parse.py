"""How the bytes of a file are read as a note."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from vaultmem.notes.metadata import Status
from vaultmem.notes.names import (
    is_note_name,
    is_skipped_folder,
    new_id,
    note_path,
    placeholder_of,
    sync_copy_of,
)
from vaultmem.notes.parse import BODY_LIMIT_BYTES, Note, digest_of, parse_note, unknown_note
from vaultmem.notes.problems import Code
from vaultmem.notes.tags import normalise_tag, normalise_tags


def note(fields: str, body: str = "# Title\n") -> Note:
    return parse_note("2026/05/week2/n.md", f"---\n{fields}---\n{body}".encode())


def codes(read: Note) -> list[Code]:
    return [problem.code for problem in read.problems]


def place(read: Note) -> tuple[Code, int | None, int | None]:
    problem = read.problems[0]
    return problem.code, problem.line, problem.column


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
    "word", ["0123", "123", "12:30:45", "1_000", "1e3", "2026-05-14", "0x1F", "no", "true", "=", "1.50"]
)
def test_every_scalar_is_the_text_that_was_written(word: str) -> None:
    read = note(f"id: {word}\nname: {word}\ndescription: {word}\ntags: [{word}]\n")
    assert (read.id, read.name, read.description) == (word, word, word)
    assert read.tags == normalise_tags([word])


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


@pytest.mark.parametrize(
    ("data", "detail"),
    [
        (b"just text", ""),
        (b"\n---\nid: x\n---\n", "line 1"),
        (b"----\nid: x\n----\n", ""),
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


def test_a_quoted_null_word_is_a_text() -> None:
    assert note('id: "~"\ntags: ["null"]\n').id == "~"
    assert note('id: "~"\ntags: ["null"]\n').tags == ("null",)


def test_an_empty_file_says_so() -> None:
    for data in (b"", b"\xef\xbb\xbf", b" \n\n"):
        assert codes(parse_note("n.md", data)) == [Code.EMPTY_FILE]


@pytest.mark.parametrize(
    "data", [b"---\nid: x\n", b"---\nid: x\n...\nbody\n", b"---\nid: x\n --- \n", b"---\n"]
)
def test_an_open_fence_is_a_half_written_note(data: bytes) -> None:
    read = parse_note("n.md", data)
    assert (codes(read), read.is_readable, read.id) == ([Code.BAD_YAML], False, None)


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


# --- the fields


@pytest.mark.parametrize("written", ["x" * 129, '"a\\nb"', '"a\\tb"', '"\\x85b\\x9f"', "[x]", "{a: b}"])
def test_an_id_must_be_one_line_of_at_most_128_characters(written: str) -> None:
    read = note(f"id: {written}\nname: n\nstatus: active\n")
    assert (read.id, place(read)) == (None, (Code.INVALID_ID, 2, 5))


@pytest.mark.parametrize("key", ["Tags", "TAGS", "Tag"])
def test_tags_under_a_key_in_other_letters_are_named_and_not_read(key: str) -> None:
    read = note(f"id: x\nname: n\nstatus: active\n{key}: [a]\n")
    assert (read.tags, place(read)) == ((), (Code.TAG_INVALID, 5, 1))
    assert f"`{key}:`" in read.problems[0].detail
    both = note(f"id: x\nname: n\nstatus: active\n{key}: [a]\ntags: [b]\n")
    assert (both.tags, codes(both)) == (("b",), [Code.TAG_INVALID])


@pytest.mark.parametrize(
    "odd", ["\u200b", "\ufeff", "\u202e", "\u2066", "\u00ad", "\u2060", "\u2028", "\u2029", "\U000e0041"]
)
def test_an_id_holds_nothing_that_cannot_be_seen_or_that_breaks_its_line(odd: str) -> None:
    for written in (f"mem{odd}a", odd, f'"mem{odd}a"', f'"{odd}"'):
        read = note(f"id: {written}\nname: n\nstatus: active\n")
        assert read.id is None and codes(read) in ([Code.INVALID_ID], [Code.MISSING_ID])


@pytest.mark.parametrize("alone", ["\u200c", "\u200d\u200d", "\ufe0f", "\u0301"])
def test_an_id_holds_something_that_can_be_seen(alone: str) -> None:
    assert codes(note(f"id: {alone}\nname: n\nstatus: active\n")) == [Code.INVALID_ID]
    assert note(f"id: می{alone}خواهم\n").id == f"می{alone}خواهم"


def test_an_id_keeps_its_case_and_its_script() -> None:
    assert note(f"id: {'x' * 128}\n").id == "x" * 128
    assert note("id: ' Mem_记忆 A '\n").id == "Mem_记忆 A"


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ("# First  one #\n# Second\n", "First one"),
        ("text\n\n   ## Deep\r\n", "Deep"),
        ("```\n# code\n```\n# Real\n", "Real"),
        ("~~~~\n~~~\n# code\n~~~~\n### Real", "Real"),
        ("#tag\n#\n", "n"),
        ("", "n"),
    ],
)
def test_a_missing_name_is_the_first_heading_or_the_stem(body: str, name: str) -> None:
    read = note("id: x\nstatus: active\n", body)
    assert (read.name, codes(read)) == (name, [Code.MISSING_NAME])


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
    ],
)
def test_tags_are_read_in_every_form(written: str, tags: tuple[str, ...]) -> None:
    read = note(f"id: x\nname: n\nstatus: active\n{written}\n")
    assert (read.tags, read.problems) == (tags, ())


@pytest.mark.parametrize(
    ("written", "tags", "line"),
    [
        ("tags: [a, '🧠']", ("a",), 5),
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


def test_a_note_without_an_id_is_not_asked_for_more() -> None:
    assert codes(note("status: nonsense\ntags: ['!']\n")) == [Code.MISSING_ID]


# --- tags


@pytest.mark.parametrize(
    ("written", "tag"),
    [
        (" Cache ", "cache"),
        ("#cache", "cache"),
        ("## cache", "cache"),
        ("ＡＢＣ　１２", "abc-12"),
        ("Cache  Layer\tX", "cache-layer-x"),
        ("project/March CLI", "project/march-cli"),
        ("snake_case", "snake_case"),
        ("C++", "c"),
        ("缓存", "缓存"),
        ("e\u0301te\u0301", "été"),
        ("हिन्दी", "हिन्दी"),
        ("a\u200db", "ab"),
        ("🧠", ""),
        ("#", ""),
        ("", ""),
    ],
)
def test_a_tag_has_one_normal_form(written: str, tag: str) -> None:
    assert normalise_tag(written) == tag


def test_repeats_and_empties_are_dropped_in_order() -> None:
    assert normalise_tags(["B", "a", "", "#b", "!"]) == ("b", "a")


# --- laws

BLOCKISH = st.text(
    st.sampled_from("---\n\r\t :#'\"[]{}&*!|>%@`,?ab~<=.\u2028\x85\ufeff缓😀\0idtags"), max_size=60
)


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


@given(st.text(max_size=20))
@example("ϓ")
@example("İ")
@example("e\u200d\u0301")
@example("# # x")
def test_a_normal_form_is_normal(text: str) -> None:
    tag = normalise_tag(text)
    assert normalise_tag(tag) == tag
    assert tag == unicodedata.normalize("NFKC", tag)
    assert all(c in "/-_" or unicodedata.category(c)[0] in "LMN" for c in tag)


@given(st.text(max_size=80), st.datetimes(min_value=datetime(1970, 1, 2), max_value=datetime(2200, 1, 1)))
def test_a_new_note_gets_a_name_every_system_can_store(name: str, created: datetime) -> None:
    path = note_path(name, created)
    folder, _, file = path.rpartition("/")
    assert folder == f"{created:%Y/%m}/week{(created.day - 1) // 7 + 1}"
    assert file.startswith(f"{created:%Y-%m-%d}-") and is_note_name(file)
    assert len(file.encode()) <= 140
    assert not set(file) & set('<>:"/\\|?* \0')


@given(st.text(max_size=200))
def test_a_new_id_is_a_valid_one(name: str) -> None:
    id_ = new_id(name, datetime(2026, 5, 14, tzinfo=UTC))
    assert id_.startswith("mem_01krhw") and id_ == id_.strip()
    assert note(f"id: {id_}\n").id == id_


# --- names


def test_a_new_id_is_readable() -> None:
    assert (
        new_id("Context cache: ordering!", datetime(2026, 5, 14, tzinfo=UTC))[14:]
        == "_context_cache_ordering"
    )


@pytest.mark.parametrize(
    ("day", "week"), [(1, 1), (7, 1), (8, 2), (21, 3), (22, 4), (28, 4), (29, 5), (31, 5)]
)
def test_a_month_has_five_weeks_at_most(day: int, week: int) -> None:
    assert note_path("x", datetime(2026, 5, day)) == f"2026/05/week{week}/2026-05-{day:02}-x.md"


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Cache & 缓存!", "cache-缓存"),
        ("../../etc", "etc"),
        ("🧠", "note"),
        ("", "note"),
        ("記" * 99, "記" * 42),
    ],
)
def test_a_slug_keeps_letters_of_any_script(name: str, slug: str) -> None:
    assert note_path(name, datetime(2026, 5, 14)) == f"2026/05/week2/2026-05-14-{slug}.md"


def test_a_cut_slug_ends_between_characters() -> None:
    path = note_path("हिन्दी" * 30, datetime(2026, 5, 14))
    assert unicodedata.category(("हिन्दी" * 30)[len(path.split("-")[-1]) - 3])[0] != "M"


@pytest.mark.parametrize("name", ["a.md", "A.MD", "-dash.md", "#a.md", "a b.md", "~a.md", "x\ny.md", "🧠.md"])
def test_these_names_are_notes(name: str) -> None:
    assert is_note_name(name)


@pytest.mark.parametrize(
    "name",
    [".md", ".a.md", "._a.md", "a.md~", "#a.md#", ".#a.md", "a.md.tmp", ".a.md.swp", "4913", "a.txt", "~$a.md",
     "~syncthing~a.md", "a.md.bak", "a.md.crswap", ".a.md.icloud"],
)  # fmt: skip
def test_these_names_are_no_notes(name: str) -> None:
    assert not is_note_name(name)


def test_dot_folders_are_skipped() -> None:
    assert is_skipped_folder(".trash") and not is_skipped_folder("trash.")


def test_a_cloud_stub_stands_for_a_note() -> None:
    assert placeholder_of(".plan.md.icloud") == "plan.md"
    assert placeholder_of(".plan.txt.icloud") is None
    assert placeholder_of("plan.md.icloud") is None


@pytest.mark.parametrize(
    "name",
    [
        "plan.sync-conflict-20260806-034350-ABCDEF7.md",
        "plan (conflicted copy 2026-05-14).md",
        "plan (Ann's conflicted copy 2026-05-14).md",
        "plan (Conflict 2026-05-14).md",
        "plan (Conflicted copy iPhone 202605141030).md",
        "plan (SFConflict ann@x 2026-05-14-10-30-00).md",
        "plan (Case Conflict 1).md",
        "plan（Ann 的冲突副本 2026-05-14）.md",
        "plan [conflicted].md",
    ],
)
def test_a_sync_tools_copy_is_known_by_its_name(name: str) -> None:
    assert sync_copy_of(f"a/{name}") == "plan.md"


@pytest.mark.parametrize(
    "name", ["plan 2.md", "plan (1).md", "plan-Work-Laptop.md", "plan copy.md", "plan - Copy (2).md"]
)
def test_a_likely_copy_counts_only_beside_its_original(name: str) -> None:
    assert sync_copy_of(f"a/{name}") is None
    assert sync_copy_of(f"a/{name}", ["b/other.md"]) is None
    assert sync_copy_of(f"a/{name}", ["a/plan.md"]) == "plan.md"


@pytest.mark.parametrize(
    "name", ["plan.md", "Design (conflict resolution).md", "conflict copy.md", "2026-05-14-Plan.md"]
)
def test_an_ordinary_name_is_no_copy(name: str) -> None:
    assert sync_copy_of(name) is None
